//===- Target.cpp - The target for a machine ------------------------------===//

#include "fact/Target/Target.h"

using namespace fact;

std::unique_ptr<Target> fact::createTarget(const MachineDescription &machine) {
  return machine.isHost() ? createHostTarget(machine)
                          : createCutlassTarget(machine);
}
