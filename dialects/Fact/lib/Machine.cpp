//===- Machine.cpp - Built-in machines, and those of a file ---------------===//

#include "fact/Dialect/Fact/Machine.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace fact;

// Dense peaks and bandwidths as the vendor publishes them. Nothing is known of
// the host beforehand: its figures are bounds that no machine of its kind
// passes, caches included, so that a share of them is a lower bound too.
static constexpr MachineDescription machines[] = {
    {"a100", "sm_80", 108, 166912, 40 << 20, 2.0e12, 312e12, 19.5e12, 19.5e12,
     19.5e12},
    {"h100", "sm_90a", 132, 232448, 50 << 20, 3.35e12, 989e12, 67e12, 67e12,
     67e12},
    {"h200", "sm_90a", 132, 232448, 60 << 20, 4.8e12, 989e12, 67e12, 67e12,
     67e12},
    {"b200", "sm_100a", 148, 232448, 126 << 20, 8.0e12, 2250e12, 80e12, 40e12,
     80e12},
    {"host", "host", 1, 0, 32 << 20, 2.0e12, 2.0e13, 2.0e13, 1.0e13, 1.0e13},
};

llvm::ArrayRef<MachineDescription> fact::getMachineTable() { return machines; }

const MachineDescription *fact::findMachine(StringRef nameOrArchitecture) {
  for (const MachineDescription &machine : machines)
    if (machine.name == nameOrArchitecture)
      return &machine;
  // Two machines share sm_90a: the later, larger one stands for it.
  for (const MachineDescription &machine : llvm::reverse(machines))
    if (machine.architecture == nameOrArchitecture)
      return &machine;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Figures by name
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name and the member of each figure.
template <typename Machine, typename Visitor>
static void forEachFigure(Machine &machine, Visitor visit) {
  visit("multiprocessors", machine.multiprocessors);
  visit("shared_memory_bytes", machine.sharedMemoryBytes);
  visit("cache_bytes", machine.cacheBytes);
  visit("bandwidth", machine.bandwidth);
  visit("matrix_flops_16", machine.matrixFlops16);
  visit("matrix_flops_32", machine.matrixFlops32);
  visit("matrix_flops_64", machine.matrixFlops64);
  visit("scalar_flops", machine.scalarFlops);
}

static Attribute toAttribute(Builder &builder, int64_t value) {
  return builder.getI64IntegerAttr(value);
}
static Attribute toAttribute(Builder &builder, double value) {
  return builder.getF64FloatAttr(value);
}

static bool fromAttribute(Attribute attribute, int64_t &value) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 63)
    return false;
  value = integer.getValue().getSExtValue();
  return value >= 0;
}
static bool fromAttribute(Attribute attribute, double &value) {
  auto real = dyn_cast_or_null<FloatAttr>(attribute);
  if (!real)
    return false;
  value = real.getValueAsDouble();
  return std::isfinite(value) && value > 0;
}

/// Reads the figures of an attribute; says which one is missing or wrong.
static LogicalResult
readFigures(DictionaryAttr figures, MachineDescription &machine,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto architecture = figures.getAs<StringAttr>("architecture");
  if (!architecture)
    return emitError() << "a machine needs an 'architecture', such as "
                          "\"sm_90a\" or \"host\"";
  machine.architecture = architecture.getValue();
  size_t known = 1;
  std::string wrong;
  forEachFigure(machine, [&](StringRef name, auto &member) {
    if (fromAttribute(figures.get(name), member))
      ++known;
    else if (wrong.empty())
      wrong = name.str();
  });
  if (!wrong.empty())
    return emitError() << "a machine needs a positive '" << wrong << "'";
  if (known == figures.size())
    return success();
  for (NamedAttribute figure : figures) {
    bool isKnown = figure.getName() == "architecture";
    forEachFigure(machine, [&](StringRef name, auto &) {
      isKnown |= figure.getName() == name;
    });
    if (!isKnown)
      return emitError() << "unknown figure '" << figure.getName().getValue()
                         << "' of a machine";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

LogicalResult
MachineAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    StringRef name, DictionaryAttr figures) {
  MachineDescription machine;
  if (figures)
    return readFigures(figures, machine, emitError);
  if (findMachine(name))
    return success();
  InFlightDiagnostic diagnostic = emitError()
                                  << "unknown machine '" << name
                                  << "'; known are ";
  llvm::interleaveComma(getMachineTable(), diagnostic,
                        [&](const MachineDescription &known) {
                          diagnostic << "'" << known.name << "'";
                        });
  return diagnostic << ", and those of a file that ends in '.json'";
}

MachineDescription MachineAttr::getDescription() const {
  if (!getFigures())
    return *findMachine(getName());
  MachineDescription machine;
  (void)readFigures(getFigures(), machine,
                    [&] { return emitError(UnknownLoc::get(getContext())); });
  machine.name = getName();
  return machine;
}

/// A machine of a JSON object: its name, an optional built-in machine to start
/// from, and figures.
static FailureOr<MachineAttr>
readMachine(MLIRContext *context, const llvm::json::Object &object,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto name = object.getString("name");
  if (!name)
    return emitError() << "a machine needs a 'name'";
  Builder builder(context);
  NamedAttrList figures;
  if (auto base = object.getString("base")) {
    const MachineDescription *start = findMachine(*base);
    if (!start)
      return emitError() << "unknown base '" << *base
                         << "': it is a built-in machine or an architecture";
    figures.set("architecture", builder.getStringAttr(start->architecture));
    forEachFigure(*start, [&](StringRef figure, auto value) {
      figures.set(figure, toAttribute(builder, value));
    });
  }
  if (auto architecture = object.getString("architecture"))
    figures.set("architecture", builder.getStringAttr(*architecture));
  MachineDescription types;
  for (const auto &entry : object) {
    StringRef figure = entry.first;
    const llvm::json::Value &value = entry.second;
    if (llvm::is_contained({"name", "base", "architecture"}, figure))
      continue;
    Attribute attribute;
    forEachFigure(types, [&](StringRef known, auto member) {
      if (known != figure)
        return;
      if constexpr (std::is_same_v<decltype(member), int64_t>) {
        if (auto integer = value.getAsInteger())
          attribute = toAttribute(builder, *integer);
      } else if (auto number = value.getAsNumber()) {
        attribute = toAttribute(builder, *number);
      }
    });
    if (!attribute)
      return emitError() << "'" << figure
                         << "' is no figure of a machine, or not a number";
    figures.set(figure, attribute);
  }
  auto machine = MachineAttr::getChecked(emitError, context, *name,
                                         figures.getDictionary(context));
  if (!machine)
    return failure();
  return machine;
}

FailureOr<MachineAttr>
MachineAttr::resolve(MLIRContext *context, StringRef text,
                     llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (!text.ends_with(".json")) {
    const MachineDescription *known = findMachine(text);
    auto machine = MachineAttr::getChecked(emitError, context,
                                           known ? known->name : text,
                                           DictionaryAttr());
    if (!machine)
      return failure();
    return machine;
  }
  auto buffer = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
  if (!buffer)
    return emitError() << "cannot read machine '" << text
                       << "': " << buffer.getError().message();
  auto inFile = [&] { return emitError() << "'" << text << "': "; };
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return inFile() << "is not JSON: " << llvm::toString(value.takeError());
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return inFile() << "is not a JSON object";
  return readMachine(context, *object, inFile);
}

FailureOr<MachineAttr> fact::chooseMachine(Operation *op, StringRef text) {
  if (MachineAttr named = getTargetMachine(op); named && text.empty())
    return named;
  return MachineAttr::resolve(op->getContext(), text.empty() ? "host" : text,
                              [&] { return emitError(op->getLoc()); });
}
