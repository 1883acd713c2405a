//===- DescribeTarget.cpp - A machine and its kernels as JSON -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/DescribeTarget.h"
#include "fact/Dialect/Fact/LocalMachine.h"
#include "fact/Kernel/Target.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace fact;
namespace json = llvm::json;

static json::Value toJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getInt();
  return cast<FloatAttr>(attribute).getValueAsDouble();
}

json::Object fact::describeMachine(MachineAttr machine) {
  json::Object object{{"name", machine.getName()}};
  for (NamedAttribute figure :
       getFigures(machine.getContext(), machine.getDescription()))
    object[figure.getName().getValue()] = toJson(figure.getValue());
  return object;
}

static json::Array toJson(ArrayRef<const Family *> families) {
  json::Array array;
  for (const Family *family : families) {
    json::Array schedules;
    for (const ScheduleKind *kind : family->getScheduleKinds())
      schedules.push_back(kind->name);
    array.push_back(json::Object{{"rule", family->getRule().name},
                                 {"architecture", family->getArchitecture()},
                                 {"schedules", std::move(schedules)}});
  }
  return array;
}

LogicalResult fact::describeTarget(MLIRContext *context, StringRef target,
                                   llvm::raw_ostream &os) {
  context->loadDialect<FactDialect>();
  FailureOr<MachineAttr> machine =
      MachineAttr::resolve(context, target.empty() ? "host" : target,
                           [&] { return emitError(UnknownLoc::get(context)); });
  if (failed(machine))
    return failure();
  auto kernels = createTarget(context, machine->getDescription());
  json::Object object{{"machine", describeMachine(*machine)},
                      {"built_in", !machine->getFigures()},
                      {"compiler", kernels->getCommands().compile.front()},
                      {"families", toJson(kernels->getFamilies())}};
  if (target == "auto") {
    std::string reason;
    std::optional<LocalGpu> gpu = findLocalGpu(reason);
    object["reason"] = gpu ? gpu->describe() : reason;
  }
  os << llvm::formatv("{0:2}", json::Value(std::move(object))) << "\n";
  return success();
}
