//===- Bundle.cpp - Write what tuning and linking need --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Bundle.h"
#include "Candidates.h"
#include "TensorBytes.h"
#include "Verification.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Fusion/Fusibility.h"
#include "fact/Fusion/Problem.h"
#include "fact/Program/Kernels.h"
#include "fact/Program/Program.h"
#include "fact/Runtime/Text.h"
#include "fact/Runtime/VerifierNumber.h"
#include "fact/Support/Version.h"
#include "fact/Target/Reference.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/BundleFolder.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace fact;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The key of a kernel's results in the registry.
static tuning::Problem describeProblem(const Plan &plan, const Target &target) {
  registry::Problem known = getProblem(plan.getRegion(), target);
  tuning::Problem problem{known.format, known.dtype, known.ops, known.extents,
                          ""};
  for (const ScheduleKind *kind : plan.getFamily().getScheduleKinds())
    if (!kind->cutlassExample.empty())
      problem.example = kind->cutlassExample;
  return problem;
}

namespace {
class BundleWriter {
public:
  BundleWriter(ModuleOp module, const Target &target, StringRef folder,
               const BundleOptions &options, BundleSummary &summary)
      : module(module), target(target), options(options), summary(summary) {
    bundle.folder = folder.str();
  }

  LogicalResult write();

private:
  LogicalResult writeFile(StringRef name, StringRef text);
  LogicalResult writeCode(const KernelCode &code, const Twine &name,
                          StringRef symbol, tuning::KernelSource &source);
  LogicalResult writeKernel(unsigned index, FusedOp fused, unsigned limit);
  LogicalResult writeFallback(FusedOp fused, StringRef symbolBase,
                              tuning::Kernel &kernel);
  /// `nameOf` is the file of an object, without suffix. Sets the code of the
  /// candidates.
  LogicalResult writeObjects(ArrayRef<EmittedObject> objects,
                             llvm::function_ref<std::string(size_t)> nameOf,
                             std::vector<tuning::Candidate> &candidates);
  LogicalResult writeCandidates(const Plan &plan, ArrayRef<Candidate> selected,
                                StringRef symbolBase, tuning::Kernel &kernel);
  LogicalResult writeProduct(const Plan &plan, ArrayRef<Candidate> selected,
                             tuning::Kernel &kernel);
  LogicalResult writeConstants();
  LogicalResult describeWeights();
  void describeTarget();
  void describeSignature();
  tuning::Value describeValue(program::BufferOpInterface buffer);
  std::vector<tuning::Value> describeValues(program::ModelOp from);
  std::vector<tuning::Step> describeSteps(Region &launches);
  void describeProgram();
  void describeAlternatives();

  ModuleOp module;
  const Target &target;
  const BundleOptions &options;
  BundleSummary &summary;
  tuning::Bundle bundle;
  program::ModelOp model;
  /// By symbol, in the order of the bundle.
  llvm::MapVector<StringRef, program::KernelOp> kernelOps;
  /// Positions of the distinct constants, and of the weights by name.
  llvm::DenseMap<Attribute, uint32_t> constantIndices;
  llvm::StringMap<uint32_t> weightIndices;
  /// Positions of the values that kernels read and write.
  llvm::DenseMap<Value, uint32_t> valueIndices;
};
} // namespace

LogicalResult BundleWriter::writeFile(StringRef name, StringRef text) {
  SmallString<256> file(bundle.folder.string());
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

/// `name` has no suffix.
LogicalResult BundleWriter::writeCode(const KernelCode &code, const Twine &name,
                                      StringRef symbol,
                                      tuning::KernelSource &source) {
  std::string file =
      (name + (code.isObject ? ".o" : target.getSourceSuffix())).str();
  (code.isObject ? source.object : source.source) = bundle.folder / file;
  source.symbol = symbol.str();
  source.flags = code.flags;
  source.link = code.link;
  return writeFile(file, code.text);
}

LogicalResult
BundleWriter::writeObjects(ArrayRef<EmittedObject> objects,
                           llvm::function_ref<std::string(size_t)> nameOf,
                           std::vector<tuning::Candidate> &candidates) {
  for (auto [index, object] : llvm::enumerate(objects)) {
    tuning::KernelSource source;
    if (failed(writeCode(object.code, nameOf(index), object.symbols.front(),
                         source)))
      return failure();
    for (auto [position, i] : llvm::enumerate(object.members)) {
      tuning::Candidate &candidate = candidates[i];
      static_cast<tuning::KernelSource &>(candidate) = source;
      candidate.symbol = object.symbols[position];
      if (object.isSized())
        candidate.sizes = object.code.sizes[position];
    }
  }
  return success();
}

LogicalResult BundleWriter::writeCandidates(const Plan &plan,
                                            ArrayRef<Candidate> selected,
                                            StringRef symbolBase,
                                            tuning::Kernel &kernel) {
  FailureOr<std::vector<EmittedObject>> objects =
      emitCandidates(plan, selected, symbolBase);
  if (failed(objects))
    return failure();
  kernel.candidates = describeCandidates(selected);
  return writeObjects(
      *objects,
      [&](size_t i) {
        return "kernels/" + kernel.name + "/" +
               std::to_string((*objects)[i].members.front());
      },
      kernel.candidates);
}

/// Adds the kernel's contraction alone, with the same schedules, where one
/// object serves all sizes. Refinement wants all of a list measured, in no
/// other order.
LogicalResult BundleWriter::writeProduct(const Plan &plan,
                                         ArrayRef<Candidate> selected,
                                         tuning::Kernel &kernel) {
  tuning::Product product;
  FusedOp fused = plan.getRegion();
  if (options.wholeLists || selected.size() < 2)
    return success();
  OwningOpRef<FusedOp> alone = isolateContraction(fused, product.operands);
  if (!alone)
    return success();
  FailureOr<std::unique_ptr<Plan>> own =
      plan.getFamily().plan(*alone, target.getMachine(), Silence(fused));
  if (failed(own) || ((*own)->compiles() && !options.products))
    return success();
  std::vector<Candidate> legal;
  llvm::copy_if(
      selected, std::back_inserter(legal),
      [&](const Candidate &each) { return (*own)->isLegal(each.schedule); });
  FailureOr<std::vector<EmittedObject>> objects =
      emitCandidates(**own, legal, getContentName(*alone));
  if (failed(objects))
    return failure();
  llvm::erase_if(*objects, [&](const EmittedObject &object) {
    return !object.isSized() && !options.products;
  });
  product.candidates = describeCandidates(legal);
  if (failed(writeObjects(
          *objects,
          [&](size_t i) { return "products/" + (*objects)[i].symbols.front(); },
          product.candidates)))
    return failure();
  llvm::erase_if(product.candidates, [](const tuning::Candidate &candidate) {
    return candidate.symbol.empty();
  });
  setType(product.result, alone->getResultTypes().front());
  if (!product.candidates.empty())
    kernel.product = std::move(product);
  return success();
}

/// Adds the kernel of the last resort, for the case that all candidates fail;
/// not where kernels are compiled here, which takes long.
LogicalResult BundleWriter::writeFallback(FusedOp fused, StringRef symbolBase,
                                          tuning::Kernel &kernel) {
  const auto *family = llvm::find_if(target.getFamilies(), [](auto *each) {
    return each->getRule().isLastResort;
  });
  if (family == target.getFamilies().end() ||
      (*family)->getRule().name == kernel.rule)
    return success();
  FailureOr<std::unique_ptr<Plan>> plan =
      (*family)->plan(fused, target.getMachine(), Silence(fused));
  if (failed(plan) || (*plan)->compiles())
    return success();
  ScheduleAttr schedule = (*plan)->getSpace().enumerate().front();
  // The kernel's own family may write the same code.
  if (llvm::any_of(kernel.candidates, [&](const tuning::Candidate &each) {
        return each.key == schedule.getKey();
      }))
    return success();
  KernelVariant variant{schedule, (symbolBase + "_fallback").str()};
  KernelCode code;
  tuning::Candidate &candidate = kernel.candidates.emplace_back();
  if (failed((*plan)->emit(variant, code)) ||
      failed(writeCode(code, "kernels/" + kernel.name + "/fallback",
                       variant.symbol, candidate)))
    return failure();
  candidate.key = schedule.getKey();
  candidate.predictedUs = (*plan)->predict(schedule);
  candidate.fallback = true;
  return success();
}

/// `limit` is the number of candidates.
LogicalResult BundleWriter::writeKernel(unsigned index, FusedOp fused,
                                        unsigned limit) {
  if (Fusibility(target).check(fused, [&] { return fused.emitOpError(); }))
    return failure();
  FailureOr<std::unique_ptr<Plan>> plan =
      target.plan(fused, [&] { return fused.emitOpError(); });
  if (failed(plan))
    return failure();
  tuning::Kernel &kernel = bundle.kernels.emplace_back();
  kernel.name = getKernelName(fused, index);
  kernel.rule = fused.getRule().str();
  if (StrategyAttr strategy = fused.getStrategyAttr())
    kernel.strategy = {stringifyStrategyKind(strategy.getKind()).str(),
                       strategy.getEntry().str()};
  kernel.priority = fused.getPriority().value_or(0);
  for (Operation &op : fused.getBodyOps())
    if (!isa<ConstantOp, ub::PoisonOp>(op))
      kernel.ops.push_back(op.getName().stripDialect().str());

  std::string symbolBase = getContentName(fused);
  std::vector<Candidate> selected =
      selectCandidates(**plan, limit, options.wholeLists);
  if (failed(writeCandidates(**plan, selected, symbolBase, kernel)) ||
      failed(writeProduct(**plan, selected, kernel)))
    return failure();
  size_t candidates = kernel.candidates.size();
  if (failed(writeFallback(fused, symbolBase, kernel)))
    return failure();
  KernelCode reference;
  std::string symbol = symbolBase + "_reference";
  if (failed(emitReference(fused, symbol, reference)) ||
      failed(writeCode(reference, "kernels/" + kernel.name + "/reference",
                       symbol, kernel.reference)))
    return failure();

  kernel.problem = describeProblem(**plan, target);
  kernel.operands = describeOperands(fused, target);
  kernel.results = describeResults(fused);
  SpeedOfLight sol = getSpeedOfLight(fused);
  kernel.flops = sol.getFlops();
  for (auto [i, flops] : llvm::enumerate(sol.matrixFlops))
    if (flops > 0)
      kernel.flopsByType[("matrix_flops_" + getName(MatrixRate(i))).str()] =
          flops;
  if (sol.scalarFlops > 0)
    kernel.flopsByType["scalar_flops"] = sol.scalarFlops;
  kernel.bytes = sol.bytes;
  kernel.solUs = sol.getMicroseconds(target.getMachine());
  summary.kernels.push_back({kernel.name, kernel.rule, kernel.ops,
                             unsigned(candidates), /*steps=*/0, kernel.solUs});
  return success();
}

LogicalResult BundleWriter::writeConstants() {
  SmallVector<program::ConstantOp> constants;
  for (auto each : module.getOps<program::ModelOp>())
    llvm::append_range(constants, each.getBody().getOps<program::ConstantOp>());
  for (program::ConstantOp constant : constants) {
    ElementsAttr value = constant.getValue();
    size_t index = bundle.constants.size();
    if (!constantIndices.try_emplace(value, index).second)
      continue;
    FailureOr<std::string> bytes = serialize(value);
    if (failed(bytes))
      return constant.emitOpError("has no data that can be written");
    std::string file = "constants/" + std::to_string(index) + ".bin";
    if (failed(writeFile(file, *bytes)))
      return failure();
    tuning::Constant &entry = bundle.constants.emplace_back();
    setType(entry, constant.getTensor());
    entry.data = bundle.folder / file;
  }
  return success();
}

LogicalResult BundleWriter::describeWeights() {
  for (auto [i, weight] : llvm::enumerate(module.getOps<WeightOp>())) {
    weightIndices[weight.getSymName()] = i;
    tuning::Weight &entry = bundle.weights.emplace_back();
    setType(entry, weight.getType());
    entry.name = weight.getSymName().str();
    if (weight.getBaked()) {
      FailureOr<std::string> bytes = serialize(*weight.getValue());
      if (failed(bytes))
        return weight.emitOpError(
            "is baked and has no data that can be hashed");
      entry.baked = hashBytes(*bytes);
      // For the check of the linked library.
      std::string file = "weights/" + std::to_string(i) + ".bin";
      if (failed(writeFile(file, *bytes)))
        return failure();
      entry.data = bundle.folder / file;
    }
  }
  return success();
}

void BundleWriter::describeSignature() {
  auto describe = [](ArrayRef<Type> types, ArrayAttr names) {
    std::vector<tuning::Tensor> tensors;
    for (auto [type, name] :
         llvm::zip_equal(types, names.getAsValueRange<StringAttr>())) {
      tuning::Tensor &entry = tensors.emplace_back();
      setType(entry, type);
      entry.name = name.str();
    }
    return tensors;
  };
  FunctionType signature = model.getSignature();
  bundle.inputs = describe(signature.getInputs(), model.getInputNames());
  bundle.outputs = describe(signature.getResults(), model.getOutputNames());
}

tuning::Value BundleWriter::describeValue(program::BufferOpInterface buffer) {
  using runtime::ValueKind;
  auto at = [](ValueKind kind, uint32_t index) {
    tuning::Value value;
    value.kind = kind;
    value.index = index;
    return value;
  };
  return llvm::TypeSwitch<Operation *, tuning::Value>(buffer)
      .Case([&](program::InputOp op) {
        return at(ValueKind::Input, op.getIndex());
      })
      .Case([&](program::OutputOp op) {
        return at(ValueKind::Output, op.getIndex());
      })
      .Case([&](program::WeightOp op) {
        return at(ValueKind::Weight, weightIndices.at(op.getWeight()));
      })
      .Case([&](program::ConstantOp op) {
        return at(ValueKind::Constant, constantIndices.at(op.getValue()));
      })
      .Case([&](program::PartOp op) {
        tuning::Value value =
            at(ValueKind::Part, valueIndices.at(op.getWhole()));
        value.offset = op.getOffset();
        value.bytes = getStorageBytes(op.getTensor());
        return value;
      })
      .Case([&](program::AllocOp op) {
        tuning::Value value;
        value.kind = op.getMemory() == program::Memory::prepared
                         ? ValueKind::Prepared
                         : ValueKind::Workspace;
        value.offset = *op.getOffset();
        value.bytes = op.getBytes();
        return value;
      });
}

std::vector<tuning::Step> BundleWriter::describeSteps(Region &launches) {
  std::vector<tuning::Step> steps;
  for (auto launch : launches.getOps<program::LaunchOp>()) {
    auto kernel = kernelOps.find(launch.getKernel());
    tuning::Step &step = steps.emplace_back();
    step.kernel = std::distance(kernelOps.begin(), kernel);
    for (unsigned argument : kernel->second.getOperandArguments())
      step.operands.push_back(valueIndices.at(launch.getInputs()[argument]));
    for (Value result : launch.getOutputs())
      step.results.push_back(valueIndices.at(result));
  }
  return steps;
}

std::vector<tuning::Value> BundleWriter::describeValues(program::ModelOp from) {
  std::vector<tuning::Value> values;
  for (program::BufferOpInterface buffer : from.getBuffers()) {
    valueIndices[buffer->getResult(0)] = values.size();
    values.push_back(describeValue(buffer));
  }
  return values;
}

/// The models that replace kernels, over operands and results of the kernel.
void BundleWriter::describeAlternatives() {
  for (auto each : module.getOps<program::ModelOp>()) {
    std::optional<StringRef> replaced = each.getReplaces();
    if (!replaced)
      continue;
    auto kernel = kernelOps.find(*replaced);
    tuning::Alternative &alternative = bundle.alternatives.emplace_back();
    alternative.kernel = std::distance(kernelOps.begin(), kernel);
    alternative.form =
        each.getSymName().drop_front(replaced->size()).ltrim('_').str();
    alternative.values = describeValues(each);
    SmallVector<unsigned> arguments = kernel->second.getOperandArguments();
    for (tuning::Value &value : alternative.values)
      if (value.kind == runtime::ValueKind::Input)
        value.index = llvm::find(arguments, value.index) - arguments.begin();
    alternative.steps = describeSteps(each.getRun().getBody());
  }
}

void BundleWriter::describeProgram() {
  bundle.values = describeValues(model);
  bundle.workspaceBytes = *model.getWorkspaceBytes();
  bundle.preparedBytes = *model.getPreparedBytes();
  bundle.prepare = describeSteps(model.getPrepare().getBody());
  bundle.program = describeSteps(model.getRun().getBody());
  describeAlternatives();
  for (const auto *steps : {&bundle.prepare, &bundle.program})
    for (const tuning::Step &step : *steps)
      ++summary.kernels[step.kernel].steps;
  llvm::erase_if(summary.kernels, [](const BundleSummary::Kernel &kernel) {
    return kernel.steps == 0;
  });
  summary.alternatives = bundle.alternatives.size();
  summary.steps = bundle.program.size();
  summary.workspaceBytes = *model.getWorkspaceBytes();
}

void BundleWriter::describeTarget() {
  const MachineDescription &machine = target.getMachine();
  bundle.target.cuda = target.getKind() == "cuda";
  bundle.target.architecture = machine.architecture;
  bundle.target.machine = machine.name;
  if (std::optional<Target::Processor> processor = target.getProcessor())
    bundle.target.processor = {processor->architecture, processor->name,
                               processor->features};
  Target::Commands commands = target.getCommands();
  bundle.compile = commands.compile;
  bundle.link = commands.link;
  bundle.linkProgram = commands.linkProgram;
}

/// Names are keys of JSON and strings of the C interface, where they end at a
/// zero byte. Control characters are escaped wherever a name is shown.
static LogicalResult checkName(StringRef what, StringRef name, EmitError emit) {
  StringRef problem = name.empty()                   ? "is empty"
                      : !runtime::isUtf8(name.str()) ? "is not UTF-8"
                      : name.contains('\0')          ? "has a zero byte"
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
    for (auto [i, name] : llvm::enumerate(names.getAsValueRange<StringAttr>()))
      if (failed(checkName((what + Twine(i)).str(), name,
                           [&] { return model.emitError(); })))
        return failure();
    return success();
  };
  return success(succeeded(check("input ", model.getInputNames())) &&
                 succeeded(check("output ", model.getOutputNames())));
}

LogicalResult BundleWriter::write() {
  for (auto each : module.getOps<program::ModelOp>())
    if (!each.getReplaces())
      model = each;
  assert(model && "--fact-outline-program has run");
  assert(model.getWorkspaceBytes() && "--fact-plan-memory has run");
  for (auto kernel : module.getOps<program::KernelOp>())
    kernelOps[kernel.getSymName()] = kernel;
  if (failed(checkNames(module, model)))
    return failure();

  bundle.name = options.name;
  describeTarget();
  bundle.versions = {{"fact", getVersion()},
                     {"llvm", LLVM_VERSION_STRING},
                     {"verifier", std::to_string(runtime::verifierNumber)}};
  if (auto signature = module->getAttrOfType<StringAttr>("fact.signature"))
    bundle.signature = signature.str();
  describeSignature();
  if (failed(describeWeights()) || failed(writeConstants()))
    return failure();
  llvm::DenseSet<StringRef> launched;
  model.walk(
      [&](program::LaunchOp launch) { launched.insert(launch.getKernel()); });
  for (auto [i, kernel] : llvm::enumerate(kernelOps)) {
    unsigned limit = launched.contains(kernel.first)
                         ? options.candidates
                         : (options.candidates + 1) / 2;
    if (failed(writeKernel(i, kernel.second.getFused(), limit)))
      return failure();
  }
  describeProgram();
  for (const auto &[name, text] : target.getBundleFiles())
    if (failed(writeFile(name, text)))
      return failure();
  return writeFile("bundle.json", tuning::printBundle(bundle));
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
