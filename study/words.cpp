#include "study/words.hpp"

#include "core/error.hpp"
#include "study/derivation.hpp"

#include <array>

namespace gradus::study {

namespace {

struct Entry {
  Word word;
  const char* english;
  const char* chinese;
};

constexpr Entry entries[] = {
    {Word::derivation_of, "Derivation of {}", "{} 的推导"},
    {Word::program, "Program", "程序"},
    {Word::given, "Given", "已知"},
    {Word::forward, "Forward", "前向"},
    {Word::backward, "Backward", "反向"},
    {Word::graph, "Graph", "计算图"},
    {Word::all_steps, "All steps", "全部步骤"},
    {Word::general_rule, "general rule", "一般规则"},
    {Word::rule_here, "in this graph", "在本图中"},
    {Word::expression, "expression", "表达式"},
    {Word::shape, "shape", "形状"},
    {Word::shapes, "shapes", "形状"},
    {Word::cotangent, "cotangent", "余切向量"},
    {Word::went_in, "what went in", "输入的数"},
    {Word::came_out, "what came out", "得到的数"},
    {Word::via, "via", "经由"},
    {Word::input, "input", "输入"},
    {Word::parameter, "parameter", "参数"},
    {Word::constant, "constant", "常量"},
    {Word::intermediate, "intermediate", "中间量"},
    {Word::result, "result", "结果"},
    {Word::forward_step, "forward", "前向"},
    {Word::backward_step, "backward", "反向"},
    {Word::seed_step, "cotangent of the result", "结果的余切向量"},
    {Word::part_step, "one path's share", "一条路径的贡献"},
    {Word::sum_over_paths, "sum over paths", "各路径之和"},
    {Word::every_entry, "every entry", "逐个元素"},
    {Word::directions, "{} directions", "{} 个方向"},
    {Word::kink, "kink", "尖点"},
    {Word::difference, "difference", "差异"},
    {Word::agrees, "agrees", "一致"},
    {Word::disagrees, "does not agree", "不一致"},
    {Word::all_agree, "all steps agree with central differences", "全部步骤与中心差分一致"},
    {Word::one_disagrees, "1 step does not agree with central differences", "有 1 步与中心差分不一致"},
    {Word::some_disagree, "{} steps do not agree with central differences", "有 {} 步与中心差分不一致"},
    {Word::none_checked, "the steps were not compared with differences", "步骤未与差分比较"},
    {Word::cotangent_given, "the cotangent of {} was given", "{} 的余切向量已给定"},
    {Word::cotangent_one, "the cotangent of {} is 1", "{} 的余切向量为 1"},
    {Word::cotangent_drawn, "the cotangent of {} was drawn at random", "{} 的余切向量为随机抽取"},
    {Word::first, "First", "首步"},
    {Word::previous, "Back", "上一步"},
    {Word::next, "Next", "下一步"},
    {Word::last, "Last", "末步"},
    {Word::play, "Play", "播放"},
    {Word::pause, "Pause", "暂停"},
    {Word::copy, "Copy", "复制"},
    {Word::copied, "Copied", "已复制"},
    {Word::step_of, "Step {} of {}", "第 {} 步，共 {} 步"},
    {Word::keys_hint, "Keys: ← → step, Home and End jump", "按键：← → 逐步，Home 与 End 跳转"},
    {Word::entry_hint, "Choose an entry of the result to see the sum that made it.",
     "选择结果中的一个元素，查看得到它的求和式。"},
    {Word::too_large_for_entries, "{} entries: too many to spell out the sum of each.",
     "共 {} 个元素：过多，不逐一写出求和式。"},
    {Word::entry_not_prepared, "The sum of this entry is not part of this page.", "本页不含此元素的求和式。"},
    {Word::no_sum_for_this, "This op has no short scalar form.", "此运算没有简短的标量形式。"},
    {Word::showing_corner, "shown: the first {} of {}", "显示：{}，全部为 {}"},
    {Word::showing_block, "shown: {} of {} matrices of shape {}", "显示：{}/{} 个形状为 {} 的矩阵"},
    {Word::empty_tensor, "no elements", "没有元素"},
    {Word::part_of, "part of", "属于"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(entries); ++i)
    if (static_cast<std::size_t>(entries[i].word) != i) return false;
  return std::size(entries) == static_cast<std::size_t>(Word::count);
}
static_assert(in_order(), "words.cpp lists the words in the order of words.hpp, each once");

}  // namespace

Language parse_language(std::string_view code) {
  if (code == "en") return Language::en;
  if (code == "zh") return Language::zh;
  fail("language: '{}' is not known; use en or zh", code);
}

const char* word(Language language, Word word) {
  const Entry& entry = entries[static_cast<std::size_t>(word)];
  return language == Language::zh ? entry.chinese : entry.english;
}

std::string say(Language language, Word what, std::string_view first, std::string_view second, std::string_view third) {
  std::string_view text = word(language, what);
  std::string said;
  for (const std::string_view value : {first, second, third}) {
    const std::size_t place = text.find("{}");
    if (place == std::string_view::npos) break;
    said.append(text.substr(0, place)).append(value);
    text.remove_prefix(place + 2);
  }
  return said.append(text);
}

std::string say_how(Language language, const std::string& how) {
  if (how == "every entry") return word(language, Word::every_entry);
  if (how == "kink") return word(language, Word::kink);
  const std::size_t space = how.find(' ');
  if (how.ends_with(" directions")) return say(language, Word::directions, how.substr(0, space));
  return how;
}

Word word_of(Role role) {
  constexpr std::array words = {Word::input, Word::parameter, Word::constant, Word::intermediate, Word::result};
  return words[static_cast<std::size_t>(role)];
}

}  // namespace gradus::study
