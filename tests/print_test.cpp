#include "core/node.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

using namespace gradus;

// The expected texts are what NumPy 2.4 prints, with the dtype (f32 goes without saying) and, where it cannot be seen,
// the shape.

TEST_CASE("tensors print as NumPy prints arrays") {
  Tensor cube({2, 2, 2}, DType::f32);
  for (int i = 0; i < 8; ++i) cube.fresh_data<float>()[i] = static_cast<float>(i);
  CHECK(to_string(tensor({{1, 2.5}, {-3, 0.125}})) ==
        "[[ 1.     2.5  ]\n"
        " [-3.     0.125]]");
  CHECK(to_string(tensor({0.1, 0.25, 1})) == "[0.1  0.25 1.  ]");
  CHECK(to_string(tensor({1.0 / 3, 2.0 / 3}, DType::f64)) == "[0.33333333 0.66666667] (f64)");
  CHECK(to_string(tensor({1e-5, 1, -123456})) == "[ 1.00000e-05  1.00000e+00 -1.23456e+05]");
  CHECK(to_string(tensor({1e100, 1, 2}, DType::f64)) == "[1.e+100 1.e+000 2.e+000] (f64)");
  CHECK(to_string(tensor({1.5, NAN, -INFINITY})) == "[ 1.5  nan -inf]");
  CHECK(to_string(tensor({NAN, INFINITY})) == "[nan inf]");
  CHECK(to_string(tensor({1, 0, 1}, DType::b8)) == "[ True False  True] (b8)");
  CHECK(to_string(indices({-5, 100, 7})) == "[ -5 100   7] (i64)");
  CHECK(to_string(cube) ==
        "[[[0. 1.]\n"
        "  [2. 3.]]\n"
        "\n"
        " [[4. 5.]\n"
        "  [6. 7.]]]");
  CHECK(to_string(arange(0, 40, 1, DType::f32)) ==
        "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
        " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29. 30. 31. 32. 33. 34. 35.\n"
        " 36. 37. 38. 39.]");
  CHECK(to_string(arange(0, 1001)) == "[   0    1    2 ...  998  999 1000] (shape [1001], i64)");
  CHECK(to_string(zeros({40, 50})) ==
        "[[0. 0. 0. ... 0. 0. 0.]\n"
        " [0. 0. 0. ... 0. 0. 0.]\n"
        " [0. 0. 0. ... 0. 0. 0.]\n"
        " ...\n"
        " [0. 0. 0. ... 0. 0. 0.]\n"
        " [0. 0. 0. ... 0. 0. 0.]\n"
        " [0. 0. 0. ... 0. 0. 0.]] (shape [40, 50])");
  CHECK(to_string(scalar(3)) == "3.0");
  CHECK(to_string(scalar(0.1)) == "0.1");
  CHECK(to_string(scalar(1.0 / 3, DType::f64)) == "0.3333333333333333 (f64)");
  CHECK(to_string(scalar(1e-5)) == "1e-05");
  CHECK(to_string(scalar(1234567)) == "1.234567e+06");
  CHECK(to_string(scalar(NAN)) == "nan");
  CHECK(to_string(scalar(-INFINITY)) == "-inf");
  CHECK(to_string(scalar(7, DType::i64)) == "7 (i64)");
  CHECK(to_string(scalar(1, DType::b8)) == "True (b8)");
}

TEST_CASE("a view prints as it reads, not as it lies") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(to_string(Tensor(x.storage(), Layout{{3, 2}, {1, 3}, 0}, DType::f32)) == "[[1. 4.]\n [2. 5.]\n [3. 6.]]");
  CHECK(to_string(Tensor(x.storage(), Layout{{2, 2}, {0, 1}, 4}, DType::f32)) == "[[5. 6.]\n [5. 6.]]");
}

TEST_CASE("what has no numbers prints what it is") {
  CHECK(to_string(Tensor{}) == "undefined tensor");
  CHECK(to_string(ones({2, 3}).ghost()) == "ghost of shape [2, 3]");
  CHECK(to_string(ones({2}, DType::f64).ghost()) == "ghost of shape [2], f64");
  CHECK(to_string(zeros({0, 3})) == "[] (shape [0, 3])");
  CHECK(to_string(zeros({2, 0}, DType::i64)) == "[] (shape [2, 0], i64)");
  std::ostringstream out;
  out << ones({2});
  CHECK(out.str() == "[1. 1.]");
  CHECK(fmt::format("<{}>", ones({1})) == "<[1.]>");
}
