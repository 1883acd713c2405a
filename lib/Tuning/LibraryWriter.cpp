//===- LibraryWriter.cpp - Generated sources of a library -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/LibraryWriter.h"
#include "fact/Runtime/Kernel.h"
#include "fact/Runtime/Library.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

namespace fact {
namespace tuning {

using Json = nlohmann::ordered_json;
using runtime::ElementType;
using runtime::ValueKind;

static std::string octal(unsigned char c) {
  char escape[8];
  std::snprintf(escape, sizeof(escape), "\\%03o", c);
  return escape;
}

/// A C string literal; long text is split at its line ends.
static std::string literal(const std::string &text) {
  std::string result = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      result += "\\n";
      if (i + 1 < text.size())
        result += "\"\n    \"";
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += text[i];
    } else if (c < 0x20 || c == '?' || c >= 0x7f) {
      result += octal(c);
    } else
      result += text[i];
  }
  return result + "\"";
}

static std::string percent(unsigned char c) {
  char escape[8];
  std::snprintf(escape, sizeof(escape), "%%%02X", c);
  return escape;
}

/// Escapes text for a comment. Only printable ASCII is kept, and nothing can
/// end the comment or continue the line: compilers splice lines, and some
/// replace trigraphs, before they look for the end.
static std::string comment(const std::string &text) {
  std::string result;
  for (unsigned char c : text) {
    bool harmless = c >= 0x20 && c < 0x7f && !std::strchr("*/\\?", c);
    result += harmless ? std::string(1, static_cast<char>(c)) : percent(c);
  }
  return result;
}

/// A string literal of the assembler.
static std::string assemblerString(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text)
    result += c < 0x20 || c >= 0x7f || c == '"' || c == '\\'
                  ? octal(c)
                  : std::string(1, static_cast<char>(c));
  return result + "\"";
}

/// Replaces words of `pattern` in one pass: replacements are not scanned again.
static std::string
fill(const std::string &pattern,
     std::initializer_list<std::pair<std::string, std::string>> words) {
  std::string result;
  for (size_t at = 0; at < pattern.size();) {
    auto word = std::find_if(words.begin(), words.end(), [&](const auto &each) {
      return pattern.compare(at, each.first.size(), each.first) == 0;
    });
    if (word == words.end()) {
      result += pattern[at++];
      continue;
    }
    result += word->second;
    at += word->first.size();
  }
  return result;
}

static const char *enumerator(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, ...)                                           \
  case ElementType::Type:                                                      \
    return #Type;
#include "fact/Runtime/ElementTypes.def"
  }
  return "?";
}

static const char *enumerator(ValueKind kind) {
  static const char *names[] = {"Input",     "Weight", "Constant", "Prepared",
                                "Workspace", "Output", "Part"};
  return names[static_cast<size_t>(kind)];
}

static Json describeTensor(const Tensor &tensor) {
  return {{"name", tensor.name},
          {"type", runtime::nameOf(tensor.type)},
          {"shape", tensor.shape}};
}

/// The text that FactLibrary::describe returns.
static std::string description(const Bundle &bundle,
                               const TuningResult &result) {
  Json json;
  json["name"] = bundle.name;
  json["target"] = Json::parse(bundle.target.text());
  json["versions"] = bundle.versions;
  for (const char *list : {"inputs", "outputs", "weights", "kernels"})
    json[list] = Json::array();
  for (const Tensor &input : bundle.inputs)
    json["inputs"].push_back(describeTensor(input));
  for (const Tensor &output : bundle.outputs)
    json["outputs"].push_back(describeTensor(output));
  for (const Weight &weight : bundle.weights) {
    json["weights"].push_back(describeTensor(weight));
    json["weights"].back()["baked"] = weight.baked.has_value();
  }
  json["workspace_bytes"] = bundle.workspaceBytes;
  json["prepared_bytes"] = bundle.preparedBytes;
  for (const KernelResult &each : result.kernels) {
    json["kernels"].push_back(
        {{"name", each.kernel->name},
         {"rule", each.kernel->rule},
         {"schedule", each.kernel->candidates[each.winner].key},
         {"us", each.best().us},
         {"sol_us", each.kernel->solUs},
         {"flops", each.kernel->flops},
         {"bytes", each.kernel->bytes}});
    if (!each.best().choice.empty())
      json["kernels"].back()["choice"] = each.best().choice;
  }
  json["steps"] = Json::array();
  for (const Step &step : bundle.program)
    json["steps"].push_back(bundle.kernels[step.kernel].name);
  json["machine"] = result.machine;
  json["compiler"] = result.compiler;
  json["abi"] = {{"library", FACT_LIBRARY_ABI}, {"kernel", FACT_KERNEL_ABI}};
  if (!bundle.signature.empty())
    json["signature"] = bundle.signature;
  return json.dump(1);
}

//===----------------------------------------------------------------------===//
// The function on memrefs
//===----------------------------------------------------------------------===//

/// The tensors that it takes.
static std::vector<Tensor> memrefsOf(const Bundle &bundle) {
  std::vector<Tensor> tensors = bundle.inputs;
  tensors.insert(tensors.end(), bundle.weights.begin(), bundle.weights.end());
  tensors.insert(tensors.end(), bundle.outputs.begin(), bundle.outputs.end());
  return tensors;
}

static std::string memrefParameters(size_t count, const std::string &type) {
  if (count == 0)
    return type.empty() ? "nullptr" : "void";
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + type + "memref" + std::to_string(i);
  return text;
}

/// Its declaration in MLIR.
static std::string memrefDeclaration(const Bundle &bundle) {
  std::string types;
  for (const Tensor &tensor : memrefsOf(bundle)) {
    types += types.empty() ? "memref<" : ", memref<";
    for (int64_t extent : tensor.shape)
      types += std::to_string(extent) + "x";
    types += std::string(runtime::nameOf(tensor.type)) + ">";
  }
  return "func.func private @" + bundle.name + "(" + types +
         ") -> i32 attributes {llvm.emit_c_interface}";
}

//===----------------------------------------------------------------------===//
// library.cpp
//===----------------------------------------------------------------------===//

namespace {

class SourceWriter {
public:
  SourceWriter(const Bundle &bundle, const TuningResult &result)
      : bundle(bundle), result(result) {}

  std::string write() {
    out << "// " << bundle.name
        << ", generated by fact-tune: the program as tables. Library.cpp runs "
           "them.\n\n"
           "#include \"fact/Runtime/Library.h\"\n"
           "#include \"fact/Runtime/MemrefCall.h\"\n"
           "#include \"fact/Runtime/Program.h\"\n\n"
           "using namespace fact::runtime;\n\n";
    writeKernels();
    writeConstants();
    writeTensors("inputs", bundle.inputs);
    writeTensors("outputs", bundle.outputs);
    writeWeights();
    writeValues();
    writeSteps("prepare", bundle.prepare);
    writeSteps("program", bundle.program);
    writeArray(
        "char *const", "cpuFeatures", bundle.target.processor.features,
        [&](size_t, const std::string &feature) { out << literal(feature); });
    writeProgram();
    writeFunctions();
    return out.str();
  }

private:
  void writeShape(const std::string &name, const Tensor &tensor) {
    if (tensor.shape.empty())
      return;
    out << "static const int64_t " << name << "[] = {";
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      out << (i ? ", " : "") << tensor.shape[i];
    out << "};\n";
  }

  std::string initializer(const std::string &shape, const Tensor &tensor) {
    return "{" + literal(tensor.name) +
           ", ElementType::" + enumerator(tensor.type) + ", " +
           std::to_string(tensor.shape.size()) + ", " +
           (tensor.shape.empty() ? "nullptr" : shape) + "}";
  }

  /// Writes an array; omitted if it would be empty, which `table` handles.
  template <typename T, typename Write>
  void writeArray(const char *type, const std::string &name,
                  const std::vector<T> &items, Write write) {
    if (items.empty())
      return;
    out << "static const " << type << " " << name << "[] = {\n";
    for (size_t i = 0; i < items.size(); ++i) {
      out << "    ";
      write(i, items[i]);
      out << ",\n";
    }
    out << "};\n\n";
  }

  static std::string table(const std::string &name, size_t size) {
    return "{" + (size ? name : std::string("nullptr")) + ", " +
           std::to_string(size) + "}";
  }

  void writeKernels() {
    for (size_t i = 0; i < result.kernels.size(); ++i) {
      const Candidate &winner = winnerOf(i);
      out << "// " << comment(winner.key) << "\n"
          << "extern \"C\" const FactKernel " << winner.symbol << ";\n";
    }
    out << "\n";
    for (size_t i = 0; i < result.kernels.size(); ++i) {
      writeChoice(i, result.kernels[i].best().choice);
      writeSizes(i, winnerOf(i).sizes);
      writeWritten(i, *result.kernels[i].kernel);
    }
    writeArray("KernelSpec", "kernels", result.kernels,
               [&](size_t i, const KernelResult &each) {
                 const Candidate &winner = winnerOf(i);
                 out << "{" << literal(each.kernel->name) << ", "
                     << literal(winner.key) << ", &" << winner.symbol << ", "
                     << table(choiceName(i), each.best().choice.size() / 2)
                     << ", " << table(sizesName(i), winner.sizes.size()) << ", "
                     << table(writtenName(i), writesParts(*each.kernel)
                                                  ? each.kernel->results.size()
                                                  : 0)
                     << "}";
               });
  }

  static bool writesParts(const Kernel &kernel) {
    return std::any_of(kernel.results.begin(), kernel.results.end(),
                       [](const Result &each) { return each.part.pitch != 0; });
  }

  static std::string writtenName(size_t kernel) {
    return "written" + std::to_string(kernel);
  }

  /// What a kernel writes of tensors that others write too.
  void writeWritten(size_t number, const Kernel &kernel) {
    if (!writesParts(kernel))
      return;
    out << "static const WrittenSpec " << writtenName(number) << "[] = {";
    for (size_t i = 0; i < kernel.results.size(); ++i) {
      const Part &part = kernel.results[i].part;
      out << (i == 0 ? "{" : ", {") << part.begin << ", " << part.end << ", "
          << part.pitch << "}";
    }
    out << "};\n\n";
  }

  const Candidate &winnerOf(size_t kernel) const {
    const KernelResult &each = result.kernels[kernel];
    return each.kernel->candidates[each.winner];
  }

  static std::string sizesName(size_t kernel) {
    return "sizes" + std::to_string(kernel);
  }

  void writeSizes(size_t kernel, const std::vector<int64_t> &sizes) {
    if (sizes.empty())
      return;
    out << "static const int64_t " << sizesName(kernel) << "[] = {";
    for (size_t i = 0; i < sizes.size(); ++i)
      out << (i == 0 ? "" : ", ") << sizes[i];
    out << "};\n\n";
  }

  static std::string choiceName(size_t kernel) {
    return "choice" + std::to_string(kernel);
  }

  /// The choice that the kernel was verified with, and always uses.
  void writeChoice(size_t kernel, const std::string &digits) {
    if (digits.empty())
      return;
    out << "static const unsigned char " << choiceName(kernel) << "[] = {";
    for (size_t i = 0; i < digits.size(); i += 2)
      out << (i == 0 ? "" : ",") << (i % 24 == 0 ? "\n    " : " ") << "0x"
          << digits[i] << digits[i + 1];
    out << "};\n\n";
  }

  /// The assembler includes the bytes, so a large constant costs no compile
  /// time.
  void writeConstants() {
    for (size_t i = 0; i < bundle.constants.size(); ++i) {
      std::string symbol = "fact_constant_" + std::to_string(i);
      std::string text = ".pushsection .rodata\n.balign 64\n" + symbol +
                         ":\n.incbin " +
                         assemblerString(bundle.constants[i].data.string()) +
                         "\n.byte 0\n.popsection\n";
      out << "// " << comment(bundle.constants[i].text()) << "\n"
          << "asm(" << literal(text) << ");\n"
          << "extern \"C\" __attribute__((visibility(\"hidden\"))) const "
             "unsigned char "
          << symbol << "[];\n\n";
    }
    writeArray("ConstantSpec", "constants", bundle.constants,
               [&](size_t i, const Constant &constant) {
                 out << "{fact_constant_" << i << ", " << constant.bytes()
                     << "}";
               });
  }

  void writeTensors(const std::string &name,
                    const std::vector<Tensor> &tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      writeShape(name + "Shape" + std::to_string(i), tensors[i]);
    writeArray("TensorSpec", name, tensors,
               [&](size_t i, const Tensor &tensor) {
                 out << initializer(name + "Shape" + std::to_string(i), tensor);
               });
  }

  void writeWeights() {
    for (size_t i = 0; i < bundle.weights.size(); ++i)
      writeShape("weightsShape" + std::to_string(i), bundle.weights[i]);
    writeArray("WeightSpec", "weights", bundle.weights,
               [&](size_t i, const Weight &weight) {
                 out << "{"
                     << initializer("weightsShape" + std::to_string(i), weight)
                     << ", " << (weight.baked ? "true" : "false") << ", "
                     << weight.baked.value_or(0) << "ull}";
               });
  }

  void writeValues() {
    writeArray(
        "ValueSpec", "values", bundle.values, [&](size_t, const Value &value) {
          out << "{ValueKind::" << enumerator(value.kind) << ", " << value.index
              << ", " << value.offset << "ull, " << value.bytes << "ull}";
        });
  }

  void writeSteps(const std::string &name, const std::vector<Step> &steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      out << "static const uint32_t " << name << "Buffers" << i << "[] = {";
      const char *separator = "";
      for (const std::vector<uint32_t> *list :
           {&steps[i].operands, &steps[i].results})
        for (uint32_t value : *list) {
          out << separator << value;
          separator = ", ";
        }
      out << "};\n";
    }
    writeArray(
        "StepSpec", name + "Steps", steps, [&](size_t i, const Step &step) {
          out << "{" << positionOf(step.kernel) << ", " << step.operands.size()
              << ", " << step.operands.size() + step.results.size() << ", "
              << name << "Buffers" << i << "}";
        });
  }

  /// The position of a kernel in the library, which omits unused kernels of the
  /// bundle.
  size_t positionOf(uint32_t kernel) const {
    for (size_t i = 0; i < result.kernels.size(); ++i)
      if (result.kernels[i].kernel->name == bundle.kernels[kernel].name)
        return i;
    return 0;
  }

  void writeProgram() {
    out << "static const char description[] =\n    "
        << literal(description(bundle, result)) << ";\n\n"
        << "const Program fact::runtime::theProgram = {\n    "
        << literal(bundle.name) << ",\n    description,\n    "
        << table("inputs", bundle.inputs.size()) << ",\n    "
        << table("outputs", bundle.outputs.size()) << ",\n    "
        << table("weights", bundle.weights.size()) << ",\n    "
        << table("constants", bundle.constants.size()) << ",\n    "
        << table("values", bundle.values.size()) << ",\n    "
        << table("kernels", result.kernels.size()) << ",\n    "
        << table("prepareSteps", bundle.prepare.size()) << ",\n    "
        << table("programSteps", bundle.program.size()) << ",\n    "
        << bundle.workspaceBytes << "ull,\n    " << bundle.preparedBytes
        << "ull,\n    "
        << (bundle.target.processor.architecture.empty()
                ? "nullptr"
                : literal(bundle.target.processor.architecture))
        << ",\n    "
        << table("cpuFeatures", bundle.target.processor.features.size())
        << ",\n};\n\n";
  }

  void writeFunctions() {
    static const char pattern[] = R"c(extern "C" {
const char *NAME_describe(void) { return fact_library()->describe(); }
FactModel *NAME_create(const FactNamedTensor *weights, int64_t count) {
  return fact_library()->create(weights, count);
}
FactModel *NAME_load(const char *path) { return fact_library()->load(path); }
int NAME_set_weights(FactModel *model, const FactNamedTensor *weights,
                     int64_t count) {
  return fact_library()->set_weights(model, weights, count);
}
int NAME_load_weights(FactModel *model, const char *path) {
  return fact_library()->load_weights(model, path);
}
int NAME_run(FactModel *model, DLTensor *const *inputs, int64_t input_count,
             DLTensor *const *outputs, int64_t output_count, void *stream) {
  return fact_library()->run(model, inputs, input_count, outputs, output_count,
                             stream);
}
void NAME_destroy(FactModel *model) { fact_library()->destroy(model); }
const char *NAME_last_error(void) { return fact_library()->last_error(); }
const char *NAME_error(const FactModel *model) {
  return fact_library()->error(model);
}
int _mlir_ciface_NAME(PARAMETERS) {
  void *const descriptors[] = {ARGUMENTS};
  return callWithMemrefs(descriptors);
}
// For fact-tune's check of the linked library.
const Program *fact_library_program(void) { return &theProgram; }
}
)c";
    size_t count = memrefsOf(bundle).size();
    out << fill(pattern, {{"NAME", bundle.name},
                          {"PARAMETERS", memrefParameters(count, "void *")},
                          {"ARGUMENTS", memrefParameters(count, "")}});
  }

  const Bundle &bundle;
  const TuningResult &result;
  std::ostringstream out;
};

} // namespace

std::string writeLibrarySource(const Bundle &bundle,
                               const TuningResult &result) {
  return SourceWriter(bundle, result).write();
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

static std::string listTensors(const std::vector<Tensor> &tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += " *   [" + std::to_string(i) + "] " + comment(tensors[i].name) +
            ": " + tensors[i].text() + "\n";
  return text.empty() ? " *   none\n" : text;
}

std::string writeLibraryHeader(const Bundle &bundle) {
  std::vector<Tensor> weights(bundle.weights.begin(), bundle.weights.end());
  std::string description = " * Inputs\n" + listTensors(bundle.inputs) +
                            " * Outputs\n" + listTensors(bundle.outputs) +
                            " * Weights\n" + listTensors(weights);
  static const char pattern[] =
      R"c(/*===- NAME.h - A compiled model --------------------------------*- C -*-===*
 *
 * Generated by fact-tune. Link with the library it was made with, or load that
 * library and call `fact_library`, which gives the same functions as a table.
 * All tensors are row-major and on DEVICE.
 *
DESCRIPTION *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_MODEL_NAME_H
#define FACT_MODEL_NAME_H

#include "fact/Runtime/Library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* JSON: shapes, types, kernels and their schedules. Static storage. */
const char *NAME_describe(void);

/* An instance that borrows `weights`, named as above, all of them in any order.
 * Null on failure; NAME_last_error says why. */
FactModel *NAME_create(const FactNamedTensor *weights, int64_t count);

/* The same with the weights of a safetensors file. */
FactModel *NAME_load(const char *path);

/* Replaces the named weights. 0 on success; after a failure the model keeps its
 * old weights. */
int NAME_set_weights(FactModel *model, const FactNamedTensor *weights,
                     int64_t count);
int NAME_load_weights(FactModel *model, const char *path);

/* Inputs and outputs in the order above. Inputs that are not row-major are
 * copied. `stream` is a cudaStream_t, ignored on the host; the caller orders
 * calls on one model. 0 on success. */
int NAME_run(FactModel *model, DLTensor *const *inputs, int64_t input_count,
             DLTensor *const *outputs, int64_t output_count, void *stream);

void NAME_destroy(FactModel *model);

/* The calling thread's last failure; that of the model's last call. */
const char *NAME_last_error(void);
const char *NAME_error(const FactModel *model);

/* For MLIR: inputs, weights and outputs above as memrefs, which one instance of
 * the library's own runs. 0 on success; a failure is printed.
 *
 *   MEMREFS
 */
int _mlir_ciface_NAME(PARAMETERS);

#ifdef __cplusplus
}
#endif

#endif /* FACT_MODEL_NAME_H */
)c";
  return fill(
      pattern,
      {{"NAME", bundle.name},
       {"DEVICE", bundle.target.cuda ? "one CUDA device" : "the host"},
       {"DESCRIPTION", description},
       {"MEMREFS", memrefDeclaration(bundle)},
       {"PARAMETERS", memrefParameters(memrefsOf(bundle).size(), "void *")}});
}

std::string writeExports(const Bundle &bundle) {
  std::string names =
      "fact_library; fact_library_program; _mlir_ciface_" + bundle.name + ";";
  for (const char *function :
       {"describe", "create", "load", "set_weights", "load_weights", "run",
        "destroy", "last_error", "error"})
    names += " " + bundle.name + "_" + function + ";";
  return "{\n  global: " + names + "\n  local: *;\n};\n";
}

} // namespace tuning
} // namespace fact
