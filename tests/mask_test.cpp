// Masks: true = may attend. Grids are written out: # may attend, . may not.
#include "core/mask.hpp"

#include <doctest/doctest.h>

using namespace gradus;
using doctest::Contains;

namespace {

Tensor b8(const Shape& shape, const std::string& cells) {
  Tensor t(shape, DType::b8);
  for (std::size_t i = 0; i < cells.size(); ++i) t.fresh_data<bool>()[i] = cells[i] == '#';
  return t;
}

}  // namespace

TEST_CASE("a causal mask is lower-triangular, and says nothing else") {
  CHECK(grid(causal(), {3, 3}) == "#..\n##.\n###\n");
  CHECK(causal().is_causal_only());
  CHECK(!(causal() & window(1, 0)).is_causal_only());
  CHECK(!Mask().is_causal_only());
}

TEST_CASE("causal with different lengths follows its alignment, to the end or to the start") {
  CHECK(grid(causal(Align::end), {2, 5}) == "####.\n#####\n");
  CHECK(grid(causal(Align::end), {1, 8}) == "########\n");
  CHECK(grid(causal(Align::end), {5, 2}) == "..\n..\n..\n#.\n##\n");
  CHECK(grid(causal(Align::start), {2, 5}) == "#....\n##...\n");
}

TEST_CASE("causal or a window with different lengths and no alignment is refused with both lengths") {
  for (const Mask& mask : {causal(), window(1, 0), causal() & window(3, 3), ~causal()}) {
    CHECK_THROWS_WITH_AS(mask.dense({2, 5}), Contains("2 queries against 5 keys"), Error);
    CHECK_THROWS_WITH_AS(mask.dense({2, 5}), Contains("Align::end"), Error);
    CHECK_THROWS_WITH_AS(mask.dense({2, 5}), Contains("Align::start"), Error);
  }
}

TEST_CASE("causal and key padding hold together") {
  const Mask mask = causal() & keys(b8({1, 3}, "##."));
  CHECK(grid(mask, {1, 3, 3}) == "[0]\n#..\n##.\n##.\n");
}

TEST_CASE("a window of W keys counts the query itself, and both of its sides are inclusive") {
  const Tensor two = window(1, 0).dense({6, 6});  // W = 2: query 4 sees 3 and 4
  for (int j = 0; j < 6; ++j) CHECK(two.at({4, j}) == (j == 3 || j == 4));
  const Tensor wide = window(16, 4).dense({30, 30});  // query 10 sees 11..14
  for (int j = 0; j < 30; ++j) CHECK(wide.at({10, j}) == (j <= 14));
  CHECK(grid(window(0, 0), {3, 3}) == "#..\n.#.\n..#\n");
  CHECK(grid(window(1, 0, Align::end), {1, 4}) == "..##\n");  // the cached step sees what the whole pass saw
}

TEST_CASE("a window at least as long as the sequence is full attention, without overflow") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t w : {std::int64_t{3}, std::int64_t{8}, huge})
    CHECK(grid(window(w, w), {3, 3}) == "###\n###\n###\n");
  CHECK_THROWS_WITH_AS(window(-1, 0), Contains("left -1"), Error);
}

TEST_CASE("the band of a causal or a window mask is the mask") {
  for (const Mask& mask : {causal(), window(2, 1), causal(Align::end), causal(Align::start), window(1, 0, Align::end)})
    for (const Shape& scores : {Shape{5, 5}, Shape{2, 5}, Shape{5, 2}}) {
      if (scores[0] != scores[1] && to_string(mask).find('"') == std::string::npos) continue;
      const std::optional<Mask::Band> band = mask.band(scores[0], scores[1]);
      REQUIRE(band.has_value());
      const Tensor dense = mask.dense(scores);
      for (std::int64_t i = 0; i < scores[0]; ++i)
        for (std::int64_t j = 0; j < scores[1]; ++j)
          CHECK(dense.at({i, j}) == (j - i >= band->low && j - i <= band->high));
    }
  CHECK(!keep(b8({1, 1}, "#")).band(1, 1));
  CHECK(!Mask().band(1, 1));
}

TEST_CASE("lengths and keys speak of batch items, for scores of any rank") {
  CHECK(lengths(indices({1, 3})).dense({2, 4, 5, 3}).shape() == Shape{2, 1, 1, 3});
  CHECK(grid(lengths(indices({1, 3})), {2, 1, 3}) == "[0]\n#..\n\n[1]\n###\n");
  CHECK(grid(keys(b8({2, 2}, "#..#")), {2, 2, 2}) == "[0]\n#.\n#.\n\n[1]\n.#\n.#\n");
  CHECK(grid(lengths(indices({0, 0})), {2, 1, 2}) == "[0]\n..\n\n[1]\n..\n");
}

TEST_CASE("lengths and keys that do not fit the scores are refused with the numbers") {
  CHECK_THROWS_WITH_AS(lengths(indices({1, 9})).dense({2, 4, 5}), Contains("length 9 of batch item 1"), Error);
  CHECK_THROWS_WITH_AS(lengths(indices({1, -1})).dense({2, 4, 5}), Contains("length -1"), Error);
  CHECK_THROWS_WITH_AS(lengths(indices({1, 2, 3})).dense({2, 4, 5}), Contains("[3] for scores [2, 4, 5]"), Error);
  CHECK_THROWS_WITH_AS(keys(b8({2, 2}, "####")).dense({2, 4, 5}), Contains("[2, 2] for scores [2, 4, 5]"), Error);
  CHECK_THROWS_WITH_AS(keys(b8({2, 2}, "####")).dense({4, 5}), Contains("[2, 2] for scores [4, 5]"), Error);
}

TEST_CASE("keep has rank 2 or the scores' rank, never anything between") {
  const Shape scores{2, 4, 5, 7};
  CHECK(keep(zeros({5, 7}, DType::b8)).dense(scores).shape() == Shape{5, 7});
  CHECK(keep(zeros({2, 1, 5, 7}, DType::b8)).dense(scores).shape() == Shape{2, 1, 5, 7});
  CHECK(keep(zeros({1, 7}, DType::b8)).dense(scores).shape() == Shape{1, 7});
  for (const Shape& wrong : {Shape{8, 5, 7}, Shape{2, 5, 7}, Shape{7, 5}, Shape{2, 2, 5, 7}, Shape{1, 2, 4, 5, 7}})
    CHECK_THROWS_WITH_AS(keep(zeros(wrong, DType::b8)).dense(scores), Contains(to_string(wrong).c_str()), Error);
  CHECK_THROWS_AS(keep(zeros({7}, DType::b8)), Error);
}

TEST_CASE("a float mask of zeros and ones is refused, since it would be read as a bias") {
  CHECK_THROWS_WITH_AS(keep(ones({3, 3})), Contains("bias"), Error);
  CHECK_THROWS_WITH_AS(keys(ones({3, 3})), Contains("b8"), Error);
  CHECK_THROWS_WITH_AS(lengths(ones({3})), Contains("i64"), Error);
  CHECK_THROWS_AS(keep(Tensor{}), Error);
}

TEST_CASE("and, or and not are what they say, with broadcasting") {
  const Mask a = keep(b8({2, 2}, "##..")), b = keep(b8({2, 2}, "#.#."));
  CHECK(grid(a & b, {2, 2}) == "#.\n..\n");
  CHECK(grid(a | b, {2, 2}) == "##\n#.\n");
  CHECK(grid(~a, {2, 2}) == "..\n##\n");
  CHECK(grid(~(a & b) & ~(a | b), {2, 2}) == "..\n.#\n");
  CHECK(grid(keep(b8({2, 1}, "#.")) | keep(b8({1, 2}, ".#")), {2, 2}) == "##\n.#\n");
}

TEST_CASE("a default mask allows everything and is neutral") {
  CHECK(!Mask().dense({2, 3}).defined());
  CHECK(grid(Mask(), {1, 2}) == "##\n");
  CHECK((Mask() & causal()).is_causal_only());
  CHECK((causal() | Mask()).is_everything());
  CHECK(grid(~Mask(), {2, 2}) == "..\n..\n");
  CHECK((~~Mask()).is_everything());
}

TEST_CASE("a mask prints the expression that made it") {
  CHECK(to_string(causal()) == "causal()");
  CHECK(to_string(causal(Align::end)) == "causal(\"end\")");
  CHECK(to_string(window(3, 0, Align::start)) == "window(3, 0, \"start\")");
  CHECK(to_string(causal() & keys(zeros({2, 5}, DType::b8))) == "causal() & keys([2, 5])");
  CHECK(to_string(~(causal() | window(1, 1)) & causal()) == "~(causal() | window(1, 1)) & causal()");
  CHECK(to_string((causal() | causal()) & causal()) == "(causal() | causal()) & causal()");
}

TEST_CASE("a mask keeps what its tensor held when it was made, also of a view") {
  Tensor t = b8({2, 2}, "#.#.");
  const Mask mask = keep(t), transposed = keep(Tensor(t.storage(), {{2, 2}, {1, 2}, 0}, DType::b8));
  t.fresh_data<bool>()[0] = false;
  CHECK(grid(mask, {2, 2}) == "#.\n#.\n");
  CHECK(grid(transposed, {2, 2}) == "##\n..\n");
}

TEST_CASE("masks of no queries or no keys have no cells") {
  CHECK(causal(Align::end).dense({0, 3}).numel() == 0);
  CHECK((causal() & window(1, 1)).dense({0, 0}).numel() == 0);
  CHECK(grid(causal(), {0, 0}).empty());
}

TEST_CASE("a mask joined with itself again and again is refused before its text and its destruction explode") {
  Mask m = causal() & window(1, 1);
  CHECK_THROWS_WITH_AS(([&] {
                         for (int i = 0; i < 60; ++i) m = m & m;
                       }()),
                       doctest::Contains("more than 1000 parts"), Error);
  CHECK(to_string(m).size() < 20000);
}
