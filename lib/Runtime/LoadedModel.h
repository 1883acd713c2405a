//===- LoadedModel.h - A model of a linked library --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_LOADEDMODEL_H
#define FACT_LIB_RUNTIME_LOADEDMODEL_H

#include "StepCheck.h"
#include "WorkerJob.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// The content of an input or a weight.
struct Argument {
  Fill fill;
  /// The file with a baked weight's value; empty for others.
  std::string path;
};

/// Writes an argument to `memory`, which is allocated if there is none.
void fillArgument(const TensorSpec &tensor, const Argument &argument,
                  uint64_t seed, Memory &memory);

/// A model of a library over given memory. A failure ends the worker.
class LoadedModel {
public:
  LoadedModel(const FactLibrary &library, const Program &program,
              const std::vector<Memory> &inputs,
              const std::vector<Memory> &weights);
  ~LoadedModel() { library.destroy(model); }
  LoadedModel(const LoadedModel &) = delete;

  /// Enqueues one call.
  void run();

  /// The memory that calls write.
  std::vector<Memory> outputs;

private:
  const FactLibrary &library;
  FactModel *model;
  std::vector<DLTensor> given, taken;
  std::vector<DLTensor *> givenPointers, takenPointers;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_LOADEDMODEL_H
