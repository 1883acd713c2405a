//===- serve.cpp - Serves a compiled model from C++ -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   c++ -std=c++17 -O2 -I include examples/deploy/serve.cpp -o serve -ldl
//   serve MODEL.so WEIGHTS.safetensors < requests > responses
//
// A request is the bytes of all inputs, one after the other, and a response
// those of all outputs. The library is opened at run time, and says itself what
// its inputs and outputs are: one program serves every model.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <vector>

/// All inputs or all outputs: memory, and DLPack's description of it.
struct Tensors {
  explicit Tensors(const FactTensorInfo *(*list)(int64_t *)) {
    int64_t count = 0;
    const FactTensorInfo *infos = list(&count);
    for (int64_t i = 0; i < count; ++i) {
      memory.emplace_back(infos[i].bytes);
      // No strides: row-major.
      tensors.push_back({memory.back().data(),
                         {kDLCPU, 0},
                         infos[i].ndim,
                         infos[i].dtype,
                         const_cast<int64_t *>(infos[i].shape),
                         nullptr,
                         0});
    }
    for (DLTensor &tensor : tensors)
      pointers.push_back(&tensor);
  }

  std::vector<std::vector<char>> memory;
  std::vector<DLTensor> tensors;
  std::vector<DLTensor *> pointers;
};

enum class Read { whole, part, nothing };

static Read read(Tensors &tensors) {
  size_t size = 0, done = 0;
  for (std::vector<char> &bytes : tensors.memory) {
    size += bytes.size();
    done += std::fread(bytes.data(), 1, bytes.size(), stdin);
  }
  return done == 0 ? Read::nothing : done < size ? Read::part : Read::whole;
}

static bool write(const Tensors &tensors) {
  for (const std::vector<char> &bytes : tensors.memory)
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
      return false;
  return std::fflush(stdout) == 0;
}

static int fail(const char *problem) {
  std::fprintf(stderr, "serve: %s\n", problem);
  return 1;
}

static const FactLibrary *open(const char *path) {
  // The library stays open for as long as the process runs.
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return nullptr;
  auto table =
      reinterpret_cast<const FactLibrary *(*)()>(dlsym(handle, "fact_library"));
  return table ? table() : nullptr;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: serve MODEL.so WEIGHTS.safetensors\n");
    return 2;
  }
  const FactLibrary *library = open(argv[1]);
  if (!library)
    return fail(dlerror());
  // A newer library may have more functions, never fewer.
  if (library->abi != FACT_LIBRARY_ABI || library->bytes < sizeof(FactLibrary))
    return fail("the library was compiled by another version of FACT");
  if (library->device_type() != kDLCPU)
    return fail("the library was compiled for a GPU; serve has host memory");

  std::unique_ptr<FactModel, void (*)(FactModel *)> model(
      library->load(argv[2]), library->destroy);
  if (!model)
    return fail(library->last_error());

  Tensors inputs(library->inputs), outputs(library->outputs);
  for (;;) {
    Read request = read(inputs);
    if (request == Read::nothing)
      return 0;
    if (request == Read::part)
      return fail("the last request is too short");
    if (library->run(model.get(), inputs.pointers.data(),
                     inputs.pointers.size(), outputs.pointers.data(),
                     outputs.pointers.size(), /*stream=*/nullptr) != 0)
      return fail(library->error(model.get()));
    if (!write(outputs))
      return fail("cannot write the response");
  }
}
