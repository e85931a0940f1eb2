#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numbers>

#include "study/arithmetic.hpp"
#include "study/builders.hpp"
#include "study/call.hpp"
#include "study/excerpt.hpp"
#include "study/indexing.hpp"
#include "study/syntax.hpp"

namespace gradus::study {
namespace {

using Kind = Expression::Kind;

// What keeps memory within reason, whatever the text: a value of a list takes two hundred bytes.
constexpr std::int64_t longest_list = 1 << 16, most_listed = 1 << 20;

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Builder& b : builders()) names.emplace_back(b.name);
  for (const OpEntry* op : all_ops()) names.push_back(op->name());
  return names;
}

/// How many values a list holds, its lists included. Error for one too large or too deep.
std::int64_t checked_count(const Value& v, int depth = 0) {
  const auto* const list = v.get_if<Value::List>();
  if (!list) return 1;
  if (depth == Shape::max_rank)
    fail("list: lists lie more than {0} deep, and a tensor has at most {0} axes; nest fewer", int{Shape::max_rank});
  std::int64_t count = 1;
  for (const Value& item : *list) count += checked_count(item, depth + 1);
  if (count > longest_list)
    fail("list: it holds more than {} values; put large arrays into an .npz file", longest_list);
  return count;
}

class Evaluator {
 public:
  Evaluator(std::string_view text, Scope& scope) : text_(text), scope_(scope) {}

  Value run(const std::vector<Statement>& statements) {
    Value last;
    for (const Statement& s : statements) {
      last = value(*s.value);
      if (s.name.empty()) continue;
      at(s.at, [&] {
        listed_ += last.get_if<Value::List>() ? checked_count(last) : 0;
        if (listed_ > most_listed) fail("list: variables hold more than {} values in lists; use tensors", most_listed);
        if (scope_.assigned) scope_.assigned(std::string(s.name), last);
        scope_.set(s.name, last);
      });
    }
    return last;
  }

 private:
  // Calls f; its errors get their place in the text.
  template <class F>
  auto at(std::size_t place, F&& f) const -> decltype(f()) {
    try {
      return f();
    } catch (const LanguageError&) { throw; } catch (const Error& error) {
      fail_at(text_, place, error.what());
    } catch (const std::bad_alloc&) { fail_at(text_, place, "out of memory; use smaller tensors"); }
  }

  Value value(const Expression& e) {
    switch (e.kind) {
      case Kind::literal: return literal(e);
      case Kind::name: return named(e);
      case Kind::list: return list(e);
      case Kind::call: return call(e);
      case Kind::unary: return at(e.at, [&] { return unary(e.parts[0].sign, value(*e.parts[0].value), scope_.dtype); });
      case Kind::binary: return chain(e);
      case Kind::suffixes: return suffixes(e);
      case Kind::index:
      case Kind::slice:
      case Kind::ellipsis: break;
    }
    fail_at(text_, e.at, "an index stands only behind a value, as in x[0]");
  }

  static Value literal(const Expression& e) {
    return std::visit(
        [](const auto& x) -> Value {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, std::monostate>) return {};
          else return Value(x);
        },
        e.literal);
  }

  Value named(const Expression& e) const {
    if (const Value* v = scope_.find(e.name)) return *v;
    if (e.name == "pi") return std::numbers::pi;
    if (e.name == "inf") return std::numeric_limits<double>::infinity();
    if (e.name == "nan") return std::numeric_limits<double>::quiet_NaN();
    fail_unknown_variable(e);
  }

  [[noreturn]] void fail_unknown_variable(const Expression& e) const {
    if (const OpEntry* op = find_op(e.name))
      fail_at(text_, e.at, fmt::format("{} is a function; call it: {}", e.name, op->signature()));
    if (const Builder* b = find_builder(e.name))
      fail_at(text_, e.at, fmt::format("{} is a function; call it: {}", e.name, b->signature));
    std::vector<std::string> names{"pi", "inf", "nan", "True", "False", "None"};
    for (const auto& [name, v] : scope_.variables()) names.push_back(name);
    const std::string near = nearest(e.name, names);
    const std::string advice =
        near.empty() ? fmt::format("give it: {} = ...", shown(e.name)) : fmt::format("did you mean {}?", near);
    fail_at(text_, e.at, fmt::format("no variable is named {}; {}", shown(e.name), advice));
  }

  Value list(const Expression& e) {
    Value::List items;
    items.reserve(e.parts.size());
    std::int64_t count = 0;
    for (const Part& part : e.parts) {
      items.push_back(value(*part.value));
      at(e.at, [&] { count += checked_count(items.back(), 1); });
      if (count > longest_list)
        fail_at(text_, e.at,
                fmt::format("list: it holds more than {} values; put large arrays into an .npz file", longest_list));
    }
    return items;
  }

  Value chain(const Expression& e) {
    Value left = value(*e.parts[0].value);
    for (std::size_t i = 1; i < e.parts.size(); ++i) {
      const Part& part = e.parts[i];
      const Value right = value(*part.value);
      left = at(part.at, [&] { return binary(part.sign, left, right, scope_.dtype); });
    }
    return left;
  }

  // ---- calls

  Value call(const Expression& e) {
    const OpEntry* const op = find_op(e.name);
    const Builder* const builder = op ? nullptr : find_builder(e.name);
    if (!op && !builder) fail_unknown_function(e);
    std::vector<Value> positional;
    Keywords keywords;
    for (const Part& argument : e.parts) {
      Value v = value(*argument.value);
      if (argument.sign.empty()) positional.push_back(std::move(v));
      else keywords.emplace_back(std::string(argument.sign), std::move(v));
    }
    return at(e.at, [&]() -> Value {
      if (op) return call_op(*op, std::move(positional), std::move(keywords), scope_.dtype);
      return builder->call(*builder, std::move(positional), std::move(keywords), scope_);
    });
  }

  [[noreturn]] void fail_unknown_function(const Expression& e) const {
    if (scope_.find(e.name))
      fail_at(text_, e.at, fmt::format("{} is a variable, not a function; write * for a product", shown(e.name)));
    const std::string near = nearest(e.name, function_names());
    fail_at(text_, e.at,
            fmt::format("no function is named {}; {}", shown(e.name),
                        near.empty() ? "`gradus ops` lists them" : fmt::format("did you mean {}?", near)));
  }

  // ---- suffixes

  Value suffixes(const Expression& e) {
    const Expression& base = *e.parts[0].value;
    const Value* const variable = base.kind == Kind::name ? scope_.find(base.name) : nullptr;  // lists are not copied
    Value x = variable ? Value() : value(base);
    for (std::size_t i = 1; i < e.parts.size(); ++i) {
      const Part& part = e.parts[i];
      const Value& from = variable && i == 1 ? *variable : x;
      if (part.sign == ".T") {
        x = at(part.at, [&] { return transposed(from); });
      } else {
        const std::vector<IndexItem> items = index(*part.value);
        x = at(part.at, [&] { return indexed(from, items, scope_.dtype); });
      }
    }
    return x;
  }

  Value transposed(const Value& x) const {
    if (!x.get_if<Tensor>() && !x.get_if<Value::List>())
      fail(".T: it transposes tensors, and this is {}; leave it out", x.kind());
    return run_op("transpose", {x}, {}, scope_.dtype);
  }

  std::vector<IndexItem> index(const Expression& e) {
    std::vector<IndexItem> items;
    for (const Part& part : e.parts) {
      const Expression& given = *part.value;
      IndexItem item;
      if (given.kind == Kind::ellipsis) {
        item.kind = IndexItem::Kind::ellipsis;
      } else if (given.kind == Kind::slice) {
        item.start = bound(given.parts[0]);
        item.stop = bound(given.parts[1]);
        item.step = bound(given.parts[2]).value_or(1);
      } else {
        const Value v = value(given);
        item.kind = v.is_none() ? IndexItem::Kind::new_axis : IndexItem::Kind::integer;
        if (!v.is_none()) item.index = whole(v, given.at);
      }
      items.push_back(item);
    }
    return items;
  }

  std::optional<std::int64_t> bound(const Part& part) {
    if (!part.value) return {};
    const Value v = value(*part.value);
    if (v.is_none()) return {};
    return whole(v, part.value->at);
  }

  std::int64_t whole(const Value& v, std::size_t place) const {
    const auto* const t = v.get_if<Tensor>();
    if (t && t->defined() && t->dtype() == DType::i64 && t->rank() == 0) return *t->data<std::int64_t>();
    if (t || v.get_if<Value::List>())
      fail_at(text_, place,
              fmt::format("an index is {}; give an int or a slice. index_select(x, index, axis) and gather take "
                          "tensors, where(c, x, 0) and masked_fill choose by truth values",
                          v.kind()));
    return at(place, [&] { return as_int(v, {"index", "of an axis"}); });
  }

  std::string_view text_;
  Scope& scope_;
  std::int64_t listed_ = 0;
};

}  // namespace

Value evaluate(std::string_view text, Scope& scope) {
  const std::vector<Statement> statements = parse(text);
  return Evaluator(text, scope).run(statements);
}

std::vector<std::string> assigned_names(std::string_view text) {
  std::vector<std::string> names;
  for (const Statement& s : parse(text))
    if (!s.name.empty()) names.emplace_back(s.name);
  return names;
}

}  // namespace gradus::study
