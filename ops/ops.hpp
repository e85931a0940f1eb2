#pragma once
#include "core/grad.hpp"
#include "core/mask.hpp"
#include "core/mode.hpp"
#include "core/random.hpp"
#include "core/tensor_list.hpp"
#include "core/value.hpp"

#include <optional>
#include <string_view>

// The public functions: one op each, defined in the file of its name. `gradus ops NAME` prints formula, rule and
// derivation.
namespace gradus {

inline constexpr bool keepdim = true;
/// All axes, as in sum(x, every_axis).
inline const Axes every_axis = Axes::all();

// ---- elementwise, one input
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor gelu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
Tensor normal_cdf(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor neg(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
Tensor elu(const Tensor& x, double alpha = 1);
Tensor clamp(const Tensor& x, std::optional<double> low = {}, std::optional<double> high = {});
Tensor cast(const Tensor& x, DType dtype);

// ---- elementwise, several inputs, broadcasting
Tensor add(const Operand& a, const Operand& b);
Tensor sub(const Operand& a, const Operand& b);
Tensor mul(const Operand& a, const Operand& b);
Tensor div(const Operand& a, const Operand& b);
Tensor pow(const Operand& x, const Operand& y);
Tensor maximum(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);
Tensor eq(const Operand& a, const Operand& b);
Tensor ne(const Operand& a, const Operand& b);
Tensor lt(const Operand& a, const Operand& b);
Tensor le(const Operand& a, const Operand& b);
Tensor gt(const Operand& a, const Operand& b);
Tensor ge(const Operand& a, const Operand& b);
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

// ---- reductions
Tensor sum(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor mean(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor prod(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor max(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor min(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor logsumexp(const Tensor& x, const Axes& axis = every_axis, bool keepdim = false);
Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keepdim = false);
Tensor var(const Tensor& x, const Axes& axis = every_axis, double correction = 1, bool keepdim = false);
Tensor std(const Tensor& x, const Axes& axis = every_axis, double correction = 1, bool keepdim = false);
Tensor norm(const Tensor& x, double p = 2, const Axes& axis = every_axis, bool keepdim = false);

// ---- along one axis
Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);
Tensor cumsum(const Tensor& x, int axis = -1);
Tensor sort(const Tensor& x, int axis = -1, bool descending = false);
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);
Tensor topk(const Tensor& x, std::int64_t k, int axis = -1);
Tensor argtopk(const Tensor& x, std::int64_t k, int axis = -1);

// ---- shape
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor permute(const Tensor& x, const Shape& axes);
Tensor transpose(const Tensor& x, int axis0 = -2, int axis1 = -1);
Tensor select(const Tensor& x, int axis, std::int64_t index);
Tensor slice(const Tensor& x, int axis, std::int64_t start = 0, std::optional<std::int64_t> stop = {},
             std::int64_t step = 1);
Tensor expand(const Tensor& x, const Shape& shape);
Tensor flip(const Tensor& x, const Axes& axis);
Tensor pad(const Tensor& x, const Shape& widths, double value = 0);
Tensor concat(TensorList tensors, int axis = 0);
Tensor stack(TensorList tensors, int axis = 0);
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);
Tensor diag(const Tensor& x);
Tensor contiguous(const Tensor& x);

// ---- products
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor outer(const Tensor& a, const Tensor& b);
Tensor einsum(std::string_view equation, TensorList operands);
enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu };
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);
Tensor dropout(const Tensor& x, double p = 0.5, std::optional<std::int64_t> key = {});

// ---- indices
Tensor gather(const Tensor& x, const Tensor& index, int axis);
Tensor scatter_add(const Tensor& x, const Tensor& index, const Tensor& src, int axis);
Tensor index_select(const Tensor& x, const Tensor& index, int axis);
Tensor embedding(const Tensor& weight, const Tensor& index, std::optional<std::int64_t> padding_index = {});
Tensor one_hot(const Tensor& index, std::int64_t classes);

// ---- normalisation over the last axis
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

// ---- losses
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& class_weight = {},
                     double label_smoothing = 0, std::int64_t ignore_index = -100,
                     Reduction reduction = Reduction::mean);
Tensor nll(const Tensor& log_probs, const Tensor& target, const Tensor& class_weight = {},
           std::int64_t ignore_index = -100, Reduction reduction = Reduction::mean);
Tensor mse(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor l1(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor huber(const Tensor& x, const Tensor& target, double delta = 1, Reduction reduction = Reduction::mean);
Tensor bce_with_logits(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor kl_div(const Tensor& x, const Tensor& target, bool log_target = false, Reduction reduction = Reduction::mean);

// ---- attention: q [..., L, D], k [..., S, D], v [..., S, Dv]; see ops/attention.cpp for masks and grouped heads
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}, const Tensor& bias = {},
                 bool causal = false, std::optional<double> scale = {}, double dropout = 0);
Tensor attention_weights(const Tensor& q, const Tensor& k, const Mask& mask = {}, const Tensor& bias = {},
                         bool causal = false, std::optional<double> scale = {}, double dropout = 0);

template <>
struct EnumNames<Activation> {
  static constexpr std::string_view names[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};
};

}  // namespace gradus
