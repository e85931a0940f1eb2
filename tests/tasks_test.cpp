// The data of train/: pair tasks, dates, tokenizers, texts. No tensors here.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/error.hpp"
#include "train/dates.hpp"
#include "train/pairs.hpp"
#include "train/task.hpp"
#include "train/text.hpp"
#include "train/text_file.hpp"
#include "train/tokenizer.hpp"
#include "train/utf8.hpp"
#include "train/windows.hpp"

using namespace gradus::train;
using namespace std::chrono;
using doctest::Contains;
using gradus::Error;

namespace {

// The file of a test, gone at its end.
struct TemporaryFile {
  std::filesystem::path path;

  explicit TemporaryFile(const std::string& bytes) {
    static int number = 0;
    const auto stamp = steady_clock::now().time_since_epoch().count();
    path = std::filesystem::temp_directory_path() /
           ("gradus-tasks-" + std::to_string(stamp) + "-" + std::to_string(++number) + ".txt");
    std::ofstream(path, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
};

std::u32string names(int count) {
  std::u32string text;
  for (int i = 0; i < count; ++i) {
    text += {static_cast<char32_t>('a' + i % 26), static_cast<char32_t>('a' + i / 26 % 26),
             static_cast<char32_t>('a' + i / 676 % 26), U'\n'};
  }
  return text;
}

std::u32string running_text(std::size_t characters) {
  std::u32string text;
  for (std::size_t i = 0; text.size() < characters; ++i) {
    text += decode_utf8("Line " + std::to_string(i) + (i % 4 == 3 ? ".\n\n" : ",\n"));
  }
  return text.substr(0, characters);
}

std::vector<std::string> decoded(const Text& text, const Pieces& pieces) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < pieces.count(); ++i) { all.push_back(text.tokenizer.decode(pieces.piece(i))); }
  return all;
}

}  // namespace

TEST_CASE("weekdays of known days are right") {
  CHECK(format_date(2024y / March / 3, "%A") == "Sunday");
  CHECK(format_date(1970y / January / 1, "%A") == "Thursday");
  CHECK(format_date(1969y / July / 20, "%A") == "Sunday");  // the moon landing
  CHECK(format_date(1989y / November / 9, "%a") == "Thu");  // the fall of the Berlin wall
  CHECK(format_date(2000y / January / 1, "%A") == "Saturday");
  CHECK(format_date(2000y / February / 29, "%A") == "Tuesday");
  CHECK(format_date(2069y / December / 31, "%A") == "Tuesday");
}

TEST_CASE("a leap day follows February 28 in leap years alone") {
  const auto after = [](year y) { return format_date(sys_days{y / February / 28} + days{1}, "%e %B %Y"); };
  CHECK(after(2024y) == "29 February 2024");
  CHECK(after(2023y) == "1 March 2023");
  CHECK(after(2000y) == "29 February 2000");
  CHECK(after(1972y) == "29 February 1972");
  CHECK((last_date - first_date).count() + 1 == 36'525);  // 100 years, 25 of them leap years
}

TEST_CASE("ordinals end as people say them") {
  const auto ordinal = [](unsigned d) { return format_date(2024y / January / d, "%o"); };
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(2) == "2nd");
  CHECK(ordinal(3) == "3rd");
  CHECK(ordinal(4) == "4th");
  CHECK(ordinal(11) == "11th");
  CHECK(ordinal(12) == "12th");
  CHECK(ordinal(13) == "13th");
  CHECK(ordinal(21) == "21st");
  CHECK(ordinal(22) == "22nd");
  CHECK(ordinal(23) == "23rd");
  CHECK(ordinal(31) == "31st");
}

TEST_CASE("the formats of one day are those of people") {
  std::set<std::string> written;
  for (const auto format : date_formats()) written.insert(format_date(2024y / March / 3, format));
  CHECK(written.size() == date_formats().size());
  CHECK(date_formats().size() >= 14);
  for (const char* expected :
       {"March 3rd 2024", "3/3/24", "Sunday 3 Mar 2024", "03.03.2024", "3 March, 2024", "2024/03/03", "Mar 3, 2024",
        "the 3rd of March 2024", "Sunday, March 3, 2024", "20240303", "3-Mar-2024"}) {
    CHECK_MESSAGE(written.contains(expected), expected);
  }
  // Slashes are month/day/year, dots day.month.year.
  CHECK(format_date(1999y / December / 7, "%n/%e/%y") == "12/7/99");
  CHECK(format_date(1999y / December / 7, "%e.%n.%y") == "7.12.99");
}

TEST_CASE("an unknown letter in a date pattern is an error that names its position") {
  CHECK_THROWS_WITH_AS(format_date(2024y / March / 3, "%Y-%q"), Contains("position 3"), Error);
  CHECK_THROWS_WITH_AS(format_date(2024y / March / 3, "%Y%"), Contains("position 2"), Error);
}

TEST_CASE("dates come in lower, upper and mixed case, and one source has one target") {
  std::unordered_map<std::string, std::string> targets;
  int lower = 0;
  int upper = 0;
  int mixed = 0;
  for (const Pair& pair : dates_task().training(5, 0, 50'000)) {
    const auto [found, fresh] = targets.try_emplace(pair.source, pair.target);
    if (!fresh && found->second != pair.target) FAIL(pair.source);
    const auto any = [&](char low, char high) {
      return std::any_of(pair.source.begin(), pair.source.end(), [=](char c) { return c >= low && c <= high; });
    };
    const bool small = any('a', 'z');
    const bool big = any('A', 'Z');
    lower += small && !big;
    upper += big && !small;
    mixed += small && big;
  }
  CHECK(lower > 5'000);
  CHECK(upper > 5'000);
  CHECK(mixed > 10'000);
}

TEST_CASE("no training source formats a validation day in 200,000 draws") {
  constexpr std::uint64_t seed = 7;
  const PairTask dates = dates_task();
  // Every writing of every validation day, in lower case: independent of what the task calls an
  // identity.
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return text;
  };
  std::unordered_set<std::string> forbidden;
  std::unordered_set<std::string> days_of_validation;
  for (const Pair& pair : dates.validation(seed, 1000)) {
    days_of_validation.insert(pair.target);
    const auto part = [&](std::size_t at, std::size_t n) {
      return static_cast<unsigned>(std::stoi(pair.target.substr(at, n)));
    };
    const sys_days date = year{static_cast<int>(part(0, 4))} / month{part(5, 2)} / day{part(8, 2)};
    for (const auto format : date_formats()) forbidden.insert(lower(format_date(date, format)));
    CHECK(forbidden.contains(lower(pair.source)));
  }
  CHECK(days_of_validation.size() == 1000);
  std::unordered_set<std::string> days_of_training;
  int leaks = 0;
  for (const Pair& pair : dates.training(seed, 0, 200'000)) {
    leaks += static_cast<int>(forbidden.contains(lower(pair.source)));
    leaks += static_cast<int>(days_of_validation.contains(pair.target));
    days_of_training.insert(pair.target);
  }
  CHECK(leaks == 0);
  // Nine tenths of 36,525 days are 32,873; the hash is within 5 standard deviations of 57 days, and
  // each day is drawn six times on average, so that one in 400 is missing.
  CHECK(days_of_training.size() > 32'400);
  CHECK(days_of_training.size() < 33'160);
}

TEST_CASE("no task trains on a held-out identity, and validation has each once") {
  for (const PairTask& task : pair_tasks()) {
    CAPTURE(task.name);
    const auto identity = [&](const Pair& pair) {
      if (task.name == "dates" || task.name == "sort") return pair.target;
      if (task.name != "add") return pair.source;
      const auto plus = pair.source.find('+');
      const int a = std::stoi(pair.source.substr(0, plus));
      const int b = std::stoi(pair.source.substr(plus + 1));
      return std::to_string(std::min(a, b)) + "+" + std::to_string(std::max(a, b));
    };
    std::set<std::string> held;
    for (const Pair& pair : task.validation(3, 2000)) held.insert(identity(pair));
    CHECK(held.size() == 2000);
    int leaks = 0;
    for (const Pair& pair : task.training(3, 0, 20'000)) { leaks += static_cast<int>(held.contains(identity(pair))); }
    CHECK(leaks == 0);
  }
}

TEST_CASE("every pair stays within its task's alphabets and lengths, and uses them up") {
  for (const PairTask& task : pair_tasks()) {
    CAPTURE(task.name);
    std::set<char> source;
    std::set<char> target;
    std::size_t longest_source = 0;
    std::size_t longest_target = 0;
    for (const Pair& pair : task.training(0, 0, 60'000)) {
      source.insert(pair.source.begin(), pair.source.end());
      target.insert(pair.target.begin(), pair.target.end());
      longest_source = std::max(longest_source, pair.source.size());
      longest_target = std::max(longest_target, pair.target.size());
    }
    CHECK(std::string(source.begin(), source.end()) == task.source_alphabet);
    CHECK(std::string(target.begin(), target.end()) == task.target_alphabet);
    CHECK(static_cast<std::int64_t>(longest_source) == task.longest_source);
    CHECK(static_cast<std::int64_t>(longest_target) == task.longest_target);
  }
}

TEST_CASE("copy, reverse, sort and add do what their names say") {
  for (const Pair& pair : copy_task().training(1, 0, 1000)) CHECK(pair.source == pair.target);
  for (const Pair& pair : reverse_task().training(1, 0, 1000)) {
    CHECK(std::string(pair.source.rbegin(), pair.source.rend()) == pair.target);
  }
  for (const Pair& pair : sort_task().training(1, 0, 1000)) {
    CHECK(std::is_sorted(pair.target.begin(), pair.target.end()));
    CHECK(std::is_permutation(pair.source.begin(), pair.source.end(), pair.target.begin(), pair.target.end()));
  }
  for (const Pair& pair : add_task().training(1, 0, 1000)) {
    const auto plus = pair.source.find('+');
    CHECK(std::stoi(pair.source.substr(0, plus)) + std::stoi(pair.source.substr(plus + 1)) == std::stoi(pair.target));
  }
}

TEST_CASE("training pairs depend on the seed and their number alone") {
  for (const PairTask& task : pair_tasks()) {
    CAPTURE(task.name);
    const std::vector<Pair> all = task.training(11, 0, 100);
    const std::vector<Pair> rest = task.training(11, 60, 40);
    CHECK(std::equal(rest.begin(), rest.end(), all.begin() + 60, all.end()));
    CHECK(all != task.training(12, 0, 100));
    const std::vector<Pair> more = task.validation(11, 50);
    const std::vector<Pair> fewer = task.validation(11, 20);
    CHECK(std::equal(fewer.begin(), fewer.end(), more.begin()));
  }
}

TEST_CASE("another seed holds out other days") {
  const PairTask dates = dates_task();
  int both = 0;
  int one = 0;
  for (int i = 0; i < 36'525; ++i) {
    const std::string target = format_date(first_date + days{i}, "%Y-%m-%d");
    one += static_cast<int>(dates.held_out(1, target));
    both += static_cast<int>(dates.held_out(1, target) && dates.held_out(2, target));
  }
  CHECK(std::abs(one - 3652) < 5 * 57);  // five standard deviations of a binomial count
  CHECK(std::abs(both - 365) < 5 * 19);
}

TEST_CASE("more validation pairs than are held out is an error that says how many there are") {
  PairTask tiny = copy_task();
  tiny.draw = [](gradus::Generator&) -> Drawn { return {.pair = {.source = "x", .target = "x"}, .identity = "x"}; };
  std::uint64_t seed = 0;
  while (!tiny.held_out(seed, "x")) ++seed;
  CHECK(tiny.validation(seed, 1).size() == 1);
  CHECK_THROWS_WITH_AS(tiny.validation(seed, 2), Contains("holds out only 1"), Error);
  CHECK_THROWS_WITH_AS(copy_task().training(0, 0, -1), Contains("-1"), Error);
}

TEST_CASE("the baseline of a task is its commonest target") {
  const std::vector<Pair> pairs{{"1+2", "3"}, {"2+2", "4"}, {"0+3", "3"}, {"4+4", "8"}};
  CHECK(constant_baseline(pairs) == 0.5);
  CHECK(constant_baseline(dates_task().validation(0, 1000)) == 0.001);
  CHECK_THROWS_AS(constant_baseline({}), Error);
}

TEST_CASE("tasks are found by name, and an unknown name lists them") {
  for (const PairTask& task : pair_tasks()) {
    CHECK(pair_task(task.name).description == task.description);
    CHECK(task.description.ends_with('.'));
  }
  CHECK_THROWS_WITH_AS(pair_task("dance"), Contains("dates, copy, reverse, sort, add"), Error);
}

TEST_CASE("a tokenizer takes emoji, CJK and accents there and back") {
  const std::string text = "héllo 世界 👩‍🚀 naïve\n";
  const Tokenizer plain(text, Specials::no);
  const std::vector<Token> tokens = plain.encode(text);
  CHECK(tokens.size() == 19);  // the astronaut is three code points
  CHECK(plain.decode(tokens) == text);
  CHECK(std::is_sorted(plain.vocabulary().begin(),
                       plain.vocabulary().end()));  // UTF-8 keeps the order
  CHECK(plain.encode("世").size() == 1);

  const Tokenizer special(text, Specials::yes);
  CHECK(special.size() == plain.size() + 3);
  CHECK(special.decode(special.encode(text)) == text);
  CHECK(special.encode(text)[0] == tokens[0] + 3);
}

TEST_CASE("decoding stops at the end token and leaves out padding and start") {
  const Tokenizer tokenizer("abc", Specials::yes);
  const std::vector<Token> tokens{Tokenizer::start, 3, 4, Tokenizer::padding, 5, Tokenizer::end, 3};
  CHECK(tokenizer.decode(tokens) == "abc");
  CHECK(tokenizer.vocabulary()[Tokenizer::end] == "<end>");
}

TEST_CASE("a tokenizer survives being saved as its vocabulary") {
  for (const Specials specials : {Specials::no, Specials::yes}) {
    const Tokenizer before("zebra 世", specials);
    const Tokenizer after = Tokenizer::from_vocabulary(before.vocabulary());
    CHECK(after.vocabulary() == before.vocabulary());
    CHECK(after.has_specials() == before.has_specials());
    CHECK(after.encode("bar世") == before.encode("bar世"));
  }
  using Words = std::vector<std::string>;
  CHECK_THROWS_WITH_AS(Tokenizer::from_vocabulary(Words{"a", "b", "a"}), Contains("twice"), Error);
  CHECK_THROWS_WITH_AS(Tokenizer::from_vocabulary(Words{"a", "bc"}), Contains("\"bc\""), Error);
  CHECK_THROWS_WITH_AS(Tokenizer::from_vocabulary(Words{"a", ""}), Contains("entry 1"), Error);
  CHECK_THROWS_AS(Tokenizer::from_vocabulary(Words{"<start>", "a"}), Error);
}

TEST_CASE("an unknown character is an error that names it and its position") {
  const Tokenizer tokenizer("abcé", Specials::yes);
  CHECK_THROWS_WITH_AS(tokenizer.encode("éaß"), Contains("\"ß\" (U+00DF) at position 2"), Error);
  CHECK_THROWS_WITH_AS(tokenizer.encode("a\tb"), Contains("U+0009 at position 1"), Error);
  CHECK_THROWS_WITH_AS(tokenizer.decode(std::vector<Token>{3, 99}), Contains("99 at position 1"), Error);
  CHECK_THROWS_WITH_AS(tokenizer.decode(std::vector<Token>{-1}), Contains("token -1"), Error);
}

TEST_CASE("invalid UTF-8 is an error that names the byte offset") {
  const auto check = [](const std::string& bytes, const char* offset) {
    CHECK_THROWS_WITH_AS(decode_utf8(bytes), Contains(offset), Error);
  };
  check("ab\xff", "0xff at offset 2");
  check("é\x80", "0x80 at offset 2");     // a continuation without a beginning
  check("a\xc3", "0xc3 at offset 1");     // cut short by the end
  check("\xe4\xb8z", "offset 0");         // cut short by a letter
  check("\xc0\xaf", "offset 0");          // overlong slash
  check("\xe0\x80\xaf", "offset 0");      // overlong slash, three bytes
  check("x\xed\xa0\x80", "offset 1");     // a surrogate
  check("\xf4\x90\x80\x80", "offset 0");  // above U+10FFFF
  CHECK(decode_utf8("\xf4\x8f\xbf\xbf") == U"\U0010ffff");
  CHECK(encode_utf8(U"a\u00e9\u4e16\U0001f680") == "aé世🚀");
}

TEST_CASE("files lose their byte order mark and foreign line ends") {
  CHECK(read_text(TemporaryFile("\xef\xbb\xbf"
                                "a\r\nb\rc\n\r\n")
                      .path) == U"a\nb\nc\n\n");
  CHECK(read_text(TemporaryFile("one").path) == U"one");
}

TEST_CASE("a file that is no text is an error that says what to do") {
  const auto check = [](const std::filesystem::path& path, const char* words) {
    CHECK_THROWS_WITH_AS(read_text(path), Contains(words), Error);
  };
  check("/nowhere/names.txt", "there is no file /nowhere/names.txt; check");
  check(std::filesystem::temp_directory_path(), "is a directory; give");
  check(TemporaryFile("").path, "is empty; give");
  check(TemporaryFile(" \n\r\n").path, "is empty; give");
  check(TemporaryFile(std::string("PK\3\4\0\0", 6)).path, "binary (a zero byte at offset 4)");
  check(TemporaryFile("caf\xe9\n").path, "0xe9 at offset 3");
  CHECK_THROWS_WITH_AS(read_text(TemporaryFile("12345").path, 4), Contains("larger than 4 bytes"), Error);
  CHECK(read_text(TemporaryFile("12345").path, 5).size() == 5);
}

TEST_CASE("too small a text is an error that says how much is needed") {
  CHECK_THROWS_WITH_AS(split_text(U"anna\notto\n", 0), Contains("only 2 different lines"), Error);
  CHECK_THROWS_WITH_AS(split_text(std::u32string(5000, U'x'), 0), Contains("10240"), Error);
  CHECK_THROWS_WITH_AS(load_text(TemporaryFile("a\na\na\n").path, 0), Contains("gradus-tasks"), Error);
}

TEST_CASE("lists and running texts are told apart by line length and blank lines") {
  CHECK(kind_of_text(names(50)) == HeldOut::lines);
  CHECK(kind_of_text(U"\n\n" + names(20) + U"\n\n") == HeldOut::lines);
  CHECK(kind_of_text(running_text(20'000)) == HeldOut::blocks);          // short lines in stanzas
  CHECK(kind_of_text(std::u32string(20'000, U'x')) == HeldOut::blocks);  // one long line
  CHECK(kind_of_text(std::u32string(200, U'x')) == HeldOut::lines);
  CHECK(kind_of_text(std::u32string(201, U'x')) == HeldOut::blocks);
}

TEST_CASE("a tenth of a list's lines is held out, with the newline that ends each") {
  const Text text = split_text(names(1000) + U"\nlast", 4);
  CHECK(text.held_out == HeldOut::lines);
  CHECK(text.validation.count() == 100);
  CHECK(text.training.count() == 901);
  std::vector<std::string> all = decoded(text, text.training);
  const std::vector<std::string> held = decoded(text, text.validation);
  for (const std::string& piece : held) {
    CHECK(piece.size() >= 5);
    CHECK(piece.front() == '\n');
    CHECK(piece.back() == '\n');
    CHECK(std::find(all.begin(), all.end(), piece) == all.end());
  }
  all.insert(all.end(), held.begin(), held.end());
  std::sort(all.begin(), all.end());
  std::vector<std::string> expected = {"\nlast\n"};
  const std::string bytes = encode_utf8(names(1000));
  for (std::size_t i = 0; i < bytes.size(); i += 4) expected.push_back("\n" + bytes.substr(i, 4));
  std::sort(expected.begin(), expected.end());
  CHECK(all == expected);
  const Text other = split_text(names(1000) + U"\nlast", 5);
  CHECK(decoded(other, other.validation) != held);
}

TEST_CASE("equal lines of a list are on the same side") {
  const Text text = split_text(names(300) + names(200) + names(100), 9);
  const std::vector<std::string> training = decoded(text, text.training);
  const std::set<std::string> seen(training.begin(), training.end());
  for (const std::string& piece : decoded(text, text.validation)) CHECK(!seen.contains(piece));
  CHECK(text.validation.count() == 60);
}

TEST_CASE("a tenth of a running text's blocks is held out, and no character is lost") {
  const std::u32string source = running_text(20'000);
  bool first_block_was_held = false;  // of 100 seeds none would, once in 67,000 times
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Text text = split_text(source, seed);
    CHECK(text.held_out == HeldOut::blocks);
    CHECK(text.validation.count() == 2);  // of 19
    // The first token of a validation piece is context; what precedes the text is a newline.
    CHECK(std::ssize(text.training.tokens) + text.validation.predicted() == 20'000);
    const std::string bytes = "\n" + encode_utf8(source);
    for (const std::string& piece : decoded(text, text.validation)) {
      const std::size_t at = bytes.find(piece);
      CHECK(at % 1024 == 0);
      CHECK((piece.size() == 1025 || at + piece.size() == bytes.size()));
      first_block_was_held |= at == 0;
      for (const std::string& run : decoded(text, text.training)) {
        CHECK(run.find(piece.substr(1)) == std::string::npos);
      }
    }
  }
  CHECK(first_block_was_held);
}

TEST_CASE("the rows of a cover predict every token once") {
  for (const auto& source : {names(200), running_text(20'000)}) {
    const Text text = split_text(source, 2);
    for (const std::int64_t context : {1, 3, 4, 64, 5000}) {
      std::vector<Token> predicted;
      for (const TextExample& row : cover(text.validation, context)) {
        CHECK(row.inputs.size() == row.targets.size());
        CHECK(std::ssize(row.inputs) <= context);
        CHECK(std::equal(row.inputs.begin() + 1, row.inputs.end(), row.targets.begin()));
        predicted.insert(predicted.end(), row.targets.begin(), row.targets.end());
      }
      std::vector<Token> expected;
      for (std::int64_t i = 0; i < text.validation.count(); ++i) {
        const auto piece = text.validation.piece(i).subspan(1);
        expected.insert(expected.end(), piece.begin(), piece.end());
      }
      CHECK(predicted == expected);
      CHECK(std::ssize(predicted) == text.validation.predicted());
    }
  }
}

TEST_CASE("windows of a list are its lines, cut where they exceed the context") {
  const Text text = split_text(names(20), 0);
  const Windows lines(text.training, 16);
  CHECK(lines.count() == 18);
  CHECK(text.tokenizer.decode(lines.at(0).inputs).front() == '\n');
  CHECK(text.tokenizer.decode(lines.at(17).targets).back() == '\n');
  const Windows cut(text.training, 3);  // newline and two letters, or three letters
  CHECK(cut.count() == 36);
  CHECK(cut.at(1).inputs.size() == 3);
  CHECK(text.tokenizer.decode(cut.at(1).targets).back() == '\n');
  CHECK_THROWS_WITH_AS(Windows(text.training, 0), Contains("context of 0"), Error);
  CHECK_THROWS_AS(cover(text.training, 0), Error);
}

TEST_CASE("training windows depend on the seed and their number alone, and reach everything") {
  const Text text = split_text(running_text(20'000), 1);
  const Windows windows(text.training, 32);
  const auto all = windows.training(6, 0, 2000);
  const auto rest = windows.training(6, 1900, 100);
  std::map<std::vector<Token>, int> different;
  for (std::size_t i = 0; i < rest.size(); ++i) CHECK(rest[i].inputs == all[1900 + i].inputs);
  for (const TextExample& row : all) {
    CHECK(row.inputs.size() == 32);
    ++different[row.inputs];
  }
  // 2,000 draws of about 18,000 windows hit some 1,890 different ones; far fewer would be a stuck
  // generator.
  CHECK(different.size() > 1'800);
}
