//===- Bundle.cpp - Write what tuning and linking need --------------------===//

#include "fact/Target/Bundle.h"
#include "Program.h"
#include "fact/Analysis/Fusibility.h"
#include "fact/Analysis/Problem.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace fact;
namespace json = llvm::json;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Values as bytes
//===----------------------------------------------------------------------===//

/// The bytes of a tensor as libraries receive it: little-endian elements,
/// booleans one byte each.
static FailureOr<std::string> serialise(ElementsAttr attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return failure();
    return std::string(blob->getData().begin(), blob->getData().end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return failure();
  std::string bytes;
  auto append = [&](const APInt &value) {
    uint64_t word = value.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word),
                 (value.getBitWidth() + 7) / 8);
  };
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &value : dense.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : dense.getValues<APInt>())
      append(value);
  return bytes;
}

static std::string fnv1a64(StringRef bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  std::string text;
  llvm::raw_string_ostream(text)
      << "fnv1a64:" << llvm::format_hex_no_prefix(hash, 16);
  return text;
}

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text)
      << cast<RankedTensorType>(type).getElementType();
  return text;
}

static json::Object describeTensor(Type type) {
  return json::Object{
      {"type", typeName(type)},
      {"shape", json::Array(cast<RankedTensorType>(type).getShape())}};
}

//===----------------------------------------------------------------------===//
// Tolerances and inputs of a kernel
//===----------------------------------------------------------------------===//

/// The longest sum in a region.
static int64_t reductionLength(FusedOp fused) {
  int64_t length = 1;
  for (Operation &op : fused.getBodyOps()) {
    if (auto matmul = dyn_cast<MatmulOp>(op))
      length = std::max(length, matmul.getK());
    else if (auto attention = dyn_cast<AttentionOp>(op))
      length = std::max({length, attention.getKey().getType().getDimSize(2),
                         attention.getKey().getType().getDimSize(3)});
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      length = std::max(
          length, reduce.getOperand().getType().getNumElements() /
                      std::max<int64_t>(1, reduce.getType().getNumElements()));
    else if (isa<NormOp, SoftmaxOp>(op))
      length = std::max(
          length,
          cast<RankedTensorType>(op.getResult(0).getType()).getShape().back());
  }
  return length;
}

/// Errors of sums grow with the square root of their length in f32; a 16-bit
/// result adds its own rounding, and once more for operands of contractions
/// inside of the region. Attention rounds its probabilities: an early row of a
/// causal mask averages few values, and its error is that of a single value,
/// while most rows, and so the rms, are smaller by the root of the keys.
///
/// Integers and booleans are exact, unless they decide between values that the
/// region rounds: then the share of elements may differ whose margin is below
/// the error. Random values fall there about as often as the error is large.
static json::Object getTolerance(FusedOp fused) {
  constexpr double epsilon32 = 1.1920929e-07;
  double sum = epsilon32 * (2 + std::sqrt(double(reductionLength(fused))));
  double norm = 4 * sum, element = 16 * sum;
  for (Type type : fused.getResultTypes()) {
    Type elementType = cast<RankedTensorType>(type).getElementType();
    double rounding = elementType.isBF16()  ? 0x1p-8
                      : elementType.isF16() ? 0x1p-11
                                            : 0;
    norm = std::max(norm, 2 * rounding);
    element = std::max(element, 4 * rounding);
    for (AttentionOp attention : fused.getBody().getOps<AttentionOp>()) {
      double keys = double(attention.getKey().getType().getDimSize(2));
      element = std::max(element, rounding * (4 + std::sqrt(keys) / 2));
    }
  }
  json::Object tolerance{{"norm", norm}, {"element", element}};
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  bool rounds = llvm::any_of(fused.getBodyOps(), [&](Operation &op) {
    return !isa<ConstantOp>(op) && llvm::any_of(op.getResultTypes(), isFloat);
  });
  if (rounds && !llvm::all_of(fused.getResultTypes(), isFloat))
    tolerance["mismatch"] = element;
  return tolerance;
}

/// Operands are random; one that a contraction multiplies with is scaled so
/// that results stay near 1, where activation functions are not flat.
static json::Array describeOperands(FusedOp fused) {
  json::Array operands;
  for (BlockArgument argument : fused.getBody().getArguments()) {
    json::Object operand = describeTensor(argument.getType());
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    if (isa<FloatType>(element)) {
      double scale = 1;
      for (OpOperand &use : argument.getUses())
        if (auto matmul = dyn_cast<MatmulOp>(use.getOwner());
            matmul && use.getOperandNumber() == 1)
          scale = 1 / std::sqrt(double(matmul.getK()));
      operand["scale"] = scale;
    } else if (!element.isInteger(1)) {
      // Indices stay inside of what they name.
      int64_t high = 16;
      for (OpOperand &use : argument.getUses())
        if (auto gather = dyn_cast<GatherOp>(use.getOwner());
            gather && use.getOperandNumber() == 1)
          high = gather.getSource().getType().getDimSize(gather.getDim());
      operand["fill"] = "uniform";
      operand["low"] = 0;
      operand["high"] = high;
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

/// What the registry keeps results under.
static json::Object describeProblem(const patterns::Problem &problem) {
  json::Object extents;
  for (const auto &[name, extent] : problem.extents)
    extents[name] = extent;
  return json::Object{{"dtype", problem.dtype},
                      {"ops", problem.ops},
                      {"extents", std::move(extents)}};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
class BundleWriter {
public:
  BundleWriter(ModuleOp module, const Target &target, StringRef folder,
               const BundleOptions &options, BundleSummary &summary)
      : module(module), target(target), folder(folder), options(options),
        summary(summary) {}

  LogicalResult write();

private:
  LogicalResult writeFile(StringRef name, StringRef text);
  LogicalResult writeKernel(unsigned index, FusedOp fused);
  LogicalResult writeCandidates(const Realiser &realiser, FusedOp fused,
                                StringRef name, json::Array &candidates);
  LogicalResult writeConstants();
  LogicalResult describeWeights();
  void describeSignature(func::FuncOp function);
  void describeProgram();
  json::Array describeSteps(ArrayRef<Step> steps);

  ModuleOp module;
  const Target &target;
  StringRef folder;
  const BundleOptions &options;
  BundleSummary &summary;
  Program program;
  std::vector<std::string> kernelNames;
  json::Object root;
  json::Array kernels;
};
} // namespace

LogicalResult BundleWriter::writeFile(StringRef name, StringRef text) {
  SmallString<256> file(folder);
  path::append(file, name);
  auto fail = [&](std::error_code error) {
    return module.emitError("cannot write '")
           << file << "': " << error.message();
  };
  if (std::error_code error = fs::create_directories(path::parent_path(file)))
    return fail(error);
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (error)
    return fail(error);
  stream << text;
  stream.close();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return fail(error);
  }
  return success();
}

LogicalResult BundleWriter::writeCandidates(const Realiser &realiser,
                                            FusedOp fused, StringRef name,
                                            json::Array &candidates) {
  SmallVector<ScheduleAttrInterface> schedules, fixed;
  bool isList = false;
  if (auto chosen = fused.getSchedule())
    schedules.push_back(cast<ScheduleAttrInterface>(*chosen));
  else {
    Attribute space =
        fused.getSpace() ? *fused.getSpace() : realiser.getDefaultSpace(fused);
    isList = isa<SchedulesAttr>(space);
    schedules = cast<SpaceAttrInterface>(space).enumerate();
    fixed = realiser.getFixedSchedules(fused);
    llvm::append_range(schedules, fixed);
  }
  // Ties keep the order of the space.
  SmallVector<std::tuple<double, size_t, ScheduleAttrInterface>> legal;
  {
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    for (ScheduleAttrInterface schedule : schedules)
      if (succeeded(realiser.checkSchedule(
              fused, schedule, target.getMachine(),
              [&] { return fused.emitOpError(); })))
        legal.emplace_back(realiser.predictMicroseconds(fused, schedule),
                           legal.size(), schedule);
  }
  assert(!legal.empty() && "Fusibility has found one");
  // A vendor's library costs little to try and is what users compare with: it
  // ranks with the best. A list is in the order in which to try it.
  double best =
      std::get<0>(*llvm::min_element(legal, [](const auto &a, const auto &b) {
        return std::get<0>(a) < std::get<0>(b);
      }));
  for (auto &[predicted, order, schedule] : legal)
    if (llvm::is_contained(fixed, schedule))
      predicted = std::min(predicted, best);
  if (isList)
    std::stable_partition(legal.begin() + 1, legal.end(), [&](auto &each) {
      return llvm::is_contained(fixed, std::get<2>(each));
    });
  else
    llvm::sort(legal, [](const auto &a, const auto &b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) <
             std::tie(std::get<0>(b), std::get<1>(b));
    });
  size_t limit =
      isList && options.wholeLists ? legal.size() : options.candidates;
  // What shares an object is one file, named by the first of them.
  llvm::StringSet<> seen;
  std::map<std::string, SmallVector<size_t>> objects;
  SmallVector<KernelVariant> variants;
  SmallVector<double> predictions;
  for (auto [predicted, order, schedule] : legal) {
    if (variants.size() == limit)
      break;
    if (!seen.insert(schedule.getKey()).second)
      continue;
    objects[realiser.getObjectKey(schedule)].push_back(variants.size());
    predictions.push_back(predicted);
    variants.push_back(
        {schedule, (name + "_" + std::to_string(variants.size())).str()});
  }
  std::vector<json::Object> entries(variants.size());
  auto emit = [&](ArrayRef<size_t> members) -> LogicalResult {
    std::string file =
        ("kernels/" + name + "/" + std::to_string(members.front())).str() +
        target.getCandidateSuffix().str();
    KernelCode code;
    if (failed(realiser.emitVariants(
            fused,
            llvm::map_to_vector(members, [&](size_t i) { return variants[i]; }),
            code)) ||
        failed(writeFile(file, code.text)))
      return failure();
    for (size_t i : members) {
      entries[i] = json::Object{{"key", variants[i].schedule.getKey()},
                                {code.isObject ? "object" : "source", file},
                                {"symbol", variants[i].symbol},
                                {"predicted_us", predictions[i]}};
      if (!code.flags.empty())
        entries[i]["flags"] = json::Array(code.flags);
      if (!code.link.empty())
        entries[i]["link"] = json::Array(code.link);
    }
    return success();
  };
  // Text is written at once; objects are compiled here, by all processors.
  SmallVector<SmallVector<size_t>> groups =
      llvm::map_to_vector(objects, [](auto &entry) { return entry.second; });
  bool compiles = target.getCandidateSuffix() == ".o";
  if (compiles &&
      failed(failableParallelForEach(module.getContext(), groups, emit)))
    return failure();
  if (!compiles)
    for (ArrayRef<size_t> members : groups)
      if (failed(emit(members)))
        return failure();
  for (json::Object &entry : entries)
    candidates.push_back(std::move(entry));
  return success();
}

LogicalResult BundleWriter::writeKernel(unsigned index, FusedOp fused) {
  if (Fusibility(target).check(fused, [&] { return fused.emitOpError(); }))
    return failure();
  const Realiser *realiser = target.findRealiser(fused.getRule());
  std::string name = getKernelName(fused, index);
  kernelNames.push_back(name);

  BundleSummary::Kernel entry{name, fused.getRule().str(), {}, 0, 0, 0};
  for (Operation &op : fused.getBodyOps())
    if (!isa<ConstantOp>(op))
      entry.ops.push_back(op.getName().stripDialect().str());

  json::Array candidates;
  if (failed(writeCandidates(*realiser, fused, name, candidates)))
    return failure();

  KernelCode reference;
  std::string symbol = name + "_reference";
  std::string file =
      "kernels/" + name + "/reference" + target.getReferenceSuffix().str();
  if (failed(target.emitReference(fused, symbol, reference)) ||
      failed(writeFile(file, reference.text)))
    return failure();

  json::Array results;
  for (Type type : fused.getResultTypes())
    results.push_back(describeTensor(type));
  SpeedOfLight sol = getSpeedOfLight(fused);
  patterns::Problem problem =
      getProblem(fused, target.getMachine().architecture);
  entry.candidates = candidates.size();
  entry.microseconds = sol.getMicroseconds(target.getMachine());
  json::Object referenceObject{{reference.isObject ? "object" : "source", file},
                               {"symbol", symbol}};
  if (!reference.flags.empty())
    referenceObject["flags"] = json::Array(reference.flags);
  if (!reference.link.empty())
    referenceObject["link"] = json::Array(reference.link);
  kernels.push_back(json::Object{{"name", name},
                                 {"rule", fused.getRule()},
                                 {"ops", json::Array(entry.ops)},
                                 {"problem", describeProblem(problem)},
                                 {"operands", describeOperands(fused)},
                                 {"results", std::move(results)},
                                 {"flops", sol.getFlops()},
                                 {"bytes", sol.bytes},
                                 {"sol_us", entry.microseconds},
                                 {"tolerance", getTolerance(fused)},
                                 {"reference", std::move(referenceObject)},
                                 {"candidates", std::move(candidates)}});
  summary.kernels.push_back(std::move(entry));
  return success();
}

LogicalResult BundleWriter::writeConstants() {
  json::Array constants;
  for (auto [i, constant] : llvm::enumerate(program.constants)) {
    FailureOr<std::string> bytes = serialise(constant.getValue());
    if (failed(bytes))
      return constant.emitOpError("has no data that can be written");
    std::string file = "constants/" + std::to_string(i) + ".bin";
    if (failed(writeFile(file, *bytes)))
      return failure();
    json::Object entry = describeTensor(constant.getType());
    entry["data"] = file;
    constants.push_back(std::move(entry));
  }
  root["constants"] = std::move(constants);
  return success();
}

LogicalResult BundleWriter::describeWeights() {
  json::Array weights;
  for (WeightOp weight : program.weights) {
    json::Object entry = describeTensor(weight.getType());
    entry["name"] = weight.getSymName();
    if (weight.getBaked()) {
      FailureOr<std::string> bytes = serialise(*weight.getValue());
      if (failed(bytes))
        return weight.emitOpError(
            "is baked and has no data that can be hashed");
      entry["baked"] = fnv1a64(*bytes);
    }
    weights.push_back(std::move(entry));
  }
  root["weights"] = std::move(weights);
  return success();
}

void BundleWriter::describeSignature(func::FuncOp function) {
  auto describe = [&](Type type, StringAttr name, const Twine &fallback) {
    json::Object entry = describeTensor(type);
    entry["name"] = name ? name.str() : fallback.str();
    return entry;
  };
  json::Array inputs, outputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    inputs.push_back(
        describe(type, function.getArgAttrOfType<StringAttr>(i, "fact.name"),
                 "input" + Twine(i)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    outputs.push_back(
        describe(type, function.getResultAttrOfType<StringAttr>(i, "fact.name"),
                 "output" + Twine(i)));
  root["inputs"] = std::move(inputs);
  root["outputs"] = std::move(outputs);
}

json::Array BundleWriter::describeSteps(ArrayRef<Step> steps) {
  json::Array list;
  for (const Step &step : steps) {
    summary.kernels[step.kernel].steps++;
    list.push_back(json::Object{{"kernel", kernelNames[step.kernel]},
                                {"operands", json::Array(step.operands)},
                                {"results", json::Array(step.results)}});
  }
  return list;
}

void BundleWriter::describeProgram() {
  static constexpr StringLiteral kinds[] = {"input",    "weight",    "constant",
                                            "prepared", "workspace", "output"};
  json::Array values;
  for (const Storage &storage : program.values) {
    json::Object value{{"kind", kinds[storage.kind]}};
    if (storage.kind == Storage::prepared ||
        storage.kind == Storage::workspace) {
      value["offset"] = storage.offset;
      value["bytes"] = storage.bytes;
    } else {
      value["index"] = storage.index;
    }
    values.push_back(std::move(value));
  }
  root["values"] = std::move(values);
  root["workspace_bytes"] = program.workspaceBytes;
  root["prepared_bytes"] = program.preparedBytes;
  root["prepare"] = describeSteps(program.prepare);
  root["program"] = describeSteps(program.steps);
  summary.steps = program.steps.size();
  summary.workspaceBytes = program.workspaceBytes;
}

/// A model has a body and takes and gives tensors of known shape.
static LogicalResult checkSignature(func::FuncOp function) {
  if (function.isExternal())
    return function.emitError("has no body: a model is a function that "
                              "computes");
  auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  FunctionType type = function.getFunctionType();
  for (Type each :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isTensor(each))
      return function.emitError("takes or gives ")
             << each << ", and a model's inputs and outputs are tensors of "
             << "known shape";
  return success();
}

LogicalResult BundleWriter::write() {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1)
    return module.emitError("a bundle is made of one function, and the module "
                            "has ")
           << functions.size();
  if (failed(checkSignature(functions.front())))
    return failure();
  FailureOr<Program> built = buildProgram(module, functions.front());
  if (failed(built))
    return failure();
  program = std::move(*built);

  root["format"] = 1;
  root["name"] = options.name;
  root["target"] = json::Object{{"kind", target.getKind()},
                                {"arch", target.getMachine().architecture},
                                {"machine", target.getMachine().name}};
  root["versions"] =
      json::Object{{"fact", FACT_VERSION}, {"llvm", LLVM_VERSION_STRING}};
  if (auto signature = module->getAttrOfType<StringAttr>("fact.signature"))
    root["signature"] = signature.getValue();
  describeSignature(functions.front());
  if (failed(describeWeights()) || failed(writeConstants()))
    return failure();
  for (auto [i, fused] : llvm::enumerate(program.kernels))
    if (failed(writeKernel(i, fused)))
      return failure();
  describeProgram();
  root["kernels"] = std::move(kernels);
  Target::Commands commands = target.getCommands();
  root["commands"] =
      json::Object{{"compile", json::Array(commands.compile)},
                   {"link", json::Array(commands.link)},
                   {"link_program", json::Array(commands.linkProgram)}};
  for (const auto &[name, text] : target.getBundleFiles())
    if (failed(writeFile(name, text)))
      return failure();
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", json::Value(std::move(root))) << "\n";
  return writeFile("bundle.json", text);
}

/// Only a bundle, or nothing, is written over.
static LogicalResult checkReplaceable(ModuleOp module, StringRef folder) {
  if (!fs::exists(folder))
    return success();
  SmallString<256> manifest(folder);
  path::append(manifest, "bundle.json");
  bool isEmpty = false;
  if (fs::is_directory(folder)) {
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    isEmpty = !error && entry == fs::directory_iterator();
  }
  if (isEmpty || fs::exists(manifest))
    return success();
  return module.emitError("'") << folder
                               << "' exists and is not a bundle; name another "
                                  "folder with --bundle";
}

LogicalResult fact::writeBundle(ModuleOp module, const Target &target,
                                StringRef folder, const BundleOptions &options,
                                BundleSummary &summary) {
  folder = folder.rtrim('/');
  if (failed(checkReplaceable(module, folder)))
    return failure();
  std::string aside = (folder + ".writing").str();
  fs::remove_directories(aside);
  BundleWriter writer(module, target, aside, options, summary);
  if (failed(writer.write())) {
    fs::remove_directories(aside);
    return failure();
  }
  // Measurements outlive the bundle they were made for: they are keyed by the
  // content of kernels.
  SmallString<256> database(folder), kept(aside);
  path::append(database, "tuning.sqlite");
  path::append(kept, "tuning.sqlite");
  if (fs::exists(database))
    fs::copy_file(database, kept);
  fs::remove_directories(folder);
  if (std::error_code error = fs::rename(aside, folder)) {
    fs::remove_directories(aside);
    return module.emitError("cannot write '")
           << folder << "': " << error.message();
  }
  return success();
}
