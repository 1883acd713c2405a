//===- Library.cpp - The C interface over a program's tables --------------===//
//
// Implements Library.h for the `theProgram` that the generated library.cpp
// defines. One file for every target: what differs is behind Device.h. No
// exception leaves it.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include "Model.h"
#include "Tensors.h"
#include <exception>
#include <memory>
#include <vector>

using namespace fact::runtime;

struct FactModel : Model {
  using Model::Model;
};

template <typename Call> static int guarded(Call call) {
  try {
    return call();
  } catch (const std::exception &problem) {
    return fail(std::string(theProgram.name) + ": " + problem.what());
  } catch (...) {
    return fail(std::string(theProgram.name) + ": unknown failure");
  }
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

template <typename Fill> static FactModel *make(Fill fill) {
  FactModel *model = nullptr;
  int code = guarded([&] {
    std::unique_ptr<FactModel> made = std::make_unique<FactModel>(theProgram);
    if (int problem = fill(*made))
      return problem;
    model = made.release();
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
  if (!model)
    return;
  DeviceScope scope(model->ordinal);
  // Kernels of the last run may still use the workspace.
  device::synchronize();
  delete model;
}

/// A call on an instance, which keeps its message.
template <typename Call> static int onModel(FactModel *model, Call call) {
  if (!model)
    return fail(std::string(theProgram.name) + ": the model is null");
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

static int run(FactModel *model, DLTensor *const *inputs, int64_t inputCount,
               DLTensor *const *outputs, int64_t outputCount, void *stream) {
  return onModel(model, [&] {
    return model->run(inputs, inputCount, outputs, outputCount, stream);
  });
}

static const char *lastError() { return lastFailure().c_str(); }

static const char *errorOf(const FactModel *model) {
  return model ? model->error.c_str() : lastError();
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

/// Made at the first call: a library does nothing when it is loaded.
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
                                      memoryBytes};
  return &library;
}
