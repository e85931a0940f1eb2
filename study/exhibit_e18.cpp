#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>
#include <limits>

namespace gradus::study {
namespace {

struct Point {
  double x, y;
};
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

double distance_to_segment(Point p, Point a, Point b) {
  const Point along = b - a, to = p - a;
  const double t = std::clamp(dot(to, along) / std::max(dot(along, along), 1e-300), 0.0, 1.0);
  return std::hypot(to.x - t * along.x, to.y - t * along.y);
}

bool in_triangle(Point p, Point a, Point b, Point c) {
  const double u = cross(b - a, p - a), v = cross(c - b, p - b), w = cross(a - c, p - c);
  return u + v + w != 0 && ((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0));
}

/// From p to the convex hull of the corners: 0 inside. In the plane a hull is the union of its corners' triangles.
double distance_to_hull(Point p, const std::vector<Point>& corners) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Point a : corners)
    for (const Point b : corners) {
      nearest = std::min(nearest, distance_to_segment(p, a, b));
      for (const Point c : corners)
        if (in_triangle(p, a, b, c)) return 0;
    }
  return nearest;
}

std::vector<Point> points_of(const Tensor& x) {
  std::vector<Point> points;
  for (std::int64_t i = 0; i < x.size(0); ++i) points.push_back({x.at({i, 0}), x.at({i, 1})});
  return points;
}

/// The largest distance of a row from the mean of the rows.
double spread(const Tensor& x) { return max(norm(x - mean(x, 0, keepdim), 2, -1)).item(); }

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(18);
  const Tensor x = draw.normal({5, 2});
  const toy::Pass p = toy::attend(x, draw.normal({2, 2}), draw.normal({2, 2}), draw.normal({2, 2}, 0.5));
  const std::vector<Point> values = points_of(p.v), alone = points_of(p.z), moved = points_of(x + p.z);
  std::vector<std::vector<double>> rows;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto token = static_cast<std::int64_t>(i);
    rows.push_back({x.at({token, 0}), x.at({token, 1}), alone[i].x, alone[i].y, moved[i].x, moved[i].y,
                    distance_to_hull(alone[i], values), distance_to_hull(moved[i], values)});
    names.push_back(fmt::format("token {}", i));
  }
  const Tensor even = matmul(full({5, 5}, 0.2, DType::f64), p.v);  // every token attends evenly
  return {
      table("places", "five tokens x in the plane and z = A V: where they are, and how far from the hull of V", rows)
          .headed({"x_0", "x_1", "z_0", "z_1", "(x+z)_0", "(x+z)_1", "z, to hull", "x+z, to hull"}, names),
      number("spread_alone", "with even weights: how far the five outputs A V lie apart", spread(even)).scientific(1),
      number("spread_residual", "how far x + A V do: as far as the embeddings", spread(x + even))};
}

const RegisteredExhibit registered({
    .id = "E18",
    .title = "Only with the residual does attention move an embedding",
    .claim = "\"Attention is, in essence, adjusting the position of the embedding in space\": the apple is moved "
             "towards fruit, or towards phone.\n"
             "(First article, its last section, and a comment in its first class, which has no residual.)",
    .right = "x + A V moves x, by a mixture of values. A V alone forgets where x was and lies among the values: it is "
             "a convex mixture of them.",
    .why = "The weights of a row are positive and sum to 1, so each output is an average of the values, inside their "
           "convex hull: attention alone cannot leave it, whatever is learnt in Q and K. Nothing of the token's own "
           "embedding remains but what its own value contributes. With even weights all tokens get the same output, "
           "and no later layer can tell them apart. The residual path keeps x and adds to it: that is the arrow that "
           "the picture of the moving apple has in mind.",
    .commands = {"gradus eval 'A = softmax(zeros(3,3)); A @ [[1,0],[0,1],[2,2]]'",
                 "gradus eval 'x = [[1,0],[0,1],[2,2]]; A = softmax(zeros(3,3)); x + A @ x'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
