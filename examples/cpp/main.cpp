//===- main.cpp - Runs a compiled model from C++ --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run_model WEIGHTS.safetensors [MORE.safetensors]
//
// Loads weights, fills the inputs, runs the model on the host and prints the
// outputs; then the same with the weights of the second file. Works with any
// library for the host: the library itself says what it takes and gives.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

/// A tensor that the program owns, as DLPack describes it.
struct Tensor {
  explicit Tensor(const FactTensorInfo &info) : info(info), memory(info.bytes) {
    view.data = memory.data();
    view.device = {kDLCPU, 0};
    view.ndim = info.ndim;
    view.dtype = info.dtype;
    view.shape = const_cast<int64_t *>(info.shape);
    view.strides = nullptr; // Row-major.
    view.byte_offset = 0;
  }
  Tensor(Tensor &&) = default;

  bool isFloat32() const {
    return info.dtype.code == kDLFloat && info.dtype.bits == 32;
  }
  float *values() { return reinterpret_cast<float *>(memory.data()); }
  size_t size() const { return memory.size() / (info.dtype.bits / 8); }

  const FactTensorInfo &info;
  std::vector<char> memory;
  DLTensor view;
};

static void print(Tensor &tensor) {
  std::printf("%s [", tensor.info.name);
  for (int32_t i = 0; i < tensor.info.ndim; ++i)
    std::printf("%s%lld", i ? ", " : "",
                static_cast<long long>(tensor.info.shape[i]));
  std::printf("]:");
  for (size_t i = 0; tensor.isFloat32() && i < tensor.size(); ++i)
    std::printf(" %.9g", tensor.values()[i]);
  std::printf("\n");
}

static std::vector<Tensor>
makeTensors(const FactTensorInfo *(*list)(int64_t *)) {
  int64_t count = 0;
  const FactTensorInfo *infos = list(&count);
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < count; ++i)
    tensors.emplace_back(infos[i]);
  return tensors;
}

static std::vector<DLTensor *> viewsOf(std::vector<Tensor> &tensors) {
  std::vector<DLTensor *> views;
  for (Tensor &tensor : tensors)
    views.push_back(&tensor.view);
  return views;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s WEIGHTS.safetensors [MORE]\n", argv[0]);
    return 2;
  }
  const FactLibrary *library = fact_library();
  if (library->abi != FACT_LIBRARY_ABI ||
      library->bytes < sizeof(FactLibrary)) {
    std::fprintf(stderr, "the library is of another version of FACT\n");
    return 1;
  }
  std::unique_ptr<FactModel, void (*)(FactModel *)> model(
      library->load(argv[1]), library->destroy);
  if (!model) {
    std::fprintf(stderr, "%s\n", library->last_error());
    return 1;
  }

  std::vector<Tensor> inputs = makeTensors(library->inputs);
  std::vector<Tensor> outputs = makeTensors(library->outputs);
  for (Tensor &input : inputs)
    for (size_t i = 0; input.isFloat32() && i < input.size(); ++i)
      input.values()[i] = static_cast<float>(i % 17) / 16.0f - 0.5f;

  std::vector<DLTensor *> in = viewsOf(inputs), out = viewsOf(outputs);
  for (int file = 1; file < argc; ++file) {
    bool good =
        file == 1 || library->load_weights(model.get(), argv[file]) == 0;
    good = good && library->run(model.get(), in.data(), in.size(), out.data(),
                                out.size(), /*stream=*/nullptr) == 0;
    if (!good) {
      std::fprintf(stderr, "%s\n", library->error(model.get()));
      return 1;
    }
    for (Tensor &output : outputs)
      print(output);
  }
  return 0;
}
