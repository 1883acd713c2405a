//===- Library.cpp - The C interface over a program's tables --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements Library.h for `theProgram`, which the generated library.cpp
// defines. All targets share this file; their differences are behind Device.h.
// No exception leaves it.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include "Model.h"
#include "Tensors.h"
#include "fact/Runtime/Cpu.h"
#include "fact/Runtime/Text.h"
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

using namespace fact::runtime;

struct FactModel : Model {
  using Model::Model;
  /// Set while `running` is held: a call that waited for `destroy` fails.
  bool destroyed = false;
};

template <typename Call> static int guarded(Call call) {
  try {
    return call();
  } catch (const std::exception &problem) {
    return fail(std::string(theProgram.name) + ": " +
                escapeControls(problem.what()));
  } catch (...) {
    return fail(std::string(theProgram.name) + ": unknown failure");
  }
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// Fails on a processor that lacks what the kernels use. Kernels are reachable
/// through a model only, so none has run yet.
static int checkCpu() {
  if (!theProgram.cpuArchitecture)
    return 0;
  std::string missing = describeMissingCpu(theProgram.cpuArchitecture,
                                           theProgram.cpuFeatures.data,
                                           theProgram.cpuFeatures.size);
  return missing.empty() ? 0
                         : fail(std::string(theProgram.name) + ": " + missing);
}

/// The instances that have not been destroyed. A call shares ownership of its
/// instance, so a concurrent `destroy` is safe, and a later call is an error.
namespace {
struct Instances {
  std::mutex changing;
  std::map<const FactModel *, std::shared_ptr<FactModel>> known;
};
} // namespace

/// Created at the first call and never destroyed: threads may outlive `main`.
static Instances &instances() {
  static Instances *all = new Instances;
  return *all;
}

static std::shared_ptr<FactModel> find(const FactModel *model) {
  std::lock_guard<std::mutex> lock(instances().changing);
  auto found = instances().known.find(model);
  return found == instances().known.end() ? nullptr : found->second;
}

template <typename Fill> static FactModel *make(Fill fill) {
  FactModel *model = nullptr;
  int code = guarded([&] {
    if (int problem = checkCpu())
      return problem;
    std::shared_ptr<FactModel> made = std::make_shared<FactModel>(theProgram);
    if (int problem = fill(*made))
      return problem;
    std::lock_guard<std::mutex> lock(instances().changing);
    instances().known[made.get()] = made;
    model = made.get();
    return 0;
  });
  return code == 0 ? model : nullptr;
}

static FactModel *create(const FactNamedTensor *weights, int64_t count) {
  return make([&](FactModel &model) { return model.create(weights, count); });
}

static FactModel *load(const char *path) {
  return make([&](FactModel &model) { return model.load(path); });
}

static void destroy(FactModel *model) {
  std::shared_ptr<FactModel> mine;
  {
    std::lock_guard<std::mutex> lock(instances().changing);
    auto found = instances().known.find(model);
    if (found == instances().known.end())
      return;
    mine = std::move(found->second);
    instances().known.erase(found);
  }
  // The caller may free the weights afterwards, so wait for a running call and
  // for the kernels that it launched.
  DeviceScope scope(mine->ordinal);
  {
    std::lock_guard<std::mutex> lock(mine->running);
    mine->destroyed = true;
    device::synchronize();
  }
  mine.reset();
}

/// Runs a call on an instance, which keeps the error message.
template <typename Call> static int onModel(FactModel *handle, Call call) {
  if (!handle)
    return fail(std::string(theProgram.name) + ": the model is null");
  std::shared_ptr<FactModel> model = find(handle);
  std::unique_lock<std::mutex> lock;
  if (model)
    lock = std::unique_lock<std::mutex>(model->running);
  if (!model || model->destroyed)
    return fail(std::string(theProgram.name) +
                ": the model does not belong to this library, or was "
                "destroyed");
  int code = guarded(call);
  if (code != 0)
    guarded([&] {
      model->error = lastFailure();
      return 0;
    });
  else
    model->error.clear();
  return code;
}

static int setWeights(FactModel *model, const FactNamedTensor *weights,
                      int64_t count) {
  return onModel(model, [&] { return model->setWeights(weights, count); });
}

static int loadWeights(FactModel *model, const char *path) {
  return onModel(model, [&] { return model->loadWeights(path); });
}

static int watchWeights(FactModel *model, int on) {
  return onModel(model, [&] { return model->watchWeights(on != 0); });
}

static int useGraphs(FactModel *model, int setting) {
  return onModel(model, [&] { return model->useGraphs(setting); });
}

static int graphInfo(FactModel *model, FactGraphInfo *info) {
  return onModel(model, [&] { return model->graphInfo(info); });
}

static int run(FactModel *model, DLTensor *const *inputs, int64_t inputCount,
               DLTensor *const *outputs, int64_t outputCount, void *stream) {
  return onModel(model, [&] {
    return model->run(inputs, inputCount, outputs, outputCount, stream);
  });
}

static const char *lastError() { return lastFailure().c_str(); }

static const char *errorOf(const FactModel *model) {
  return find(model) ? model->error.c_str() : lastError();
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static const char *describe() { return theProgram.description; }

static FactTensorInfo infoOf(const TensorSpec &tensor, bool baked) {
  return {
      tensor.name,  dataTypeOf(tensor.type), static_cast<int32_t>(tensor.rank),
      tensor.shape, tensor.bytes(),          baked};
}
static FactTensorInfo infoOf(const TensorSpec &tensor) {
  return infoOf(tensor, false);
}
static FactTensorInfo infoOf(const WeightSpec &weight) {
  return infoOf(weight.tensor, weight.baked);
}

template <typename Spec>
static std::vector<FactTensorInfo> infoOf(const Table<Spec> &specs) {
  std::vector<FactTensorInfo> infos;
  for (const Spec &spec : specs)
    infos.push_back(infoOf(spec));
  return infos;
}

/// Built at the first call: loading a library runs no code.
template <typename Spec, Table<Spec> Program::*specs>
static const FactTensorInfo *tensorInfo(int64_t *count) {
  static const std::vector<FactTensorInfo> infos = infoOf(theProgram.*specs);
  if (count)
    *count = static_cast<int64_t>(infos.size());
  return infos.data();
}

static int32_t deviceType() { return device::type(); }

static uint64_t memoryBytes() {
  return MemoryPlan(theProgram).total(theProgram);
}

extern "C" const FactLibrary *fact_library(void) {
  static const FactLibrary library = {FACT_LIBRARY_ABI,
                                      sizeof(FactLibrary),
                                      describe,
                                      create,
                                      setWeights,
                                      run,
                                      destroy,
                                      lastError,
                                      load,
                                      loadWeights,
                                      errorOf,
                                      tensorInfo<TensorSpec, &Program::inputs>,
                                      tensorInfo<TensorSpec, &Program::outputs>,
                                      tensorInfo<WeightSpec, &Program::weights>,
                                      deviceType,
                                      memoryBytes,
                                      watchWeights,
                                      useGraphs,
                                      graphInfo};
  return &library;
}
