//===- Machine.cpp - Built-in machines, and those of a file ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Machine.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/LocalMachine.h"
#include "fact/Dialect/Fact/Processor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Peaks of contractions
//===----------------------------------------------------------------------===//

StringRef fact::getName(MatrixRate rate) {
  switch (rate) {
  case MatrixRate::Bits16:
    return "16";
  case MatrixRate::F32:
    return "32";
  case MatrixRate::TF32:
    return "tf32";
  case MatrixRate::F64:
    return "64";
  }
  llvm_unreachable("a rate has a name");
}

MatrixRate fact::getMatrixRate(runtime::ElementType type, bool tf32) {
  using runtime::ElementType;
  switch (type) {
  case ElementType::F64:
    return MatrixRate::F64;
  case ElementType::F32:
    return tf32 ? MatrixRate::TF32 : MatrixRate::F32;
  case ElementType::F16:
  case ElementType::BF16:
    return MatrixRate::Bits16;
  case ElementType::I64:
  case ElementType::I32:
  case ElementType::I8:
  case ElementType::I1:
    break;
  }
  llvm_unreachable("contractions are of floats");
}

//===----------------------------------------------------------------------===//
// Built-in machines
//===----------------------------------------------------------------------===//

// After NVIDIA's data sheets and white papers, not measured here: dense peaks
// at boost clock, with sums in f32. The last machine of an architecture stands
// for it and has its largest figures, because a kernel that is faster than
// light is refused; "sm_86" and "sm_89" are bounds of several products.
// Processors are in Processor.cpp.
// clang-format off
static constexpr MachineDescription machines[] = {
    // Name, architecture, multiprocessors, shared memory per block, L2,
    // bandwidth, contractions of 16-bit types, f32, TF32 and f64, other
    // arithmetic, clock.
    {"a100", "sm_80", 108, 166912, 40 << 20, 2.0e12,
     {312e12, 19.5e12, 156e12, 19.5e12}, 19.5e12, 1.41e9},
    {"a10", "sm_86", 72, 101376, 6 << 20, 600e9,
     {125e12, 31.2e12, 62.5e12, 0.488e12}, 31.2e12, 1.695e9},
    {"rtx3090", "sm_86", 82, 101376, 6 << 20, 936e9,
     {71e12, 35.6e12, 35.6e12, 0.556e12}, 35.6e12, 1.695e9},
    {"sm_86", "sm_86", 84, 101376, 6 << 20, 1.008e12,
     {154.8e12, 40e12, 77.4e12, 0.625e12}, 40e12, 1.86e9},
    {"l4", "sm_89", 58, 101376, 48 << 20, 300e9,
     {121e12, 30.3e12, 60e12, 0.473e12}, 30.3e12, 2.04e9},
    {"l40s", "sm_89", 142, 101376, 96 << 20, 864e9,
     {362e12, 91.6e12, 183e12, 1.43e12}, 91.6e12, 2.52e9},
    {"rtx4090", "sm_89", 128, 101376, 72 << 20, 1.008e12,
     {165.2e12, 82.6e12, 82.6e12, 1.29e12}, 82.6e12, 2.52e9},
    {"sm_89", "sm_89", 142, 101376, 96 << 20, 1.008e12,
     {364e12, 91.6e12, 183e12, 1.43e12}, 91.6e12, 2.52e9},
    {"h100", "sm_90a", 132, 232448, 50 << 20, 3.35e12,
     {989e12, 67e12, 494.7e12, 67e12}, 67e12},
    {"h200", "sm_90a", 132, 232448, 60 << 20, 4.8e12,
     {989e12, 67e12, 494.7e12, 67e12}, 67e12},
    {"b200", "sm_100a", 148, 232448, 126 << 20, 8.0e12,
     {2250e12, 80e12, 1125e12, 40e12}, 80e12},
    {"rtx5090", "sm_120", 170, 101376, 96 << 20, 1.792e12,
     {209.5e12, 104.8e12, 104.8e12, 1.64e12}, 104.8e12, 2.41e9},
    {"rtx-pro-6000", "sm_120", 188, 101376, 128 << 20, 1.792e12,
     {503.8e12, 126e12, 251.9e12, 1.97e12}, 126e12, 2.62e9},
};
// clang-format on

llvm::ArrayRef<MachineDescription> fact::getMachineTable() { return machines; }

/// An architecture with the suffix of its own instructions, which its kernels
/// use and people leave out: "sm_90a" for "sm_90".
static StringRef addSuffix(StringRef architecture) {
  return llvm::StringSwitch<StringRef>(architecture)
      .Case("sm_90", "sm_90a")
      .Case("sm_100", "sm_100a")
      .Default(architecture);
}

const MachineDescription *fact::findMachine(StringRef nameOrArchitecture) {
  for (const MachineDescription &machine : machines)
    if (machine.name == nameOrArchitecture)
      return &machine;
  for (const MachineDescription &machine : llvm::reverse(machines))
    if (machine.architecture == addSuffix(nameOrArchitecture))
      return &machine;
  return findProcessor(nameOrArchitecture);
}

llvm::SmallVector<StringRef> fact::getGpuArchitectures() {
  llvm::SmallVector<StringRef> architectures;
  for (const MachineDescription &machine : machines)
    if (!llvm::is_contained(architectures, machine.architecture))
      architectures.push_back(machine.architecture);
  return architectures;
}

/// The name or architecture that somebody who wrote `text` may have meant, or
/// nothing: at most a letter or two differ.
static StringRef findNearest(StringRef text) {
  std::string lower = text.lower();
  unsigned limit = std::max<size_t>(1, text.size() / 4);
  StringRef nearest;
  auto consider = [&](StringRef known) {
    unsigned distance = StringRef(lower).edit_distance(known);
    if (distance <= limit && (nearest.empty() || distance < limit)) {
      nearest = known;
      limit = distance;
    }
  };
  for (const MachineDescription &machine : machines)
    consider(machine.name);
  consider("host");
  llvm::for_each(getGpuArchitectures(), consider);
  return nearest;
}

//===----------------------------------------------------------------------===//
// Figures by name
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name, the member and the least value of each figure.
template <typename Machine, typename Visitor>
static void forEachFigure(Machine &machine, Visitor visit) {
  visit("multiprocessors", machine.multiprocessors, 1);
  visit("shared_memory_bytes", machine.sharedMemoryBytes, 0);
  visit("cache_bytes", machine.cacheBytes, 0);
  visit("bandwidth", machine.bandwidth, 0);
  for (auto [i, peak] : llvm::enumerate(machine.matrixFlops))
    visit(("matrix_flops_" + getName(MatrixRate(i))).str(), peak, 0);
  visit("scalar_flops", machine.scalarFlops, 0);
  visit("clock", machine.clock, 0);
  visit("launch_seconds", machine.launchSeconds, 0);
}

static Attribute toAttribute(Builder &builder, int64_t value) {
  return builder.getI64IntegerAttr(value);
}
static Attribute toAttribute(Builder &builder, double value) {
  return builder.getF64FloatAttr(value);
}

static bool fromAttribute(Attribute attribute, int64_t &value, int64_t least) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 63)
    return false;
  value = integer.getValue().getSExtValue();
  return value >= least;
}
static bool fromAttribute(Attribute attribute, double &value, int64_t) {
  auto real = dyn_cast_or_null<FloatAttr>(attribute);
  if (!real)
    return false;
  value = real.getValueAsDouble();
  return std::isfinite(value) && value > 0;
}

static std::string describeFigure(int64_t, int64_t least) {
  return "a whole number of " + std::to_string(least) + " or more";
}
static std::string describeFigure(double, int64_t) {
  return "a positive number";
}

/// Reports an unknown figure, and lists the known ones.
static LogicalResult
reportUnknown(StringRef name, llvm::ArrayRef<StringRef> others,
              llvm::function_ref<InFlightDiagnostic()> emitError) {
  InFlightDiagnostic diagnostic = emitError() << "unknown figure '" << name
                                              << "' of a machine; known are ";
  for (StringRef other : others)
    diagnostic << "'" << other << "', ";
  MachineDescription machine;
  bool isFirst = true;
  forEachFigure(machine, [&](StringRef known, auto, int64_t) {
    diagnostic << (isFirst ? "'" : ", '") << known << "'";
    isFirst = false;
  });
  return diagnostic;
}

/// "host", "neoverse-v1", "sm_90a".
static bool isArchitecture(StringRef text) {
  if (isProcessor(text))
    return true;
  StringRef rest = text;
  if (!rest.consume_front("sm_"))
    return false;
  StringRef digits = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(digits.size());
  return digits.size() >= 2 && digits.size() <= 3 &&
         (rest.empty() || rest == "a" || rest == "f");
}

/// Reads the figures of an attribute; reports one that is missing or wrong.
static LogicalResult
readFigures(DictionaryAttr figures, MachineDescription &machine,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto architecture = figures.getAs<StringAttr>("architecture");
  if (!architecture)
    return emitError() << "a machine needs an 'architecture', such as "
                          "\"sm_90a\", \"x86-64-v3\" or \"host\"";
  if (!isArchitecture(architecture))
    return emitError() << "'architecture' is " << architecture
                       << ", but must be one such as \"sm_90a\", "
                          "\"x86-64-v3\" or \"host\"";
  machine.architecture = addSuffix(architecture);
  // The peak of TF32 may be omitted; the peak of 16-bit types bounds it.
  NamedAttrList all(figures);
  if (Attribute narrow = figures.get("matrix_flops_16");
      narrow && !figures.get("matrix_flops_tf32"))
    all.set("matrix_flops_tf32", narrow);
  // So may the figures of cost models.
  Builder builder(figures.getContext());
  for (auto [name, value] :
       {std::pair("clock", machine.clock),
        std::pair("launch_seconds", machine.launchSeconds)})
    if (!figures.get(name))
      all.set(name, builder.getF64FloatAttr(value));
  figures = all.getDictionary(figures.getContext());
  size_t known = 1;
  LogicalResult result = success();
  forEachFigure(machine, [&](StringRef name, auto &member, int64_t least) {
    Attribute figure = figures.get(name);
    if (fromAttribute(figure, member, least)) {
      ++known;
      return;
    }
    if (failed(result))
      return;
    std::string right = describeFigure(member, least);
    result = figure
                 ? emitError() << "'" << name << "' is " << figure
                               << ", but must be " << right
                 : emitError() << "a machine needs '" << name << "', " << right;
  });
  if (failed(result) || known == figures.size())
    return result;
  for (NamedAttribute figure : figures) {
    bool isKnown = figure.getName() == "architecture";
    forEachFigure(machine, [&](StringRef name, auto &, int64_t) {
      isKnown |= figure.getName() == name;
    });
    if (!isKnown)
      return reportUnknown(figure.getName(), {"architecture"}, emitError);
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
  if (name.empty())
    return emitError() << "a machine needs a name";
  if (figures)
    return readFigures(figures, machine, emitError);
  if (findMachine(name))
    return success();
  InFlightDiagnostic diagnostic = emitError()
                                  << "unknown machine '" << name << "'";
  if (StringRef nearest = findNearest(name); !nearest.empty())
    diagnostic << ", maybe you meant '" << nearest << "'";
  diagnostic << "; known are ";
  llvm::SmallVector<StringRef> architectures = getGpuArchitectures();
  for (const MachineDescription &known : machines)
    if (!llvm::is_contained(architectures, known.name))
      diagnostic << "'" << known.name << "', ";
  diagnostic << "'host', architectures (";
  llvm::interleaveComma(architectures, diagnostic);
  return diagnostic << "), processors by LLVM's names such as 'x86-64-v3', "
                       "machines described in a '.json' file, and for tools "
                       "'auto', what this machine has";
}

DictionaryAttr fact::getFigures(MLIRContext *context,
                                const MachineDescription &machine) {
  Builder builder(context);
  NamedAttrList figures;
  figures.set("architecture", builder.getStringAttr(machine.architecture));
  forEachFigure(machine, [&](StringRef name, auto value, int64_t) {
    figures.set(name, toAttribute(builder, value));
  });
  return figures.getDictionary(context);
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

/// The string under `key` of a JSON object; none if the key is absent.
static FailureOr<std::optional<StringRef>>
readText(const llvm::json::Object &object, StringRef key, StringRef right,
         llvm::function_ref<InFlightDiagnostic()> emitError) {
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return std::optional<StringRef>();
  if (auto text = value->getAsString())
    return std::optional<StringRef>(*text);
  return emitError() << "'" << key << "' is " << llvm::formatv("{0}", *value)
                     << ", but must be " << right;
}

/// Reads a machine from a JSON object: its name, an optional built-in machine
/// to start from, and figures.
static FailureOr<MachineAttr>
readMachine(MLIRContext *context, const llvm::json::Object &object,
            llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto name = readText(object, "name", "a string", emitError);
  auto base =
      readText(object, "base",
               "the name of a built-in machine, such as \"h200\"", emitError);
  auto architecture =
      readText(object, "architecture",
               "one such as \"sm_90a\", \"x86-64-v3\" or \"host\"", emitError);
  if (failed(name) || failed(base) || failed(architecture))
    return failure();
  if (!*name)
    return emitError() << "a machine needs a 'name'";
  Builder builder(context);
  NamedAttrList figures;
  if (*base) {
    const MachineDescription *start = findMachine(**base);
    if (!start)
      return emitError() << "unknown base '" << **base
                         << "': it is a built-in machine or an architecture";
    figures = getFigures(context, *start);
  }
  if (*architecture)
    figures.set("architecture", builder.getStringAttr(**architecture));
  MachineDescription types;
  for (const auto &entry : object) {
    StringRef figure = entry.first;
    const llvm::json::Value &value = entry.second;
    if (llvm::is_contained({"name", "base", "architecture"}, figure))
      continue;
    Attribute attribute;
    std::string right;
    forEachFigure(types, [&](StringRef known, auto member, int64_t least) {
      if (known != figure)
        return;
      right = describeFigure(member, least);
      if constexpr (std::is_same_v<decltype(member), int64_t>) {
        if (auto integer = value.getAsInteger())
          attribute = toAttribute(builder, *integer);
      } else if (auto number = value.getAsNumber()) {
        attribute = toAttribute(builder, *number);
      }
      if (attribute && !fromAttribute(attribute, member, least))
        attribute = {};
    });
    if (right.empty())
      return reportUnknown(figure, {"name", "base", "architecture"}, emitError);
    if (!attribute)
      return emitError() << "'" << figure << "' is "
                         << llvm::formatv("{0}", value) << ", but must be "
                         << right;
    figures.set(figure, attribute);
  }
  auto machine = MachineAttr::getChecked(emitError, context, **name,
                                         figures.getDictionary(context));
  if (!machine)
    return failure();
  return machine;
}

/// The nesting depth of JSON text. LLVM's parser recurses once per level.
static size_t getDepth(StringRef json) {
  size_t depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (c == '"')
      isString = !isString;
    else if (isString)
      i += c == '\\';
    else if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if ((c == ']' || c == '}') && depth)
      --depth;
  }
  return deepest;
}

FailureOr<MachineAttr>
MachineAttr::resolve(MLIRContext *context, StringRef text,
                     llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (text == "auto")
    return resolveLocalMachine(context, emitError);
  if (!text.ends_with(".json")) {
    const MachineDescription *known = findMachine(text);
    auto machine = MachineAttr::getChecked(
        emitError, context, known ? known->name : text, DictionaryAttr());
    if (!machine)
      return failure();
    return machine;
  }
  auto buffer = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
  if (!buffer)
    return emitError() << "cannot read machine '" << text
                       << "': " << buffer.getError().message();
  auto inFile = [&] { return emitError() << "'" << text << "': "; };
  constexpr size_t maximumDepth = 16;
  if (getDepth((*buffer)->getBuffer()) > maximumDepth)
    return inFile() << "is nested deeper than " << maximumDepth << " levels";
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
