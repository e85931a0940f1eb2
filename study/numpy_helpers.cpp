#include "study/numpy_helpers.hpp"

#include <string_view>
#include <vector>

namespace gradus::study {
namespace {

struct Helper {
  std::string_view name, code;
  std::vector<std::string> needs = {};
};

const std::vector<Helper>& all() {
  static const std::vector<Helper> helpers = {{"softmax", R"(
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)
)"},
                                              {"reduced", R"(
def reduced(x, reduction):
    return x if reduction == "none" else np.sum(x) if reduction == "sum" else np.mean(x)
)"},
                                              {"mse",
                                               R"(
def mse(x, target, reduction="mean"):
    return reduced((x - target) ** 2, reduction)
)",
                                               {"reduced"}},
                                              {"l1",
                                               R"(
def l1(x, target, reduction="mean"):
    return reduced(np.abs(x - target), reduction)
)",
                                               {"reduced"}},
                                              {"huber",
                                               R"(
def huber(x, target, delta=1.0, reduction="mean"):
    r = np.abs(x - target)
    return reduced(np.where(r <= delta, 0.5 * r * r, delta * (r - 0.5 * delta)), reduction)
)",
                                               {"reduced"}},
                                              {"bce_with_logits",
                                               R"(
def bce_with_logits(x, target, reduction="mean"):
    return reduced(np.maximum(x, 0) - x * target + np.log1p(np.exp(-np.abs(x))), reduction)
)",
                                               {"reduced"}},
                                              {"kl_div",
                                               R"(
def kl_div(x, target, log_target=False, reduction="mean"):
    if log_target:
        return reduced(np.exp(target) * (target - x), reduction)
    positive = target > 0
    return reduced(np.where(positive, target * (np.log(np.where(positive, target, 1)) - x), 0), reduction)
)",
                                               {"reduced"}},
                                              {"scatter_add", R"(
def scatter_add(x, index, src, axis=0):
    y = np.array(x)
    at = list(np.indices(np.shape(index)))
    at[axis] = index
    np.add.at(y, tuple(at), np.asarray(src)[tuple(slice(n) for n in np.shape(index))])
    return y
)"},
                                              {"dropout", R"(
def dropout(x, p, key):
    """The mask of Philox-4x32-10 (Salmon et al. 2011): element i is dropped by word i of the key's stream."""
    if p == 0:
        return x
    low = np.uint64(0xFFFFFFFF)
    n = np.size(x)
    counter = np.arange((n + 3) // 4, dtype=np.uint64)
    c = [counter & low, counter >> np.uint64(32), np.zeros_like(counter), np.zeros_like(counter)]
    k = [key & 0xFFFFFFFF, (key >> 32) & 0xFFFFFFFF]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    words = np.stack(c, axis=-1).reshape(-1)[:n].reshape(np.shape(x))
    dropped = (words >> np.uint64(9)) < math.ceil(p * 2**23 - 0.5)
    return np.where(dropped, 0, x) * (1 / (1 - p) if p < 1 else 0)
)"}};
  return helpers;
}

void include(const std::string& name, std::set<std::string>& wanted) {
  for (const Helper& h : all())
    if (h.name == name && wanted.insert(name).second)
      for (const std::string& other : h.needs) include(other, wanted);
}

}  // namespace

bool is_numpy_helper(const std::string& name) {
  for (const Helper& h : all())
    if (h.name == name) return true;
  return false;
}

std::string numpy_helpers(const std::set<std::string>& names) {
  std::set<std::string> wanted;
  for (const std::string& name : names) include(name, wanted);
  std::string code;
  for (const Helper& h : all())
    if (wanted.count(std::string(h.name))) code += "\n" + std::string(h.code);
  return code;
}

}  // namespace gradus::study
