//===- MemrefCall.cpp - A model as a function on memrefs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/MemrefCall.h"
#include "fact/Runtime/Library.h"
#include <cstdio>
#include <mutex>
#include <vector>

namespace fact {
namespace runtime {

/// What MLIR passes by pointer: `int64_t sizes[rank]` and `int64_t
/// strides[rank]` follow.
struct MemrefHeader {
  void *allocated, *aligned;
  int64_t offset;
};

static DLTensor readMemref(void *descriptor, const FactTensorInfo &info) {
  auto *header = static_cast<MemrefHeader *>(descriptor);
  auto *sizes = reinterpret_cast<int64_t *>(header + 1);
  DLTensor tensor;
  tensor.data = header->aligned;
  tensor.device = {static_cast<DLDeviceType>(fact_library()->device_type()), 0};
  tensor.ndim = info.ndim;
  tensor.dtype = info.dtype;
  tensor.shape = sizes;
  tensor.strides = sizes + info.ndim;
  tensor.byte_offset = header->offset * ((info.dtype.bits + 7) / 8);
  return tensor;
}

/// Reads one list of tensors, and moves on to the next.
static std::vector<DLTensor>
readMemrefs(const FactTensorInfo *(*list)(int64_t *),
            void *const *&descriptors) {
  int64_t count = 0;
  const FactTensorInfo *infos = list(&count);
  std::vector<DLTensor> tensors;
  for (int64_t i = 0; i < count; ++i)
    tensors.push_back(readMemref(*descriptors++, infos[i]));
  return tensors;
}

static std::vector<DLTensor *> getPointers(std::vector<DLTensor> &tensors) {
  std::vector<DLTensor *> pointers;
  for (DLTensor &tensor : tensors)
    pointers.push_back(&tensor);
  return pointers;
}

namespace {
/// The instance behind all calls. It lives as long as the process: no memref
/// says when the last call was.
class SharedModel {
public:
  /// Null on failure.
  FactModel *get(const std::vector<DLTensor> &weights) {
    std::vector<const void *> current;
    std::vector<FactNamedTensor> named;
    int64_t count = 0;
    const FactTensorInfo *infos = fact_library()->weights(&count);
    for (int64_t i = 0; i < count; ++i) {
      named.push_back({infos[i].name, &weights[i]});
      current.push_back(static_cast<char *>(weights[i].data) +
                        weights[i].byte_offset);
    }
    if (!model)
      create(named);
    else if (current != addresses &&
             fact_library()->set_weights(model, named.data(), count) != 0)
      return nullptr;
    addresses = current;
    return model;
  }

  std::mutex mutex;

private:
  void create(const std::vector<FactNamedTensor> &named) {
    model = fact_library()->create(named.data(), named.size());
    if (model && !named.empty())
      fact_library()->watch_weights(model, 1);
  }

  FactModel *model = nullptr;
  std::vector<const void *> addresses;
};
} // namespace

int callWithMemrefs(void *const *descriptors) {
  static SharedModel &shared = *new SharedModel;
  const FactLibrary *library = fact_library();
  std::vector<DLTensor> inputs = readMemrefs(library->inputs, descriptors);
  std::vector<DLTensor> weights = readMemrefs(library->weights, descriptors);
  std::vector<DLTensor> outputs = readMemrefs(library->outputs, descriptors);
  std::lock_guard<std::mutex> lock(shared.mutex);
  FactModel *model = shared.get(weights);
  int failed = model ? library->run(model, getPointers(inputs).data(),
                                    inputs.size(), getPointers(outputs).data(),
                                    outputs.size(), /*stream=*/nullptr)
                     : 1;
  if (failed != 0)
    std::fprintf(stderr, "%s\n", library->last_error());
  return failed;
}

} // namespace runtime
} // namespace fact
