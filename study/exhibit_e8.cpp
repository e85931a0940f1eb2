#include "core/derivatives.hpp"
#include "ops/ops.hpp"
#include "study/article_heads.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

namespace gradus::study {
namespace {

constexpr std::int64_t tokens = 3, embed = 8, heads = 2;

/// [heads, embed]: the largest derivative of anything in a head by anything in a feature of the embedding.
Tensor dependence(const std::function<Tensor(const Tensor&)>& by_head, const Tensor& x) {
  const Tensor j = abs(jacobian(by_head, x));  // [heads, tokens, D, tokens, embed]
  return max(j, {1, 2, 3});
}

/// How far head 0 moves when feature 6 of token 1 changes by 1.
double move_of_head_0(const std::function<Tensor(const Tensor&)>& by_head, const Tensor& x) {
  const Tensor changed = x + pad(ones({1, 1}, DType::f64), {1, 1, 6, 1});
  return toy::largest_change(select(by_head(changed), 0, 0), select(by_head(x), 0, 0));
}

std::vector<Finding> run() {
  toy::Draw draw(8);
  const Tensor x = draw.normal({tokens, embed});
  const Tensor wq = draw.normal({embed, embed}, 0.5), wk = draw.normal({embed, embed}, 0.5),
               wv = draw.normal({embed, embed}, 0.5);
  toy::SlicedHeads sliced(embed, heads);
  nn::to(sliced, DType::f64);
  const auto standard = [&](const Tensor& t) { return toy::standard_heads(t, wq, wk, wv, heads); };
  const auto second = [&](const Tensor& t) { return sliced.by_head(t); };
  std::vector<std::string> features;
  for (int i = 0; i < embed; ++i) features.push_back(fmt::format("x_{}", i));
  return {
      number("standard", "feature 6 of a token changes by 1: head 0 moves by, standard heads",
             move_of_head_0(standard, x)),
      number("sliced", "the same, with the second article's sliced embedding", move_of_head_0(second, x)),
      matrix("reads_standard", "the largest derivative of a head by a feature, standard heads", dependence(standard, x))
          .headed(features, {"head 0", "head 1"}),
      matrix("reads_sliced", "the same, second article", dependence(second, x)).headed(features, {"head 0", "head 1"})};
}

const RegisteredExhibit registered({
    .id = "E8",
    .title = "The projections are split, not the embedding: every head reads all of it",
    .claim = "\"The embedding is split into smaller subspaces, one for each head.\"\n"
             "(First article, which then projects first and splits afterwards; the second article's class really cuts "
             "the embedding.)",
    .right =
        "Each head has its own columns of W_Q, W_K and W_V and reads the whole embedding through them. What is cut "
        "into pieces is the result of the projection.",
    .why = "Q = X W_Q mixes all features of a token into every column before anything is split, so a head can learn to "
           "look at any of them. In the second article the raw embedding is cut before a small projection: head 0 gets "
           "features 0 ... D-1 and can never see the others. Which feature has which number is arbitrary, so that "
           "layer takes an arbitrary part of its input away from each head.",
    .commands = {"gradus jacobian 'attention(x @ W[:, 0:2], x @ W[:, 2:4], x @ W[:, 0:2])' --wrt x "
                 "--set 'x=[[1,0,.5,1],[0,1,1,-1]]' --set 'W=[[.5,0,.3,.2],[0,.4,.5,0],[.2,.1,0,.3],[.3,.5,0,.2]]'",
                 "gradus jacobian 'attention(x[:, 0:2] @ W, x[:, 0:2] @ W, x[:, 0:2] @ W)' --wrt x "
                 "--set 'x=[[1,0,.5,1],[0,1,1,-1]]' --set 'W=[[.5,.2],[0,.4]]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
