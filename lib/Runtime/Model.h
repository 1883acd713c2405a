//===- Model.h - One instance of a compiled model ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_MODEL_H
#define FACT_LIB_RUNTIME_MODEL_H

#include "MemoryPlan.h"
#include "Profile.h"
#include "Ranges.h"
#include "Recordings.h"
#include "Weights.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <mutex>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// Stores the message for `last_error`; returns 1.
int fail(std::string message);
const std::string &lastFailure();

/// Selects the model's device for the duration of a call.
class DeviceScope {
public:
  explicit DeviceScope(int32_t ordinal) : previous(device::currentOrdinal()) {
    selected = previous == ordinal || device::select(ordinal);
    changed = selected && previous != ordinal;
  }
  ~DeviceScope() {
    if (changed)
      device::select(previous);
  }
  explicit operator bool() const { return selected; }

private:
  int32_t previous;
  bool selected;
  bool changed;
};

class Model {
public:
  explicit Model(const Program &program) : program(program), plan(program) {}
  ~Model() {
    if (lastRun)
      device::destroyEvent(lastRun);
  }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  int create(const FactNamedTensor *tensors, int64_t count);
  int load(const char *path);
  int setWeights(const FactNamedTensor *tensors, int64_t count);
  int loadWeights(const char *path);
  int watchWeights(bool on);
  int useGraphs(int setting);
  int graphInfo(FactGraphInfo *info) const;
  int run(DLTensor *const *inputs, int64_t inputCount, DLTensor *const *outputs,
          int64_t outputCount, void *stream);

  const Program &program;
  /// Held by each call, because buffers, steps and messages belong to the
  /// instance.
  std::mutex running;
  int32_t ordinal = 0;
  /// The error message of the last call.
  std::string error;

private:
  struct Step {
    Step(const StepSpec &spec, const KernelSpec &kernel)
        : spec(&spec), instance(*kernel.kernel, kernel.sizes),
          buffers(spec.bufferCount) {}

    const StepSpec *spec;
    KernelInstance instance;
    std::vector<void *> buffers;
    Packing packing;
    /// Where its scratch memory begins.
    uint64_t scratch = 0;
    /// For an operand that is packed once, its position in Weights::packed.
    uint32_t slot = 0;
  };

  int failOnDevice();
  int failOn(const char *kind, const TensorSpec &tensor,
             const std::string &problem);
  int failWith(const std::vector<std::string> &problems,
               const std::string &source);
  int initialize();
  int addSteps(const Table<StepSpec> &specs, bool atLoad,
               std::vector<Step> &steps);
  int adopt(Weights next);
  Range memoryOfWeight(uint32_t index) const;
  bool isReadInPlace(const FactNamedTensor &weight) const;
  int prepare();
  int sumWeights(void *stream, std::vector<uint64_t> &sums);
  int refresh(void *stream);
  int runInOrder(DLTensor *const *inputTensors, DLTensor *const *outputTensors,
                 void *stream, bool captured);
  bool launch(Step &step, void *stream);
  int runSteps(std::vector<Step> &steps, void *stream,
               Profile *profile = nullptr);
  int runProgram(void *stream, bool captured);
  void initializeRecordings();
  char *addressOf(uint32_t value) const;
  Weights copyOfWeights() const;
  int takeInput(uint32_t index, const DLTensor &tensor, void *stream);
  int takeOutput(uint32_t index, const DLTensor &tensor);
  std::string findOverlap(uint32_t index) const;
  char *&input(uint32_t index) { return arguments[index]; }
  char *&output(uint32_t index) {
    return arguments[program.inputs.size + index];
  }
  char *input(uint32_t index) const { return arguments[index]; }
  char *output(uint32_t index) const {
    return arguments[program.inputs.size + index];
  }

  MemoryPlan plan;
  Weights weights;
  /// Of the current run: inputs, then outputs.
  Recordings::Arguments arguments;
  std::vector<uint64_t> inputBytes;
  std::vector<uint64_t> outputBytes;
  /// Weights and constants.
  Ranges fixedMemory;
  std::vector<Buffer> constants;
  std::vector<Buffer> inputCopies;
  Buffer workspace;
  Buffer kernelWorkspace;
  Buffer packScratch;
  Buffer sumScratch;
  bool watching = false;
  /// Whether runs write memory of the instance, so that each has to wait for
  /// the last one, which may be on another stream.
  bool sharesMemory = false;
  /// Recorded at the end of each run that shares memory.
  void *lastRun = nullptr;
  std::vector<Step> prepareSteps;
  std::vector<Step> programSteps;
  Recordings recordings;
  std::unique_ptr<Profile> profile = Profile::create(program);
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_MODEL_H
