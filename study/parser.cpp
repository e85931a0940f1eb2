#include "core/registry.hpp"
#include "study/excerpt.hpp"
#include "study/operators.hpp"
#include "study/syntax.hpp"

#include <algorithm>

namespace gradus::study {
namespace {

using Kind = Expression::Kind;

constexpr int deepest = 200;
constexpr int first_level = 1;

bool is_reserved(std::string_view name) { return name == "True" || name == "False" || name == "None"; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  std::vector<Statement> program() {
    std::vector<Statement> statements;
    for (;;) {
      while (now().kind == Token::Kind::separator) ++at_;
      if (now().kind == Token::Kind::end) break;
      statements.push_back(statement());
    }
    if (statements.empty()) fail_at(text_, 0, "there is no expression; write one, such as sum(A @ B)");
    return statements;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool take(std::string_view sign) {
    const bool found = now().is(sign);
    at_ += found;
    return found;
  }

  static std::unique_ptr<Expression> node(Kind kind, const Token& token) {
    auto made = std::make_unique<Expression>();
    made->kind = kind;
    made->at = token.at;
    return made;
  }

  // ---- statements

  Statement statement() {
    Statement s;
    if (now().kind == Token::Kind::name && after().is("=")) {
      if (is_reserved(now().text)) fail_at(text_, now().at, fmt::format("{} cannot be assigned to", now().text));
      s.name = now().text;
      s.at = now().at;
      at_ += 2;
    } else {
      s.at = now().at;
    }
    s.value = expression();
    if (now().kind != Token::Kind::separator && now().kind != Token::Kind::end) fail_after_statement(text_, now());
    return s;
  }

  // ---- operators

  ExpressionPtr expression() { return binary(first_level); }

  // Operators of at least this precedence.
  ExpressionPtr binary(int lowest) {
    std::unique_ptr<Expression> chain;  // of operators of one level, around what came before
    ExpressionPtr left = unary();
    for (int chained = no_operator;;) {
      const Token& sign = now();
      const int level = precedence(sign);
      if (level == no_operator || level < lowest) break;
      if (level == comparison && chained == comparison)
        fail_at(text_, sign.at, "comparisons do not chain; join them with &, each in parentheses: (a < b) & (b < c)");
      ++at_;
      if (level != chained) {
        if (chain) left = std::move(chain);
        chain = node(Kind::binary, sign);
        chain->at = left->at;
        chain->parts.push_back({std::move(left), {}, 0});
        chained = level;
      }
      chain->parts.push_back({binary(level + 1), sign.text, sign.at});
    }
    if (chain) return chain;
    return left;
  }

  // A sign and its operand. ** binds tighter on its left, looser on its right: -a ** -b is -(a ** (-b)).
  ExpressionPtr unary() {
    const Nest nest(*this);
    const Token& sign = now();
    if (!sign.is("-") && !sign.is("+") && !sign.is("~")) return power();
    ++at_;
    auto made = node(Kind::unary, sign);
    made->parts.push_back({unary(), sign.text, sign.at});
    return made;
  }

  ExpressionPtr power() {
    ExpressionPtr base = suffixes();
    const Token& sign = now();
    if (!take("**")) return base;
    auto made = node(Kind::binary, sign);
    made->at = base->at;
    made->parts.push_back({std::move(base), {}, 0});
    made->parts.push_back({unary(), sign.text, sign.at});
    return made;
  }

  struct Nest {
    Parser& parser;
    explicit Nest(Parser& p) : parser(p) {
      if (++parser.depth_ > deepest)
        fail_at(parser.text_, parser.now().at,
                fmt::format("more than {} brackets or signs inside each other; name parts with name = ...", deepest));
    }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    ~Nest() { --parser.depth_; }
  };

  // ---- suffixes

  ExpressionPtr suffixes() {
    ExpressionPtr base = primary();
    std::unique_ptr<Expression> made;
    for (;;) {
      const Token& sign = now();
      if (!sign.is(".") && !sign.is("[")) break;
      ++at_;
      if (!made) {
        made = node(Kind::suffixes, sign);
        made->at = base->at;
        made->parts.push_back({std::move(base), {}, 0});
      }
      if (sign.is("[")) made->parts.push_back({index(sign), "[", sign.at});
      else made->parts.push_back({nullptr, attribute(sign), sign.at});
    }
    if (made) return made;
    return base;
  }

  std::string_view attribute(const Token& dot) {
    if (now().kind != Token::Kind::name) fail_at(text_, dot.at, "after the point stands T, the transpose");
    if (now().text != "T") {
      const bool call = after().is("(") && find_op(now().text);
      fail_at(text_, now().at,
              fmt::format("there is no .{0}; {1}", shown(now().text),
                          call ? fmt::format("write the function before it: {}(x)", shown(now().text))
                               : "only .T, the transpose"));
    }
    ++at_;
    return ".T";
  }

  ExpressionPtr index(const Token& open) {
    auto made = node(Kind::index, open);
    while (!now().is("]")) {
      made->parts.push_back({index_item(open), {}, now().at});
      if (!take(",")) break;
    }
    close(open, "]");
    if (made->parts.empty())
      fail_at(text_, open.at, "nothing stands in the brackets; write an index, as in x[0] or x[:, 1:3]");
    return made;
  }

  ExpressionPtr index_item(const Token& open) {
    const Token& first = now();
    if (take("...")) return node(Kind::ellipsis, first);
    if (now().kind == Token::Kind::end) close(open, "]");
    ExpressionPtr start;
    if (!first.is(":")) start = expression();
    if (start && !now().is(":")) return start;
    auto made = node(Kind::slice, first);
    made->parts.push_back({std::move(start), {}, first.at});
    while (made->parts.size() < 3 && take(":")) {
      const std::size_t at = now().at;
      const bool left_out = now().is(":") || now().is(",") || now().is("]");
      if (now().kind == Token::Kind::end) close(open, "]");
      made->parts.push_back({left_out ? nullptr : expression(), {}, at});
    }
    while (made->parts.size() < 3) made->parts.push_back({nullptr, {}, now().at});
    return made;
  }

  void close(const Token& open, std::string_view sign) {
    if (take(sign)) return;
    if (now().kind == Token::Kind::end)
      fail_at(text_, open.at, fmt::format("{} is not closed; write {}", open.text, sign));
    if (now().is("="))
      fail_at(text_, now().at,
              "= stands only after a keyword of a function, as in softmax(x, axis=0); compare with ==");
    fail_at(text_, now().at,
            fmt::format("{0} stands where , or {1} should; write , or {1} before it", shown(now().text), sign));
  }

  // ---- values

  ExpressionPtr primary() {
    const Token& t = now();
    if (t.kind == Token::Kind::literal) {
      ++at_;
      auto made = node(Kind::literal, t);
      made->literal = t.literal;
      return made;
    }
    if (t.kind == Token::Kind::name) return after().is("(") ? call() : name();
    if (t.is("[")) {
      ++at_;
      return items(t, node(Kind::list, t), "]");
    }
    if (t.is("(")) return parenthesised();
    fail_no_value(text_, at_ > 0 ? &tokens_[at_ - 1] : nullptr, t);
  }

  ExpressionPtr name() {
    const Token& t = now();
    ++at_;
    auto made = node(Kind::name, t);
    made->name = t.text;
    if (!is_reserved(t.text)) return made;
    made->kind = Kind::literal;
    if (t.text != "None") made->literal = t.text == "True";
    return made;
  }

  ExpressionPtr call() {
    const Token& t = now();
    const Token& open = after();
    at_ += 2;
    auto made = node(Kind::call, t);
    made->name = t.text;
    bool keywords = false;
    while (!now().is(")") && now().kind != Token::Kind::end) {
      Part argument;
      argument.at = now().at;
      if (now().kind == Token::Kind::name && after().is("=")) {
        keywords = true;
        argument.sign = now().text;
        at_ += 2;
      } else if (keywords) {
        fail_at(text_, now().at, "an argument without a keyword follows one with; write name=value");
      }
      argument.value = expression();
      made->parts.push_back(std::move(argument));
      if (!take(",")) break;
    }
    close(open, ")");
    return made;
  }

  // (x) is x; (a, b) is a list, as shapes are often written.
  ExpressionPtr parenthesised() {
    const Token& open = now();
    ++at_;
    auto list = node(Kind::list, open);
    if (now().is(")")) return items(open, std::move(list), ")");
    if (now().kind == Token::Kind::end) close(open, ")");
    ExpressionPtr first = expression();
    if (!now().is(",")) {
      close(open, ")");
      return first;
    }
    ++at_;
    list->parts.push_back({std::move(first), {}, open.at});
    return items(open, std::move(list), ")");
  }

  ExpressionPtr items(const Token& open, std::unique_ptr<Expression> list, std::string_view sign) {
    while (!now().is(sign) && now().kind != Token::Kind::end) {
      const std::size_t at = now().at;
      list->parts.push_back({expression(), {}, at});
      if (!take(",")) break;
    }
    close(open, sign);
    return list;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<Statement> parse(std::string_view text) { return Parser(text).program(); }

}  // namespace gradus::study
