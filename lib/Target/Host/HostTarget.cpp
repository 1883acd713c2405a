//===- HostTarget.cpp - Kernels for a processor ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostPlan.h"
#include "RuntimeFiles.h.inc"
#include "fact/Target/Reference.h"
#include "fact/Target/Targets.h"

using namespace mlir;
using namespace fact;

namespace {
class HostTarget : public Target {
public:
  static constexpr StringLiteral kind = "host";

  explicit HostTarget(const MachineDescription &description)
      : Target(description), cpu(host::Cpu::get(machine.architecture)) {}

  StringRef getKind() const override { return kind; }
  StringRef getSourceSuffix() const override { return ".cpp"; }

  Commands getCommands() const override {
    const std::string compiler = FACT_HOST_COMPILER;
    std::vector<std::string> drive = {compiler};
    if (!cpu.isNativeArchitecture()) {
      // clang compiles for every architecture; GCC has a driver for each.
      std::string triple = cpu.getArchitecture().str() + "-linux-gnu";
      if (StringRef(compiler).contains("clang"))
        drive.push_back("--target=" + triple);
      else
        drive = {triple + "-" + compiler};
    }
    Commands commands;
    commands.compile = drive;
    llvm::append_range(commands.compile,
                       std::initializer_list<const char *>{
                           "-std=c++17", "-O2", "-fPIC", "-I{bundle}/include",
                           "{flags}", "-c", "{source}", "-o", "{output}"});
    llvm::append_range(drive,
                       std::initializer_list<const char *>{FACT_HOST_LINKER});
    commands.link = commands.linkProgram = drive;
    llvm::append_range(commands.link,
                       std::initializer_list<const char *>{
                           "-shared", "-fPIC", "{inputs}", "{link}",
                           "-lpthread", "-lm", "-o", "{output}"});
    llvm::append_range(
        commands.linkProgram,
        std::initializer_list<const char *>{"{inputs}", "{link}", "-lpthread",
                                            "-ldl", "-lm", "-o", "{output}"});
    return commands;
  }

  std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const override {
    std::vector<std::pair<std::string, std::string>> files =
        getReferenceFiles();
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

  std::optional<Processor> getProcessor() const override {
    return Processor{cpu.getArchitecture().str(), cpu.getName().str(),
                     cpu.getFeatures().vec()};
  }

private:
  const host::Cpu &cpu;
};
} // namespace

void fact::registerHostTarget(DialectRegistry &registry) {
  registerTarget<HostTarget>(registry);
  host::registerGemmFamilies(registry);
  host::registerAttentionFamily(registry);
  host::registerRowwiseFamily(registry);
  host::registerPointwiseFamily(registry);
  host::registerGenericFamily(registry);
}
