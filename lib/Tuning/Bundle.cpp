//===- Bundle.cpp - bundle.json, read and checked -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleReader.h"
#include "fact/Tuning/BoundedJson.h"
#include <algorithm>
#include <map>
#include <set>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using runtime::ValueKind;

/// A generous limit: a model of 10,000 kernels takes 100 MB.
static constexpr uintmax_t maximumFileBytes = uintmax_t(1) << 30;
static constexpr int maximumDepth = 32;
static constexpr size_t maximumRank = 64;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

uint64_t Tensor::elements() const {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<uint64_t>(extent);
  return count;
}

uint64_t Tensor::bytes() const { return elements() * runtime::bytesOf(type); }

std::string Tensor::text() const {
  std::string text = std::string(runtime::nameOf(type)) + " [";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

void readTensor(const Node &node, Tensor &tensor) {
  Node type = node["type"];
  if (!runtime::parseElementType(type.string().c_str(), tensor.type))
    type.fail(std::string("expected one of ") + runtime::elementTypeNames() +
              ", found \"" + type.string() + "\"");
  uint64_t bytes = runtime::bytesOf(tensor.type);
  std::vector<Node> shape = node["shape"].list();
  if (shape.size() > maximumRank)
    node["shape"].fail("expected at most " + std::to_string(maximumRank) +
                       " extents, found " + std::to_string(shape.size()));
  for (const Node &extent : shape) {
    uint64_t value = extent.count();
    if (value > uint64_t(1) << 48)
      extent.fail("is larger than 2^48");
    tensor.shape.push_back(static_cast<int64_t>(value));
    if (value != 0 && bytes > (uint64_t(1) << 48) / value)
      extent.fail("makes the tensor larger than 2^48 bytes");
    bytes *= value;
  }
}

template <typename T> static std::vector<T> readNamedTensors(const Node &list) {
  std::vector<T> tensors;
  std::set<std::string> names;
  for (const Node &node : list.list()) {
    T tensor;
    tensor.name = node["name"].name();
    if (!names.insert(tensor.name).second)
      node["name"].fail("duplicate name \"" + tensor.name + "\"");
    readTensor(node, tensor);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

static uint64_t readHash(const Node &node) {
  const std::string prefix = "fnv1a64:";
  std::string text = node.string();
  size_t used = 0;
  if (text.compare(0, prefix.size(), prefix) == 0 && text.size() == 24) {
    try {
      uint64_t hash = std::stoull(text.substr(prefix.size()), &used, 16);
      if (used == 16)
        return hash;
    } catch (const std::exception &) {
    }
  }
  node.fail("expected \"fnv1a64:\" and 16 hexadecimal digits, found \"" + text +
            "\"");
}

//===----------------------------------------------------------------------===//
// Parts of the bundle
//===----------------------------------------------------------------------===//

fs::path readPath(const Node &node, const fs::path &folder) {
  std::string text = node.string();
  fs::path relative = text;
  if (text.empty() || text.find('\0') != std::string::npos ||
      relative.is_absolute() ||
      std::any_of(relative.begin(), relative.end(),
                  [](const fs::path &part) { return part == ".."; }))
    node.fail("expected a path inside of the bundle, relative to its folder "
              "and without '..', found \"" +
              text + "\"");
  fs::path path = folder / relative;
  std::error_code code;
  if (!fs::is_regular_file(path, code))
    node.fail("no such file: " + path.string());
  fs::path real = fs::canonical(path, code);
  if (code ||
      std::mismatch(folder.begin(), folder.end(), real.begin(), real.end())
              .first != folder.end())
    node.fail("\"" + text + "\" is a link to " + real.string() +
              ", which is outside of the bundle");
  return path;
}

/// A file with the bytes of a tensor.
static fs::path readData(const Node &node, const Tensor &tensor,
                         const fs::path &folder) {
  fs::path data = readPath(node, folder);
  uint64_t size = fs::file_size(data);
  if (size != tensor.bytes())
    node.fail(data.string() + " has " + std::to_string(size) + " bytes; " +
              tensor.text() + " has " + std::to_string(tensor.bytes()));
  return data;
}

static std::vector<Weight> readWeights(const Node &list,
                                       const fs::path &folder) {
  std::vector<Weight> weights = readNamedTensors<Weight>(list);
  std::vector<Node> nodes = list.list();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::optional<Node> baked = nodes[i].optional("baked"))
      weights[i].baked = readHash(*baked);
    if (std::optional<Node> data = nodes[i].optional("data"))
      weights[i].data = readData(*data, weights[i], folder);
  }
  return weights;
}

static std::vector<Constant> readConstants(const Node &root,
                                           const fs::path &folder) {
  std::vector<Constant> constants;
  std::optional<Node> list = root.optional("constants");
  if (!list)
    return constants;
  for (const Node &node : list->list()) {
    Constant constant;
    readTensor(node, constant);
    constant.data = readData(node["data"], constant, folder);
    constants.push_back(std::move(constant));
  }
  return constants;
}

static void readRegion(const Node &node, uint64_t limit, const char *region,
                       Value &value) {
  value.offset = node["offset"].count();
  value.bytes = node["bytes"].count();
  if (value.offset % 256 != 0)
    node["offset"].fail("expected a multiple of 256, found " +
                        std::to_string(value.offset));
  if (value.offset > limit || value.bytes > limit - value.offset)
    node.fail("ends at byte " + std::to_string(value.offset + value.bytes) +
              ", but '" + region + "' is " + std::to_string(limit));
}

static Value readValue(const Node &node, const Bundle &bundle) {
  Value value;
  std::string kind = node["kind"].string();
  auto take = [&](ValueKind which, const auto &tensors, const char *what) {
    value.kind = which;
    value.index = node["index"].below(tensors.size(), what);
    value.bytes = tensors[value.index].bytes();
  };
  if (kind == "input")
    take(ValueKind::Input, bundle.inputs, "inputs");
  else if (kind == "weight")
    take(ValueKind::Weight, bundle.weights, "weights");
  else if (kind == "constant")
    take(ValueKind::Constant, bundle.constants, "constants");
  else if (kind == "output")
    take(ValueKind::Output, bundle.outputs, "outputs");
  else if (kind == "prepared") {
    value.kind = ValueKind::Prepared;
    readRegion(node, bundle.preparedBytes, "prepared_bytes", value);
  } else if (kind == "workspace") {
    value.kind = ValueKind::Workspace;
    readRegion(node, bundle.workspaceBytes, "workspace_bytes", value);
  } else
    node["kind"].fail(
        "expected input, weight, constant, prepared, workspace or "
        "output, found \"" +
        kind + "\"");
  return value;
}

static void checkUse(const Node &node, const Tensor &tensor, const Value &value,
                     const char *what) {
  bool region =
      value.kind == ValueKind::Workspace || value.kind == ValueKind::Prepared;
  bool fits =
      region ? tensor.bytes() <= value.bytes : tensor.bytes() == value.bytes;
  if (!fits)
    node.fail(std::string("this value has ") + std::to_string(value.bytes) +
              " bytes; the kernel's " + what + " is " + tensor.text() +
              " with " + std::to_string(tensor.bytes()));
}

static std::vector<Step> readSteps(const Node &list, Bundle &bundle,
                                   bool preparing) {
  std::vector<Step> steps;
  for (const Node &node : list.list()) {
    Step step;
    std::string name = node["kernel"].string();
    auto kernel =
        std::find_if(bundle.kernels.begin(), bundle.kernels.end(),
                     [&](const Kernel &each) { return each.name == name; });
    if (kernel == bundle.kernels.end())
      node["kernel"].fail("unknown kernel \"" + name + "\"");
    step.kernel = static_cast<uint32_t>(kernel - bundle.kernels.begin());
    kernel->used = true;
    std::vector<Node> operands = node["operands"].list();
    std::vector<Node> results = node["results"].list();
    if (operands.size() != kernel->operands.size() ||
        results.size() != kernel->results.size())
      node.fail("kernel \"" + name + "\" has " +
                std::to_string(kernel->operands.size()) + " operands and " +
                std::to_string(kernel->results.size()) + " results, found " +
                std::to_string(operands.size()) + " and " +
                std::to_string(results.size()));
    for (size_t i = 0; i < operands.size(); ++i) {
      uint32_t index = operands[i].below(bundle.values.size(), "values");
      const Value &value = bundle.values[index];
      checkUse(operands[i], kernel->operands[i], value, "operand");
      bool fixed = value.kind == ValueKind::Weight ||
                   value.kind == ValueKind::Constant ||
                   value.kind == ValueKind::Prepared;
      if (preparing && !fixed)
        operands[i].fail("'prepare' may read only weights, constants and "
                         "prepared values");
      kernel->fixedOperands[i] = kernel->fixedOperands[i] && fixed;
      step.operands.push_back(index);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      uint32_t index = results[i].below(bundle.values.size(), "values");
      const Value &value = bundle.values[index];
      checkUse(results[i], kernel->results[i], value, "result");
      bool writable = preparing ? value.kind == ValueKind::Prepared
                                : value.kind == ValueKind::Workspace ||
                                      value.kind == ValueKind::Output;
      if (!writable)
        results[i].fail(preparing ? "'prepare' may write only prepared values"
                                  : "'program' may write only workspace and "
                                    "outputs");
      step.results.push_back(index);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

static Words readCommand(const Node &commands, const char *name,
                         std::initializer_list<const char *> needed) {
  Node node = commands[name];
  Words words = node.words();
  if (words.empty())
    node.fail("expected a command");
  for (const char *placeholder : needed) {
    bool there = std::any_of(words.begin(), words.end(), [&](const auto &word) {
      return word.find(placeholder) != std::string::npos;
    });
    if (!there)
      node.fail(std::string("no word contains ") + placeholder);
  }
  return words;
}

static void checkSymbols(const Bundle &bundle) {
  std::map<std::string, std::string> owners;
  for (const Kernel &kernel : bundle.kernels)
    for (const Candidate &candidate : kernel.candidates) {
      auto entry = owners.emplace(candidate.symbol, kernel.name);
      if (!entry.second && entry.first->second != kernel.name)
        throw Failure("bundle.json: symbol '" + candidate.symbol +
                      "' is exported by kernels '" + entry.first->second +
                      "' and '" + kernel.name +
                      "', which cannot be linked together");
    }
}

static void checkOutputsWritten(const Bundle &bundle) {
  std::vector<bool> written(bundle.outputs.size());
  for (const Step &step : bundle.program)
    for (uint32_t index : step.results)
      if (bundle.values[index].kind == ValueKind::Output)
        written[bundle.values[index].index] = true;
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i] && bundle.outputs[i].bytes())
      throw Failure("bundle.json: $.program: no step writes output '" +
                    bundle.outputs[i].name + "'");
}

Bundle readBundle(const fs::path &folder) {
  Bundle bundle;
  std::error_code code;
  bundle.folder = fs::canonical(folder, code);
  fs::path file = bundle.folder / "bundle.json";
  if (code || !fs::is_regular_file(file, code))
    throw Failure(folder.string() + " is not a bundle: it has no bundle.json; "
                                    "fact-compile writes one");
  if (fs::file_size(file, code) > maximumFileBytes || code)
    throw Failure(file.string() + " is larger than " +
                  std::to_string(maximumFileBytes >> 20) + " MiB");
  std::string problem;
  Json json = parseBounded<Json>(readFile(file), maximumDepth, problem);
  if (json.is_discarded())
    throw Failure(file.string() + ": " + runtime::escapeControls(problem));
  Node root(json, "$");
  if (root["format"].count() != 2)
    root["format"].fail("this fact-tune reads format 2; use the fact-tune that "
                        "came with the compiler");
  bundle.name = root["name"].identifier();
  bundle.target = root["target"].raw();
  std::string kind = root["target"]["kind"].string();
  if (kind != "cuda" && kind != "host")
    root["target"]["kind"].fail("expected \"cuda\" or \"host\", found \"" +
                                kind + "\"");
  bundle.cuda = kind == "cuda";
  if (std::optional<Node> cpu = root["target"].optional("cpu"))
    bundle.processor = {(*cpu)["architecture"].string(),
                        (*cpu)["name"].string(), (*cpu)["features"].words()};
  if (std::optional<Node> versions = root.optional("versions"))
    bundle.versions = versions->raw();
  if (std::optional<Node> signature = root.optional("signature"))
    bundle.signature = signature->string();
  bundle.inputs = readNamedTensors<Tensor>(root["inputs"]);
  bundle.outputs = readNamedTensors<Tensor>(root["outputs"]);
  bundle.weights = readWeights(root["weights"], bundle.folder);
  bundle.constants = readConstants(root, bundle.folder);
  bundle.workspaceBytes = root["workspace_bytes"].count();
  bundle.preparedBytes = root["prepared_bytes"].count();
  for (const Node &node : root["values"].list())
    bundle.values.push_back(readValue(node, bundle));

  std::set<std::string> names;
  for (const Node &node : root["kernels"].list()) {
    bundle.kernels.push_back(readKernel(node, bundle.folder));
    Kernel &kernel = bundle.kernels.back();
    if (!names.insert(kernel.name).second)
      node["name"].fail("duplicate name \"" + kernel.name + "\"");
    kernel.hash = hashKernel(node, kernel, bundle);
    kernel.fixedOperands.assign(kernel.operands.size(), true);
  }
  checkSymbols(bundle);
  if (std::optional<Node> prepare = root.optional("prepare"))
    bundle.prepare = readSteps(*prepare, bundle, /*preparing=*/true);
  bundle.program = readSteps(root["program"], bundle, /*preparing=*/false);
  checkOutputsWritten(bundle);
  checkDataflow(bundle);

  Node commands = root["commands"];
  bundle.compile =
      readCommand(commands, "compile", {"{flags}", "{source}", "{output}"});
  bundle.link =
      readCommand(commands, "link", {"{inputs}", "{link}", "{output}"});
  bundle.linkProgram =
      readCommand(commands, "link_program", {"{inputs}", "{link}", "{output}"});
  return bundle;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static std::string replaced(std::string word, const std::string &placeholder,
                            const std::string &text) {
  for (size_t at = word.find(placeholder); at != std::string::npos;
       at = word.find(placeholder, at + text.size()))
    word.replace(at, placeholder.size(), text);
  return word;
}

Words Bundle::expand(const Words &command, const fs::path &source,
                     const Words &inputFiles, const Words &flags,
                     const Words &linkWords, const fs::path &output) const {
  Words words;
  auto inBundle = [&](const std::string &word) {
    return replaced(replaced(word, "{bundle}", folder.string()), "{cutlass}",
                    cutlass.string());
  };
  auto append = [&](const Words &more) {
    for (const std::string &word : more)
      words.push_back(inBundle(word));
  };
  for (const std::string &word : command) {
    if (word == "{flags}")
      append(flags);
    else if (word == "{inputs}")
      words.insert(words.end(), inputFiles.begin(), inputFiles.end());
    else if (word == "{link}")
      append(linkWords);
    else
      words.push_back(
          replaced(replaced(inBundle(word), "{source}", source.string()),
                   "{output}", output.string()));
  }
  return words;
}

} // namespace tuning
} // namespace fact
