#include "nn/multi_head_attention.hpp"
#include "ops/ops.hpp"
#include "study/article_heads.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"
#include "study/work_count.hpp"

namespace gradus::study {
namespace {

constexpr std::int64_t embed = 256, heads = 8, tokens = 10;

/// Parameters, multiply-adds, and the width of the output.
template <class Module>
std::vector<double> measured(const Module& module, const Tensor& x) {
  const NoGrad guard;
  toy::WorkCount count;
  const Observe watch(count);
  const Tensor y = module(x);
  return {static_cast<double>(nn::count(module)), static_cast<double>(count.multiply_adds),
          static_cast<double>(y.size(-1))};
}

std::vector<Finding> run() {
  const Tensor x = randn({1, tokens, embed});
  const toy::FullWidthHeads full(embed, heads);
  return {table("modules", "width 256, 8 heads, an input of 10 tokens",
                {measured(full, x), measured(nn::MultiHeadAttention(embed, heads), x),
                 measured(toy::SlicedHeads(embed, heads), x)})
              .headed({"parameters", "multiply-adds", "width out"},
                      {"full-width heads, first article", "standard: split projections",
                       "sliced embedding, second article"})
              .whole(),
          number("side_by_side", "width of the full heads side by side, before the linear layer",
                 static_cast<double>(full.side_by_side(x).size(-1)))
              .whole()};
}

const RegisteredExhibit registered({
    .id = "E6",
    .title = "Heads of full width work; they cost H times as much",
    .claim = "Keeping the whole width in every head \"does not match in dimension: side by side the heads exceed the "
             "embedding width, which destroys the model's structure\".\n"
             "(First article, \"why not keep the embedding size\"; its own first MultiHeadAttention does just that.)",
    .right = "The linear layer after the concatenation maps H * E back to E, whatever H is. Full-width heads are a "
             "sound design with H times the parameters and H times the work.",
    .why = "Attention fixes no width: values of any width can be averaged, and the last linear layer brings the result "
           "back to the width of the residual stream. The reason to give each head E / H columns is the price: then H "
           "heads together have exactly the parameters of one head of full width. The second article saves still more, "
           "but by giving up something: one small projection for all heads, each of which sees only its slice (E8).",
    .commands = {"gradus eval '8 * 3 * (256*256 + 256) + 8*256*256 + 256'", "gradus eval '4 * (256*256 + 256)'",
                 "gradus eval '3 * 32*32 + 256*256 + 256'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
