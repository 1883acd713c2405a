//===- Bundle.cpp - bundle.json, read and written -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleSchema.h"
#include "fact/Runtime/Text.h"
#include "fact/Tuning/BoundedJson.h"
#include "fact/Tuning/ContentHash.h"
#include "fact/Tuning/Files.h"
#include <map>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using runtime::ValueKind;

/// A generous limit: a model of 10,000 kernels takes 100 MB.
static constexpr uintmax_t maximumFileBytes = uintmax_t(1) << 30;
static constexpr int maximumDepth = 32;

//===----------------------------------------------------------------------===//
// Parts of the bundle
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

runtime::ElementType Kernel::referenceType(size_t i) const {
  return runtime::referenceTypeOf(results[i].type);
}

std::string TargetMachine::text() const { return print(*this); }

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

/// The hash that decides whether an old result is still valid: no names, no
/// candidates, and nothing that only says when to tune.
static std::string hashKernel(Kernel &kernel, const Bundle &bundle) {
  Writer essence(bundle.folder);
  describeEssence(essence, kernel);
  return ContentHash()
      .add(essence.text())
      .add(bundle.target.text())
      .add(readFile(kernel.reference.file()))
      .text();
}

void finishKernels(Bundle &bundle) {
  for (Kernel &kernel : bundle.kernels) {
    kernel.hash = hashKernel(kernel, bundle);
    kernel.fixedOperands.assign(kernel.operands.size(), true);
  }
}

/// Kernels may export one symbol only if their files are equal: one of them is
/// linked.
static void checkSymbols(const Bundle &bundle) {
  std::map<std::string, std::pair<const Kernel *, const Candidate *>> owners;
  for (const Kernel &kernel : bundle.kernels)
    for (const Candidate &candidate : kernel.candidates) {
      auto [entry, isNew] =
          owners.try_emplace(candidate.symbol, &kernel, &candidate);
      const auto &[owner, first] = entry->second;
      if (isNew || owner == &kernel ||
          (readFile(first->file()) == readFile(candidate.file()) &&
           first->flags == candidate.flags))
        continue;
      throw Failure("bundle.json: symbol '" + candidate.symbol +
                    "' is exported by kernels '" + owner->name + "' and '" +
                    kernel.name + "', which cannot be linked together");
    }
}

void checkOutputsWritten(const Bundle &bundle) {
  std::vector<bool> written(bundle.outputs.size());
  for (const Step &step : bundle.program)
    for (uint32_t index : step.results)
      if (const Value &value = bundle.values[bundle.wholeOf(index)];
          value.kind == ValueKind::Output)
        written[value.index] = true;
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
  auto json =
      parseBounded<nlohmann::json>(readFile(file), maximumDepth, problem);
  if (json.is_discarded())
    throw Failure(file.string() + ": " + runtime::escapeControls(problem));
  Reader reader(Node(json, "$"), bundle.folder);
  describe(reader, bundle);
  checkSymbols(bundle);
  checkOutputsWritten(bundle);
  checkDataflow(bundle);
  return bundle;
}

std::string printBundle(const Bundle &bundle) {
  return print(bundle, bundle.folder, /*indentation=*/2) + "\n";
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
