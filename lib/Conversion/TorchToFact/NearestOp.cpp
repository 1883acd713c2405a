//===- NearestOp.cpp - What to write in place of an unsupported op --------===//

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

/// The function that comes nearest by meaning, where names would mislead.
static StringRef findByMeaning(StringRef function) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"erfc", "erf"},
      {"atan", "tanh"},
      {"atan2", "tanh"},
      {"tan", "sin"},
      {"sinh", "exp"},
      {"cosh", "exp"},
      {"asin", "sin"},
      {"acos", "cos"},
      {"hypot", "sqrt"},
      {"heaviside", "where"},
      {"copysign", "sign"},
      {"logaddexp", "logsumexp"},
      {"xlogy", "log"},
      {"logit", "log"},
      {"isclose", "le"},
      {"__lshift__", "mul"},
      {"__rshift__", "floor_divide"},
      {"cumsum", "sum"},
      {"cumprod", "prod"},
      {"cummax", "amax"},
      {"cummin", "amin"},
      {"logcumsumexp", "logsumexp"},
      {"sort", "argmax"},
      {"topk", "argmax"},
      {"argsort", "argmax"},
      {"median", "mean"},
      {"tensordot", "einsum"},
      {"inner", "einsum"},
      {"bilinear", "einsum"},
      {"kron", "einsum"},
      {"cross", "einsum"},
      {"addbmm", "baddbmm"},
      {"addr", "outer"},
      {"linalg_inv", "matmul"},
      {"linalg_solve", "matmul"},
      {"linalg_multi_dot", "matmul"},
      {"conv1d", "linear"},
      {"conv2d", "linear"},
      {"conv3d", "linear"},
      {"convolution", "linear"},
      {"max_pool1d", "amax"},
      {"max_pool2d", "amax"},
      {"max_pool3d", "amax"},
      {"avg_pool1d", "mean"},
      {"avg_pool2d", "mean"},
      {"avg_pool3d", "mean"},
      {"adaptive_avg_pool1d", "mean"},
      {"adaptive_avg_pool2d", "mean"},
      {"adaptive_max_pool2d", "amax"},
      {"batch_norm", "layer_norm"},
      {"instance_norm", "group_norm"},
      {"cdist", "linalg_vector_norm"},
      {"dist", "linalg_vector_norm"},
      {"pairwise_distance", "linalg_vector_norm"},
      {"cosine_similarity", "linalg_vector_norm"},
      {"mse_loss", "mean"},
      {"l1_loss", "mean"},
      {"cross_entropy_loss", "log_softmax"},
      {"nll_loss", "log_softmax"},
      {"nll_loss_forward", "log_softmax"},
      {"scatter", "where"},
      {"scatter_add", "where"},
      {"index_put", "where"},
      {"index_add", "where"},
      {"masked_scatter", "where"},
      {"embedding_bag", "embedding"},
      {"diagonal", "einsum"},
      {"diag", "einsum"},
      {"diag_embed", "eye"},
      {"unfold", "slice"},
      {"rot90", "flip"},
      {"pixel_shuffle", "permute"},
      {"channel_shuffle", "permute"},
  };
  for (auto [name, nearest] : table)
    if (name == function)
      return nearest;
  return {};
}

/// `aten.add.Tensor` is the function `add`.
static StringRef functionOf(StringRef name) {
  return name.split('.').second.split('.').first;
}

/// Overloads and namespaces decide between functions that are equally similar.
static unsigned distanceOf(StringRef name, StringRef known) {
  unsigned distance = 2 * functionOf(name).edit_distance(functionOf(known));
  if (name.split('.').first != known.split('.').first)
    distance += 2;
  StringRef overload = name.split('.').second.split('.').second;
  if (overload != known.split('.').second.split('.').second)
    ++distance;
  return distance;
}

SmallVector<StringRef>
torchtofact::findNearestOps(StringRef name, const ConverterTable &table) {
  StringRef meant = findByMeaning(functionOf(name));
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef known : table.keys()) {
    if (!known.starts_with("aten.") && !known.starts_with("prims."))
      continue;
    if (meant.empty())
      near.push_back({distanceOf(name, known), known});
    else if (functionOf(known) == meant)
      near.push_back({known.size(), known});
  }
  llvm::sort(near);
  // Overloads of one function are one suggestion.
  SmallVector<StringRef> names;
  for (auto [distance, known] : near) {
    bool another =
        llvm::none_of(names, [function = functionOf(known)](StringRef name) {
          return functionOf(name) == function;
        });
    if (distance == near.front().first && another && names.size() < 2)
      names.push_back(known);
  }
  return names;
}
