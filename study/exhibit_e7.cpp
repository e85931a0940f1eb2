#include "ops/ops.hpp"
#include "study/article_heads.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

namespace gradus::study {
namespace {

std::vector<Finding> run() {
  toy::Draw draw(106);
  const Tensor x = draw.normal({3, 8}), wk = draw.normal({8, 8}, 0.5), wv = draw.normal({8, 8}, 0.5);
  Tensor wq = draw.normal({8, 8}, 0.5);
  const Tensor bump = pad(full({1, 1}, 0.5, DType::f64), {2, 5, 1, 6});  // 0.5 at row 2, column 1
  const Tensor changed = wq + bump;
  const Tensor before = toy::standard_heads(x, wq, wk, wv, 2), after = toy::standard_heads(x, changed, wk, wv, 2);
  wq.requires_grad(true);
  const Tensor heads = toy::standard_heads(x, wq, wk, wv, 2);  // [2, 3, 4]
  const Tensor cotangent = draw.normal({3, 4});
  const Tensor of_head_1 = grad(select(heads, 0, 1), wq, cotangent);
  return {number("head_0", "W_Q[2,1], a column of head 0, changes by 0.5: head 0 moves by",
                 toy::largest_change(select(after, 0, 0), select(before, 0, 0))),
          number("head_1", "head 1 moves by", toy::largest_change(select(after, 0, 1), select(before, 0, 1))),
          matrix("gradient", "the gradient of head 1 alone in W_Q, two heads of four columns", of_head_1)
              .headed({"h0", "h0", "h0", "h0", "h1", "h1", "h1", "h1"}),
          number("largest_h0", "its largest entry in the columns of head 0", toy::largest(slice(of_head_1, 1, 0, 4))),
          number("largest_h1", "in those of head 1", toy::largest(slice(of_head_1, 1, 4, 8)))};
}

const RegisteredExhibit registered({
    .id = "E7",
    .title = "Heads share no parameters: each owns a block of columns",
    .claim = "\"Parameter sharing: all heads share the same set of Q/K/V projection matrices.\"\n"
             "(First article, \"embedding size is split\".)",
    .right =
        "W_Q, W_K and W_V are each one matrix only because the blocks of the heads are stored side by side. Head h "
        "reads columns h*D ... (h+1)*D - 1 and nothing else; the number of parameters stays that of one full head "
        "because the blocks are narrow, not because they are shared.",
    .why =
        "Q = X W_Q is computed for all heads in one product, and then its columns are dealt out. A column of Q comes "
        "from the same column of W_Q alone, so changing a column of head 0 cannot reach head 1: the difference is "
        "exactly 0, and so is the gradient. If the heads did share one projection they would all compute the same "
        "weights and there would be no use in having several.",
    .commands = {"gradus derive 'X = randn(3,4); W_Q = randn(4,4); W_K = randn(4,4); W_V = randn(4,4); Q = X @ W_Q; "
                 "K = X @ W_K; V = X @ W_V; Z = attention(Q[:, 2:4], K[:, 2:4], V[:, 2:4])' --wrt W_Q --values",
                 "gradus jacobian 'Q = X @ W_Q; attention(Q[:, 2:4], X[:, 2:4], X[:, 2:4])' --wrt W_Q "
                 "--set 'X=[[1,0,.5,1],[0,1,1,-1]]' --set 'W_Q=[[.5,0,.3,.2],[0,.4,.5,0],[.2,.1,0,.3],[.3,.5,0,.2]]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
