//===- CudaTarget.cpp - NVIDIA GPUs by CUTLASS ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommonHeaders.h.inc"
#include "Emission.h"
#include "RuntimeHeaders.h.inc"
#include "RuntimeSources.h.inc"
#include "ScalarHeaders.h.inc"
#include "Sm100Headers.h.inc"
#include "Sm80Headers.h.inc"
#include "Sm90Headers.h.inc"
#include "fact/Target/Reference.h"
#include "fact/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
class CudaTarget : public Target {
public:
  static constexpr StringLiteral kind = "cuda";

  explicit CudaTarget(const MachineDescription &machine) : Target(machine) {}

  StringRef getKind() const override { return kind; }
  StringRef getSourceSuffix() const override { return ".cu"; }
  /// A store then waits for eight loads, from the first cache.
  int64_t getMostTerms() const override { return 8; }

  Commands getCommands() const override;
  std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const override;
};
} // namespace

/// Without -DNDEBUG the tensor cores are serialized. fact-tune replaces
/// `{cutlass}` by the path of CUTLASS and adds the flags of every object.
Target::Commands CudaTarget::getCommands() const {
  StringRef number = machine.architecture.drop_front(strlen("sm_"));
  std::string architecture =
      llvm::formatv("-gencode=arch=compute_{0},code=sm_{0}", number);
  Commands commands;
  commands.compile = {"nvcc",
                      "-std=c++17",
                      "-O3",
                      "-DNDEBUG",
                      architecture,
                      "--expt-relaxed-constexpr",
                      "-I{cutlass}/include",
                      "-I{cutlass}/tools/util/include",
                      "-I{cutlass}/examples",
                      "{flags}",
                      "-c",
                      "{source}",
                      "-o",
                      "{output}"};
  // No device code is relocatable.
  commands.link = {"nvcc",    "-shared",  "--no-device-link",
                   "-cudart", "static",   "-Xcompiler",
                   "-fPIC",   "{inputs}", "{link}",
                   "-o",      "{output}"};
  commands.linkProgram = {"nvcc",   "--no-device-link", "-cudart",
                          "static", "{inputs}",         "{link}",
                          "-o",     "{output}"};
  return commands;
}

std::vector<std::pair<std::string, std::string>>
CudaTarget::getBundleFiles() const {
  std::vector<std::pair<std::string, std::string>> files = getReferenceFiles();
  auto add = [&](StringRef folder, auto embedded) {
    for (auto [path, text] : embedded)
      files.emplace_back((folder + path).str(), text.str());
  };
  for (auto headers : {getCommonHeaders(), getSm80Headers(), getSm90Headers(),
                       getSm100Headers(), getScalarHeaders()})
    add("include/fact/cutlass/", headers);
  add("include/", getRuntimeHeaders());
  add("runtime/", getRuntimeSources());
  return files;
}

void fact::registerCudaTarget(DialectRegistry &registry) {
  registerTarget<CudaTarget>(registry);
  // Before the products of tensor cores, which gain as much on thin ones.
  registerThinRowsFamily(registry);
  registerThinGemmFamily(registry);
  registerSm90Families(registry);
  registerSm80AttentionFamily(registry);
  registerSm80Families(registry);
  registerSm100Families(registry);
  registerWindowReductionFamily(registry);
  registerRowwiseFamily(registry);
  registerScanFamily(registry);
  registerSortFamily(registry);
  registerScatterFamily(registry);
  registerPointwiseFamily(registry);
  registerConcatFamily(registry);
  registerStagedReductionFamily(registry);
  registerGenericFamilies(registry);
}
