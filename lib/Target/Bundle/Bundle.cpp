//===- Bundle.cpp - Write what tuning and linking need --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Bundle.h"
#include "Candidates.h"
#include "Verification.h"
#include "fact/Fusion/Fusibility.h"
#include "fact/Fusion/Problem.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Program/Kernels.h"
#include "fact/Program/Program.h"
#include "fact/Runtime/VerifierNumber.h"
#include "fact/Target/Reference.h"
#include "fact/Tuning/BundleFolder.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
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
static json::Object describeProblem(FusedOp fused, const Target &target) {
  patterns::Problem problem = getProblem(fused, target);
  json::Object extents;
  for (const auto &[name, extent] : problem.extents)
    extents[name] = extent;
  json::Object object{{"format", problem.format},
                      {"dtype", problem.dtype},
                      {"ops", problem.ops},
                      {"extents", std::move(extents)}};
  const Family *family = target.findFamily(fused.getRule());
  for (const ScheduleKind *kind : family->getScheduleKinds())
    if (!kind->cutlassExample.empty())
      object["example"] = kind->cutlassExample;
  return object;
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
  void describeSignature();
  json::Object describeValue(program::BufferOpInterface buffer);
  json::Array describeSteps(Region &launches);
  void describeProgram();

  ModuleOp module;
  const Target &target;
  StringRef folder;
  const BundleOptions &options;
  BundleSummary &summary;
  program::ModelOp model;
  /// By symbol, in the order of the bundle.
  llvm::MapVector<StringRef, program::KernelOp> kernelOps;
  std::vector<std::string> kernelNames;
  /// Positions of the distinct constants, and of the weights by name.
  llvm::DenseMap<Attribute, int64_t> constantIndices;
  llvm::StringMap<int64_t> weightIndices;
  /// Positions of the values that kernels read and write.
  llvm::DenseMap<Value, unsigned> valueIndices;
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
  entry.candidates = candidates.size();
  entry.microseconds = sol.getMicroseconds(target.getMachine());
  json::Object referenceObject{{reference.isObject ? "object" : "source", file},
                               {"symbol", symbol}};
  addCommandWords(referenceObject, reference);
  kernels.push_back(json::Object{{"name", name},
                                 {"rule", fused.getRule()},
                                 {"ops", json::Array(entry.ops)},
                                 {"problem", describeProblem(fused, target)},
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
  for (auto constant : model.getBody().getOps<program::ConstantOp>()) {
    ElementsAttr value = constant.getValue();
    if (!constantIndices.try_emplace(value, constants.size()).second)
      continue;
    FailureOr<std::string> bytes = serialise(value);
    if (failed(bytes))
      return constant.emitOpError("has no data that can be written");
    std::string file =
        "constants/" + std::to_string(constants.size()) + ".bin";
    if (failed(writeFile(file, *bytes)))
      return failure();
    json::Object entry = describeTensor(constant.getTensor());
    entry["data"] = file;
    constants.push_back(std::move(entry));
  }
  root["constants"] = std::move(constants);
  return success();
}

LogicalResult BundleWriter::describeWeights() {
  json::Array weights;
  for (auto [i, weight] : llvm::enumerate(module.getOps<WeightOp>())) {
    weightIndices[weight.getSymName()] = i;
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

void BundleWriter::describeSignature() {
  auto describe = [](ArrayRef<Type> types, ArrayAttr names) {
    json::Array tensors;
    for (auto [type, name] :
         llvm::zip_equal(types, names.getAsValueRange<StringAttr>())) {
      json::Object entry = describeTensor(type);
      entry["name"] = name;
      tensors.push_back(std::move(entry));
    }
    return tensors;
  };
  FunctionType signature = model.getSignature();
  root["inputs"] = describe(signature.getInputs(), model.getInputNames());
  root["outputs"] = describe(signature.getResults(), model.getOutputNames());
}

json::Object BundleWriter::describeValue(program::BufferOpInterface buffer) {
  auto at = [](StringRef kind, int64_t index) {
    return json::Object{{"kind", kind}, {"index", index}};
  };
  return llvm::TypeSwitch<Operation *, json::Object>(buffer)
      .Case([&](program::InputOp op) { return at("input", op.getIndex()); })
      .Case([&](program::OutputOp op) { return at("output", op.getIndex()); })
      .Case([&](program::WeightOp op) {
        return at("weight", weightIndices.at(op.getWeight()));
      })
      .Case([&](program::ConstantOp op) {
        return at("constant", constantIndices.at(op.getValue()));
      })
      .Case([&](program::AllocOp op) {
        return json::Object{{"kind", stringifyMemory(op.getMemory())},
                            {"offset", *op.getOffset()},
                            {"bytes", op.getBytes()}};
      });
}

json::Array BundleWriter::describeSteps(Region &launches) {
  json::Array steps;
  for (auto launch : launches.getOps<program::LaunchOp>()) {
    auto kernel = kernelOps.find(launch.getKernel());
    unsigned index = std::distance(kernelOps.begin(), kernel);
    json::Array operands, results;
    for (unsigned argument : kernel->second.getOperandArguments())
      operands.push_back(valueIndices.at(launch.getInputs()[argument]));
    for (Value result : launch.getOutputs())
      results.push_back(valueIndices.at(result));
    summary.kernels[index].steps++;
    steps.push_back(json::Object{{"kernel", kernelNames[index]},
                                 {"operands", std::move(operands)},
                                 {"results", std::move(results)}});
  }
  return steps;
}

void BundleWriter::describeProgram() {
  json::Array values;
  for (program::BufferOpInterface buffer : model.getBuffers()) {
    valueIndices[buffer->getResult(0)] = values.size();
    values.push_back(describeValue(buffer));
  }
  root["values"] = std::move(values);
  root["workspace_bytes"] = *model.getWorkspaceBytes();
  root["prepared_bytes"] = *model.getPreparedBytes();
  root["prepare"] = describeSteps(model.getPrepare().getBody());
  json::Array steps = describeSteps(model.getRun().getBody());
  summary.steps = steps.size();
  summary.workspaceBytes = *model.getWorkspaceBytes();
  root["program"] = std::move(steps);
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

static LogicalResult checkNames(ModuleOp module, program::ModelOp model) {
  for (WeightOp weight : module.getOps<WeightOp>())
    if (failed(checkName("this weight", weight.getSymName(),
                         [&] { return weight.emitError(); })))
      return failure();
  auto check = [&](StringRef what, ArrayAttr names) {
    for (auto [i, name] :
         llvm::enumerate(names.getAsValueRange<StringAttr>()))
      if (failed(checkName((what + Twine(i)).str(), name,
                           [&] { return model.emitError(); })))
        return failure();
    return success();
  };
  return success(succeeded(check("input ", model.getInputNames())) &&
                 succeeded(check("output ", model.getOutputNames())));
}

LogicalResult BundleWriter::write() {
  auto models = module.getOps<program::ModelOp>();
  assert(llvm::hasSingleElement(models) && "--fact-outline-program has run");
  model = *models.begin();
  assert(model.getWorkspaceBytes() && "--fact-plan-memory has run");
  for (auto kernel : module.getOps<program::KernelOp>())
    kernelOps[kernel.getSymName()] = kernel;
  if (failed(checkNames(module, model)))
    return failure();

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
  describeSignature();
  if (failed(describeWeights()) || failed(writeConstants()))
    return failure();
  for (auto [i, kernel] : llvm::enumerate(kernelOps))
    if (failed(writeKernel(i, kernel.second.getFused())))
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
