//===- HostTarget.cpp - Kernels for a processor ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostPlan.h"
#include "RuntimeFiles.h.inc"
#include "fact/Target/Reference.h"
#include "fact/Target/Targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace fact;

/// A C++ compiler of this machine, which compiles the runtime and links: that
/// of FACT_HOST_COMPILER, or the first that is installed. Bundles name it
/// without its folder, since they are tuned elsewhere too.
static std::string findCompiler() {
  if (std::optional<std::string> named =
          llvm::sys::Process::GetEnv("FACT_HOST_COMPILER"))
    return *named;
  for (const char *name : {"clang++-22", "clang++", "g++", "c++"})
    if (llvm::sys::findProgramByName(name))
      return name;
  return "c++";
}

/// Whether a compiler finds lld, the faster linker: on the PATH, or, if it is
/// clang, beside itself.
static bool findsLld(StringRef compiler) {
  if (llvm::sys::findProgramByName("ld.lld"))
    return true;
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(compiler);
  SmallString<128> sibling;
  if (!compiler.contains("clang") || !path ||
      llvm::sys::fs::real_path(*path, sibling))
    return false;
  llvm::sys::path::remove_filename(sibling);
  llvm::sys::path::append(sibling, "ld.lld");
  return llvm::sys::fs::can_execute(sibling);
}

namespace {
class HostTarget : public Target {
public:
  static constexpr StringLiteral kind = "host";

  explicit HostTarget(const MachineDescription &description)
      : Target(description), cpu(host::Cpu::get(machine.architecture)) {}

  StringRef getKind() const override { return kind; }
  StringRef getSourceSuffix() const override { return ".cpp"; }

  Commands getCommands() const override {
    const std::string compiler = findCompiler();
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
    if (findsLld(compiler))
      drive.push_back("-fuse-ld=lld");
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
  host::registerScanFamily(registry);
  host::registerScatterFamily(registry);
  host::registerSortFamily(registry);
  host::registerGenericFamily(registry);
}
