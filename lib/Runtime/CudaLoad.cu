//===- CudaLoad.cu - Clock and power of a CUDA device ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the driver's management library, which is loaded where it is installed.
// The part of nvml.h that is needed is declared here: its interface is stable,
// and not every CUDA toolkit has the header.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Measure.h"
#include <cuda_runtime.h>
#include <dlfcn.h>

namespace fact {
namespace runtime {
namespace measure {

namespace {

constexpr int clockOfMultiprocessors = 1;
/// Watts at this moment; without this field, an average of up to a second.
constexpr unsigned instantPower = 186;

struct FieldValue {
  unsigned id, scope;
  long long timestamp, latency;
  int type, status;
  union {
    unsigned number;
    unsigned long long wide;
  } value;
};

struct Management {
  int (*getClock)(void *device, int domain, unsigned *megahertz) = nullptr;
  int (*getPower)(void *device, unsigned *milliwatts) = nullptr;
  int (*getFields)(void *device, int count, FieldValue *values) = nullptr;
  void *device = nullptr;

  /// Without a device where any part is missing.
  Management() {
    // Never closed, like the driver.
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return;
    auto find = [library](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
      return function != nullptr;
    };
    int (*start)() = nullptr;
    int (*getDevice)(const char *address, void **device) = nullptr;
    int ordinal = 0;
    char address[32] = {};
    void *found = nullptr;
    find(getFields, "nvmlDeviceGetFieldValues");
    if (find(start, "nvmlInit_v2") &&
        find(getDevice, "nvmlDeviceGetHandleByPciBusId_v2") &&
        find(getClock, "nvmlDeviceGetClockInfo") &&
        find(getPower, "nvmlDeviceGetPowerUsage") &&
        cudaGetDevice(&ordinal) == cudaSuccess &&
        cudaDeviceGetPCIBusId(address, sizeof(address), ordinal) ==
            cudaSuccess &&
        start() == 0 && getDevice(address, &found) == 0)
      device = found;
  }

  unsigned readMilliwatts() const {
    FieldValue field = {};
    field.id = instantPower;
    if (getFields && getFields(device, 1, &field) == 0 && field.status == 0)
      return field.value.number;
    unsigned milliwatts = 0;
    return getPower(device, &milliwatts) == 0 ? milliwatts : 0;
  }
};

} // namespace

Load readLoad() {
  static const Management management;
  Load load;
  if (!management.device)
    return load;
  unsigned megahertz = 0;
  if (management.getClock(management.device, clockOfMultiprocessors,
                          &megahertz) == 0)
    load.megahertz = megahertz;
  load.watts = management.readMilliwatts() / 1000.0;
  return load;
}

} // namespace measure
} // namespace runtime
} // namespace fact
