#pragma once
#include "core/tensor.hpp"

#include <functional>
#include <string>
#include <vector>

// A named guess at what went wrong in a gradient that somebody worked out by hand. Guesses are never made from the text
// of a claim: each is a wrong gradient that is computed and compared with what was claimed.
namespace gradus::study {

/// In the order in which they are tried.
enum class Slip : std::uint8_t {
  none,
  shape,      ///< the shapes do not fit
  sign,       ///< right but for the sign
  scale,      ///< right but for a constant factor
  transpose,  ///< a transposition is missing, or one too many
  row_sum,    ///< elementwise, where a sum along the row belongs
  broadcast,  ///< not summed over an axis that was broadcast
  path,       ///< a path of the sum over paths is forgotten
  other,
};
/// `row_sum`; `none` for none.
const char* to_string(Slip slip);

/// What was found.
struct Guess {
  Slip slip = Slip::none;
  double ratio = 0;      ///< scale: claimed / right; 0 otherwise
  std::string sentence;  ///< says the slip with its numbers; no capital, no full stop
};

/// One way to go wrong, carried out.
struct Suspect {
  Tensor value;     ///< what the gradient would be
  std::string why;  ///< `K in place of K.T in d_Q = d_S @ K`
};
/// Takes one suspect; true ends the search.
using SuspectVisitor = std::function<bool(const Suspect&)>;

/// What is known about the place where a gradient was claimed. Everything may be empty.
struct SlipContext {
  struct Named {
    std::string name;
    Tensor value;
  };
  struct Extent {
    std::int64_t n;
    std::string where;  ///< `the last extent of Q`
  };
  struct Weights {
    std::string name;
    Tensor value;
    int axis;
  };
  std::vector<Extent> extents = {};    ///< of the tensors around: d and n in ratios
  std::vector<double> constants = {};  ///< the factors that the forward pass multiplies or divides by
  std::vector<Weights> softmaxes = {};
  std::vector<Named> parts = {};  ///< of a gradient that is a sum over several paths
  Named cotangent = {};           ///< of the output of the op that is reversed: people forget to multiply by it
  /// Gradients that come from slips of that kind in the rules on the way.
  std::function<void(Slip kind, const SuspectVisitor& visit)> suspects = {};
};

/// The slip that turns `right` into `claimed`, found by testing: shape, sign, scale, transpose, row_sum, broadcast, path,
/// other, in this order. Two decisions:
/// - A gradient that has the broadcast shape and becomes right when it is summed is `broadcast`, not `shape`: that it was
///   not summed is why it does not fit. Every other shape that does not fit is `shape`, also that of a transpose (the
///   sentence says so).
/// - With fewer than two entries that are not 0 any claim is a multiple of the right value: then only ratios with a name
///   (2, 1/n, sqrt(d)) are a scale before the other slips have been tried.
/// Both tensors are f64; the caller knows that they differ.
Guess find_slip(const Tensor& claimed, const Tensor& right, const SlipContext& context = {});

/// The ratio by its name, `sqrt(4)`, `1/2`, `-2`, `1/5`; empty when it has none. `where` receives what the extent in it
/// belongs to, or nothing.
std::string name_of_ratio(double ratio, const SlipContext& context, std::string* where = nullptr);

}  // namespace gradus::study
