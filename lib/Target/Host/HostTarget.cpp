//===- HostTarget.cpp - Kernels for the processor this runs on ------------===//

#include "HostRealiser.h"
#include "RuntimeFiles.h.inc"

using namespace mlir;
using namespace fact;

namespace {
class HostTarget : public Target {
public:
  explicit HostTarget(const MachineDescription &description)
      : Target(description) {
    realisers.push_back(host::createGemmRealiser(machine));
    realisers.push_back(host::createGatedGemmRealiser(machine));
    realisers.push_back(host::createGroupedGemmRealiser(machine));
    realisers.push_back(host::createAttentionRealiser(machine));
    realisers.push_back(host::createRowwiseRealiser(machine));
    realisers.push_back(host::createPointwiseRealiser(machine));
    realisers.push_back(host::createGenericRealiser(machine));
  }

  StringRef getKind() const override { return "host"; }
  StringRef getCandidateSuffix() const override { return ".o"; }
  StringRef getReferenceSuffix() const override { return ".o"; }

  LogicalResult emitReference(FusedOp fused, StringRef symbol,
                              KernelCode &code) const override {
    return host::emitReferenceObject(fused, symbol, code);
  }

  Commands getCommands() const override {
    const std::string compiler = FACT_HOST_COMPILER;
    Commands commands;
    commands.compile = {
        compiler,  "-std=c++17", "-O2",      "-fPIC", "-I{bundle}/include",
        "{flags}", "-c",         "{source}", "-o",    "{output}"};
    commands.link = {compiler,    "-shared", "-fPIC", "{inputs}", "{link}",
                     "-lpthread", "-lm",     "-o",    "{output}"};
    commands.linkProgram = {compiler, "{inputs}", "{link}", "-lpthread",
                            "-ldl",   "-lm",      "-o",     "{output}"};
    for (const char *word :
         std::initializer_list<const char *>{FACT_HOST_LINKER})
      for (std::vector<std::string> *words :
           {&commands.link, &commands.linkProgram})
        words->insert(words->begin() + 1, word);
    return commands;
  }

  std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const override {
    std::vector<std::pair<std::string, std::string>> files;
    for (auto [path, text] : getRuntimeFiles()) {
      // lib/Runtime is `runtime` in a bundle; headers keep their place.
      StringRef name = path;
      std::string target = name.consume_front("lib/Runtime/")
                               ? ("runtime/" + name).str()
                               : name.str();
      files.emplace_back(target, text.str());
    }
    return files;
  }
};
} // namespace

std::unique_ptr<Target>
fact::createHostTarget(const MachineDescription &machine) {
  return std::make_unique<HostTarget>(machine);
}
