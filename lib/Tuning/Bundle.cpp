//===- Bundle.cpp - bundle.json, read and checked -------------------------===//

#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using runtime::ElementType;
using runtime::ValueKind;

//===----------------------------------------------------------------------===//
// A JSON value that knows where it is
//===----------------------------------------------------------------------===//

namespace {

class Node {
public:
  Node(const Json &json, std::string path)
      : json(&json), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw Failure("bundle.json: " + path + ": " + what);
  }

  Node operator[](const char *key) const {
    if (!json->is_object())
      fail("expected an object, found " + found());
    auto entry = json->find(key);
    if (entry == json->end())
      fail(std::string("'") + key + "' is missing");
    return Node(*entry, path + "." + key);
  }
  std::optional<Node> optional(const char *key) const {
    if (!json->is_object())
      fail("expected an object, found " + found());
    if (json->find(key) == json->end())
      return std::nullopt;
    return (*this)[key];
  }
  std::vector<Node> list() const {
    if (!json->is_array())
      fail("expected a list, found " + found());
    std::vector<Node> nodes;
    for (size_t i = 0; i < json->size(); ++i)
      nodes.emplace_back((*json)[i], path + "[" + std::to_string(i) + "]");
    return nodes;
  }
  std::string string() const {
    if (!json->is_string())
      fail("expected a string, found " + found());
    return json->get<std::string>();
  }
  uint64_t count() const {
    if (!json->is_number_unsigned() &&
        !(json->is_number_integer() && json->get<int64_t>() >= 0))
      fail("expected an integer of 0 or more, found " + found());
    return json->get<uint64_t>();
  }
  uint32_t below(size_t limit, const char *what) const {
    uint64_t index = count();
    if (index >= limit)
      fail("is " + std::to_string(index) + ", but there are " +
           std::to_string(limit) + " " + what);
    return static_cast<uint32_t>(index);
  }
  double real() const {
    if (!json->is_number())
      fail("expected a number, found " + found());
    return json->get<double>();
  }
  Words words() const {
    Words result;
    for (const Node &node : list())
      result.push_back(node.string());
    return result;
  }
  std::string identifier() const {
    std::string text = string();
    bool good =
        !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
    for (unsigned char c : text)
      good = good && (std::isalnum(c) || c == '_');
    if (!good)
      fail("expected a C identifier, found \"" + text + "\"");
    return text;
  }
  const Json &raw() const { return *json; }

private:
  std::string found() const {
    std::string text = json->dump();
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }

  const Json *json;
  std::string path;
};

} // namespace

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

ElementType Kernel::referenceType(size_t i) const {
  ElementType type = results[i].type;
  if (!runtime::isFloat(type))
    return type;
  bool wide = type == ElementType::F64 || type == ElementType::F32;
  return wide ? ElementType::F64 : ElementType::F32;
}

static void readTensor(const Node &node, Tensor &tensor) {
  Node type = node["type"];
  if (!runtime::parseElementType(type.string().c_str(), tensor.type))
    type.fail(
        "expected one of f64, f32, f16, bf16, i64, i32, i8, i1, found \"" +
        type.string() + "\"");
  uint64_t bytes = runtime::bytesOf(tensor.type);
  for (const Node &extent : node["shape"].list()) {
    uint64_t value = extent.count();
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
    tensor.name = node["name"].string();
    if (!names.insert(tensor.name).second)
      node["name"].fail("\"" + tensor.name + "\" is there twice");
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

static fs::path readPath(const Node &node, const fs::path &folder) {
  fs::path path = folder / node.string();
  std::error_code code;
  if (!fs::is_regular_file(path, code))
    node.fail("there is no file " + path.string());
  return path;
}

static std::vector<Weight> readWeights(const Node &list) {
  std::vector<Weight> weights = readNamedTensors<Weight>(list);
  std::vector<Node> nodes = list.list();
  for (size_t i = 0; i < nodes.size(); ++i)
    if (std::optional<Node> baked = nodes[i].optional("baked"))
      weights[i].baked = readHash(*baked);
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
    constant.data = readPath(node["data"], folder);
    uint64_t size = fs::file_size(constant.data);
    if (size != constant.bytes())
      node["data"].fail(constant.data.string() + " has " +
                        std::to_string(size) + " bytes; " + constant.text() +
                        " has " + std::to_string(constant.bytes()));
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

static void readKernelSource(const Node &node, const fs::path &folder,
                             KernelSource &kernel) {
  std::optional<Node> source = node.optional("source");
  std::optional<Node> object = node.optional("object");
  if (source.has_value() == object.has_value())
    node.fail("expected one of 'source' and 'object'");
  if (source)
    kernel.source = readPath(*source, folder);
  else
    kernel.object = readPath(*object, folder);
  kernel.symbol = node["symbol"].identifier();
  if (std::optional<Node> flags = node.optional("flags"))
    kernel.flags = flags->words();
  if (std::optional<Node> link = node.optional("link"))
    kernel.link = link->words();
}

static Operand readOperand(const Node &node) {
  Operand operand;
  readTensor(node, operand);
  if (std::optional<Node> scale = node.optional("scale"))
    operand.scale = scale->real();
  std::optional<Node> fill = node.optional("fill");
  bool isInteger =
      !runtime::isFloat(operand.type) && operand.type != ElementType::I1;
  if (fill && fill->string() == "uniform") {
    operand.uniform = true;
    operand.low = node["low"].real();
    operand.high = node["high"].real();
    if (!(operand.low < operand.high))
      node["high"].fail("expected more than 'low'");
  } else if (fill && fill->string() != "normal")
    fill->fail("expected \"normal\" or \"uniform\", found \"" + fill->string() +
               "\"");
  else if (isInteger)
    node.fail("an integer operand needs \"fill\": \"uniform\" with 'low' and "
              "'high'");
  return operand;
}

static double readNonNegative(const Node &node) {
  double value = node.real();
  if (!(value >= 0))
    node.fail("expected a number of 0 or more");
  return value;
}

static Kernel readKernel(const Node &node, const fs::path &folder) {
  Kernel kernel;
  kernel.name = node["name"].identifier();
  if (std::optional<Node> rule = node.optional("rule"))
    kernel.rule = rule->string();
  if (std::optional<Node> problem = node.optional("problem"))
    kernel.problem = problem->raw();
  for (const Node &operand : node["operands"].list())
    kernel.operands.push_back(readOperand(operand));
  for (const Node &result : node["results"].list()) {
    kernel.results.emplace_back();
    readTensor(result, kernel.results.back());
  }
  if (kernel.results.empty())
    node["results"].fail("expected at least one result");
  if (std::optional<Node> sol = node.optional("sol_us"))
    kernel.solUs = readNonNegative(*sol);
  if (std::optional<Node> flops = node.optional("flops"))
    kernel.flops = readNonNegative(*flops);
  if (std::optional<Node> bytes = node.optional("bytes"))
    kernel.bytes = readNonNegative(*bytes);
  Node tolerance = node["tolerance"];
  kernel.normTolerance = readNonNegative(tolerance["norm"]);
  kernel.elementTolerance = readNonNegative(tolerance["element"]);
  if (std::optional<Node> mismatch = tolerance.optional("mismatch"))
    kernel.mismatchTolerance = readNonNegative(*mismatch);
  readKernelSource(node["reference"], folder, kernel.reference);

  std::set<std::string> keys;
  for (const Node &item : node["candidates"].list()) {
    Candidate candidate;
    readKernelSource(item, folder, candidate);
    candidate.key = item["key"].string();
    if (!keys.insert(candidate.key).second)
      item["key"].fail("\"" + candidate.key + "\" is there twice");
    std::optional<Node> predicted = item.optional("predicted_us");
    candidate.predictedUs = predicted ? readNonNegative(*predicted)
                                      : std::numeric_limits<double>::infinity();
    kernel.candidates.push_back(std::move(candidate));
  }
  if (kernel.candidates.empty())
    node["candidates"].fail("expected at least one candidate");
  return kernel;
}

/// What decides whether an old result still stands: everything but the names
/// and the candidates themselves.
static std::string hashKernel(const Node &node, const Kernel &kernel,
                              const Bundle &bundle) {
  Json essence;
  for (const char *key :
       {"operands", "results", "tolerance", "sol_us", "rule", "ops"})
    if (std::optional<Node> part = node.optional(key))
      essence[key] = part->raw();
  essence["target"] = bundle.target;
  const fs::path &reference = kernel.reference.source.empty()
                                  ? kernel.reference.object
                                  : kernel.reference.source;
  return ContentHash().add(essence.dump()).add(readFile(reference)).text();
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
      node["kernel"].fail("there is no kernel \"" + name + "\"");
    step.kernel = static_cast<uint32_t>(kernel - bundle.kernels.begin());
    kernel->used = true;
    std::vector<Node> operands = node["operands"].list();
    std::vector<Node> results = node["results"].list();
    if (operands.size() != kernel->operands.size() ||
        results.size() != kernel->results.size())
      node.fail("kernel \"" + name + "\" takes " +
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
        operands[i].fail("'prepare' reads weights, constants and prepared "
                         "values only");
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
        results[i].fail(preparing ? "'prepare' writes prepared values only"
                                  : "'program' writes workspace and outputs "
                                    "only");
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
                      "', which could not be linked together");
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
  Json json;
  try {
    json = Json::parse(readFile(file));
  } catch (const nlohmann::json::parse_error &problem) {
    throw Failure(file.string() + ": " + problem.what());
  }
  Node root(json, "$");
  if (root["format"].count() != 1)
    root["format"].fail("this fact-tune reads format 1; use the fact-tune that "
                        "came with the compiler");
  bundle.name = root["name"].identifier();
  bundle.target = root["target"].raw();
  std::string kind = root["target"]["kind"].string();
  if (kind != "cuda" && kind != "host")
    root["target"]["kind"].fail("expected \"cuda\" or \"host\", found \"" +
                                kind + "\"");
  bundle.cuda = kind == "cuda";
  if (std::optional<Node> versions = root.optional("versions"))
    bundle.versions = versions->raw();
  if (std::optional<Node> signature = root.optional("signature"))
    bundle.signature = signature->string();
  bundle.inputs = readNamedTensors<Tensor>(root["inputs"]);
  bundle.outputs = readNamedTensors<Tensor>(root["outputs"]);
  bundle.weights = readWeights(root["weights"]);
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
      node["name"].fail("\"" + kernel.name + "\" is there twice");
    kernel.hash = hashKernel(node, kernel, bundle);
    kernel.fixedOperands.assign(kernel.operands.size(), true);
  }
  checkSymbols(bundle);
  if (std::optional<Node> prepare = root.optional("prepare"))
    bundle.prepare = readSteps(*prepare, bundle, /*preparing=*/true);
  bundle.program = readSteps(root["program"], bundle, /*preparing=*/false);
  checkOutputsWritten(bundle);

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
