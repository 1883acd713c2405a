//===- LoadedModel.cpp - A model of a linked library ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoadedModel.h"
#include "Tensors.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <fstream>

namespace fact {
namespace runtime {

void fillArgument(const TensorSpec &tensor, const Argument &argument,
                  uint64_t seed, Memory &memory) {
  if (!memory)
    memory = allocateMemory(tensor.bytes());
  if (argument.path.empty()) {
    if (!measure::fill(memory.get(), tensor.type, tensor.elements(),
                       argument.fill, seed))
      deviceFailed("worker_error");
    return;
  }
  std::ifstream file(argument.path, std::ios::binary);
  std::vector<char> bytes(tensor.bytes());
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    reject("worker_error", "cannot read " + argument.path);
  if (!device::copyToDevice(memory.get(), bytes.data(), bytes.size()))
    deviceFailed("worker_error");
}

static DLTensor describe(const TensorSpec &tensor, const Memory &memory) {
  DLTensor result = {};
  result.data = memory.get();
  result.device = {static_cast<DLDeviceType>(device::type()),
                   device::currentOrdinal()};
  result.ndim = static_cast<int32_t>(tensor.rank);
  result.dtype = dataTypeOf(tensor.type);
  result.shape = const_cast<int64_t *>(tensor.shape);
  return result;
}

LoadedModel::LoadedModel(const FactLibrary &library, const Program &program,
                         const std::vector<Memory> &inputs,
                         const std::vector<Memory> &weights)
    : library(library) {
  std::vector<DLTensor> tensors;
  std::vector<FactNamedTensor> named;
  tensors.reserve(program.weights.size);
  // Weights are bound by name, so their order may differ from the program's.
  for (uint32_t i = program.weights.size; i-- > 0;) {
    tensors.push_back(describe(program.weights[i].tensor, weights[i]));
    named.push_back({program.weights[i].tensor.name, &tensors.back()});
  }
  model = library.create(named.data(), static_cast<int64_t>(named.size()));
  if (!model)
    reject("wrong", std::string("the library cannot create a model: ") +
                        library.last_error());
  // From the second call on a graph is replayed, where there are graphs.
  if (library.use_graphs(model, FACT_GRAPHS_ON) != 0)
    reject("wrong", std::string("the library cannot use graphs: ") +
                        library.error(model));
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    given.push_back(describe(program.inputs[i], inputs[i]));
  for (uint32_t i = 0; i < program.outputs.size; ++i) {
    outputs.push_back(allocateMemory(program.outputs[i].bytes()));
    taken.push_back(describe(program.outputs[i], outputs.back()));
  }
  for (DLTensor &tensor : given)
    givenPointers.push_back(&tensor);
  for (DLTensor &tensor : taken)
    takenPointers.push_back(&tensor);
}

void LoadedModel::run() {
  if (library.run(model, givenPointers.data(),
                  static_cast<int64_t>(givenPointers.size()),
                  takenPointers.data(),
                  static_cast<int64_t>(takenPointers.size()), nullptr) != 0)
    reject("wrong",
           std::string("the library cannot run: ") + library.error(model));
}

} // namespace runtime
} // namespace fact
