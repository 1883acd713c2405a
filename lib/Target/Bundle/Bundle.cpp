//===- Bundle.cpp - Write what tuning and linking need --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Bundle.h"
#include "Candidates.h"
#include "Program.h"
#include "Verification.h"
#include "fact/Analysis/Fusibility.h"
#include "fact/Analysis/Problem.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Runtime/VerifierNumber.h"
#include "fact/Target/Reference.h"
#include "fact/Tuning/BundleFolder.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
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

/// The extra words of a kernel's commands.
static void addCommandWords(json::Object &entry, const KernelCode &code) {
  if (!code.flags.empty())
    entry["flags"] = json::Array(code.flags);
  if (!code.link.empty())
    entry["link"] = json::Array(code.link);
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
  LogicalResult writeCandidates(const Plan &plan, StringRef name,
                                StringRef symbolBase, json::Array &candidates);
  std::string getSymbolBase(FusedOp fused);
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
  llvm::StringSet<> symbolBases;
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

/// Symbols of a kernel begin with its content's name. Kernels that differ only
/// in their spaces are told apart by a number.
std::string BundleWriter::getSymbolBase(FusedOp fused) {
  std::string base = getContentName(fused), unique = base;
  for (unsigned number = 2; !symbolBases.insert(unique).second; ++number)
    unique = base + "_" + std::to_string(number);
  return unique;
}

LogicalResult BundleWriter::writeCandidates(const Plan &plan, StringRef name,
                                            StringRef symbolBase,
                                            json::Array &candidates) {
  std::vector<Candidate> selected =
      selectCandidates(plan, options.candidates, options.wholeLists);
  // What shares an object is one file, named by the first of them.
  std::map<std::string, SmallVector<size_t>> objects;
  SmallVector<KernelVariant> variants;
  for (const Candidate &candidate : selected) {
    std::string key = candidate.schedule.getKey();
    objects[plan.getObjectKey(candidate.schedule)].push_back(variants.size());
    variants.push_back(
        {candidate.schedule, (symbolBase + "_" + getShortHash(key)).str()});
  }
  std::vector<json::Object> entries(variants.size());
  auto emit = [&](ArrayRef<size_t> members) -> LogicalResult {
    KernelCode code;
    if (failed(plan.emit(
            llvm::map_to_vector(members, [&](size_t i) { return variants[i]; }),
            code)))
      return failure();
    std::string file =
        ("kernels/" + name + "/" + std::to_string(members.front()) +
         (code.isObject ? ".o" : target.getSourceSuffix()))
            .str();
    if (failed(writeFile(file, code.text)))
      return failure();
    for (size_t i : members) {
      entries[i] = json::Object{{"key", variants[i].schedule.getKey()},
                                {code.isObject ? "object" : "source", file},
                                {"symbol", variants[i].symbol},
                                {"predicted_us", selected[i].predicted}};
      addCommandWords(entries[i], code);
    }
    return success();
  };
  SmallVector<SmallVector<size_t>> groups =
      llvm::map_to_vector(objects, [](auto &entry) { return entry.second; });
  LogicalResult emitted =
      plan.compiles()
          ? failableParallelForEach(module.getContext(), groups, emit)
          : success(llvm::all_of(groups, [&](ArrayRef<size_t> members) {
              return succeeded(emit(members));
            }));
  if (failed(emitted))
    return failure();
  for (json::Object &entry : entries)
    candidates.push_back(std::move(entry));
  return success();
}

LogicalResult BundleWriter::writeKernel(unsigned index, FusedOp fused) {
  if (Fusibility(target).check(fused, [&] { return fused.emitOpError(); }))
    return failure();
  FailureOr<std::unique_ptr<Plan>> plan =
      target.plan(fused, [&] { return fused.emitOpError(); });
  if (failed(plan))
    return failure();
  std::string name = getKernelName(fused, index);
  kernelNames.push_back(name);

  BundleSummary::Kernel entry{name, fused.getRule().str(), {}, 0, 0, 0};
  for (Operation &op : fused.getBodyOps())
    if (!isa<ConstantOp>(op))
      entry.ops.push_back(op.getName().stripDialect().str());

  json::Array candidates;
  std::string symbolBase = getSymbolBase(fused);
  if (failed(writeCandidates(**plan, name, symbolBase, candidates)))
    return failure();

  KernelCode reference;
  std::string symbol = symbolBase + "_reference";
  std::string file =
      "kernels/" + name + "/reference" + target.getSourceSuffix().str();
  if (failed(emitReference(fused, symbol, reference)) ||
      failed(writeFile(file, reference.text)))
    return failure();

  SpeedOfLight sol = getSpeedOfLight(fused);
  patterns::Problem problem =
      getProblem(fused, target.getMachine().architecture);
  entry.candidates = candidates.size();
  entry.microseconds = sol.getMicroseconds(target.getMachine());
  json::Object referenceObject{{reference.isObject ? "object" : "source", file},
                               {"symbol", symbol}};
  addCommandWords(referenceObject, reference);
  kernels.push_back(json::Object{{"name", name},
                                 {"rule", fused.getRule()},
                                 {"ops", json::Array(entry.ops)},
                                 {"problem", describeProblem(problem)},
                                 {"operands", describeOperands(fused, target)},
                                 {"results", describeResults(fused)},
                                 {"flops", sol.getFlops()},
                                 {"bytes", sol.bytes},
                                 {"sol_us", entry.microseconds},
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
  for (auto [i, weight] : llvm::enumerate(program.weights)) {
    json::Object entry = describeTensor(weight.getType());
    entry["name"] = weight.getSymName();
    if (weight.getBaked()) {
      FailureOr<std::string> bytes = serialise(*weight.getValue());
      if (failed(bytes))
        return weight.emitOpError(
            "is baked and has no data that can be hashed");
      entry["baked"] = fnv1a64(*bytes);
      // For the check of the linked library.
      std::string file = "weights/" + std::to_string(i) + ".bin";
      if (failed(writeFile(file, *bytes)))
        return failure();
      entry["data"] = file;
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

/// Names are keys of JSON and strings of the C interface, where they end at a
/// zero byte. Control characters are escaped wherever a name is shown.
static LogicalResult checkName(StringRef what, StringRef name, EmitError emit) {
  StringRef problem = name.empty()           ? "is empty"
                      : !json::isUTF8(name)  ? "is not UTF-8"
                      : name.contains('\0') ? "has a zero byte"
                                             : "";
  if (problem.empty())
    return success();
  std::string shown;
  llvm::raw_string_ostream stream(shown);
  llvm::printEscapedString(name, stream);
  return emit() << "the name of " << what << ", '" << shown << "', " << problem
                << "; rename it";
}

static LogicalResult checkNames(ModuleOp module, func::FuncOp function) {
  for (WeightOp weight : module.getOps<WeightOp>())
    if (failed(checkName("this weight", weight.getSymName(),
                         [&] { return weight.emitError(); })))
      return failure();
  auto check = [&](StringRef what, unsigned index, Attribute attribute) {
    auto name = dyn_cast_or_null<StringAttr>(attribute);
    return name ? checkName((what + Twine(index)).str(), name,
                            [&] { return function.emitError(); })
                : success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(check("input ", i, function.getArgAttr(i, "fact.name"))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(check("output ", i, function.getResultAttr(i, "fact.name"))))
      return failure();
  return success();
}

LogicalResult BundleWriter::write() {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1)
    return module.emitError("a bundle is made of one function, and the module "
                            "has ")
           << functions.size();
  if (failed(checkSignature(functions.front())) ||
      failed(checkNames(module, functions.front())))
    return failure();
  FailureOr<Program> built = buildProgram(module, functions.front());
  if (failed(built))
    return failure();
  program = std::move(*built);

  root["format"] = 2;
  root["magic"] = tuning::bundleMagic;
  root["name"] = options.name;
  json::Object described{{"kind", target.getKind()},
                         {"arch", target.getMachine().architecture},
                         {"machine", target.getMachine().name}};
  if (std::optional<Target::Processor> processor = target.getProcessor())
    described["cpu"] =
        json::Object{{"architecture", processor->architecture},
                     {"name", processor->name},
                     {"features", json::Array(processor->features)}};
  root["target"] = std::move(described);
  root["versions"] =
      json::Object{{"fact", FACT_VERSION},
                   {"llvm", LLVM_VERSION_STRING},
                   {"verifier", std::to_string(runtime::verifierNumber)}};
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

LogicalResult fact::writeBundle(ModuleOp module, const Target &target,
                                StringRef folder, const BundleOptions &options,
                                BundleSummary &summary) {
  tuning::BundleFolder written;
  if (std::string error = written.open(folder.str()); !error.empty())
    return module.emitError(error);
  std::string aside = written.getAside().string();
  if (failed(BundleWriter(module, target, aside, options, summary).write()))
    return failure();
  // Measurements outlive the bundle they were made for: they are keyed by the
  // content of kernels.
  if (std::string error = written.commit(); !error.empty())
    return module.emitError(error);
  return success();
}
