//===- MachineTable.cpp - The built-in machines ---------------------------===//

#include "fact/Dialect/Fact/Machine.h"
#include "llvm/ADT/STLExtras.h"

using namespace fact;

// Dense peaks and bandwidths as the vendor publishes them. Nothing is known of
// the host beforehand: its figures are bounds that no machine of its kind
// passes, caches included, so that a share of them is a lower bound too.
static constexpr MachineDescription machines[] = {
    {"a100", "sm_80", 108, 166912, 40 << 20, 2.0e12, 312e12, 19.5e12, 19.5e12},
    {"h100", "sm_90a", 132, 232448, 50 << 20, 3.35e12, 989e12, 67e12, 67e12},
    {"h200", "sm_90a", 132, 232448, 60 << 20, 4.8e12, 989e12, 67e12, 67e12},
    {"b200", "sm_100a", 148, 232448, 126 << 20, 8.0e12, 2250e12, 80e12, 80e12},
    {"host", "host", 1, 0, 32 << 20, 2.0e12, 2.0e13, 2.0e13, 1.0e13},
};

llvm::ArrayRef<MachineDescription> fact::getMachineTable() { return machines; }

const MachineDescription *
fact::findMachine(llvm::StringRef nameOrArchitecture) {
  for (const MachineDescription &machine : machines)
    if (machine.name == nameOrArchitecture)
      return &machine;
  // Two machines share sm_90a: the later, larger one stands for it.
  for (const MachineDescription &machine : llvm::reverse(machines))
    if (machine.architecture == nameOrArchitecture)
      return &machine;
  return nullptr;
}
