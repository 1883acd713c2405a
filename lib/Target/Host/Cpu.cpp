//===- Cpu.cpp - The processor that kernels are compiled for --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cpu.h"
#include "fact/Dialect/Fact/Processor.h"
#include "fact/Runtime/Cpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <mutex>

using namespace fact::host;

static void initializeTargets() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

static const llvm::Target *findTarget(const llvm::Triple &triple) {
  initializeTargets();
  std::string error;
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

static llvm::Triple getTripleOf(llvm::StringRef architecture) {
  llvm::Triple own(llvm::sys::getDefaultTargetTriple());
  if (architecture == "host")
    return own;
  bool isX86 = llvm::X86::parseArchX86(architecture, /*Only64Bit=*/true) !=
               llvm::X86::CK_None;
  if (isX86 == own.isX86())
    return own;
  return llvm::Triple(isX86 ? "x86_64-unknown-linux-gnu"
                            : "aarch64-unknown-linux-gnu");
}

/// The first core's data cache; its size is written as in "32K".
static int64_t readFirstCacheBytes() {
  auto text = llvm::MemoryBuffer::getFileAsStream(
      "/sys/devices/system/cpu/cpu0/cache/index0/size");
  int64_t kilobytes = 0;
  if (text && !(*text)->getBuffer().consumeInteger(10, kilobytes) &&
      kilobytes >= 8 && kilobytes <= 1024)
    return kilobytes << 10;
  return int64_t(32) << 10;
}

Cpu::Cpu(llvm::StringRef architecture)
    : name(architecture == "host" ? llvm::sys::getHostCPUName() : architecture),
      triple(getTripleOf(architecture)) {
  bool isHost = architecture == "host";
  // The smallest cache among current processors of the architecture.
  firstCacheBytes = isHost           ? readFirstCacheBytes()
                    : triple.isX86() ? int64_t(32) << 10
                                     : int64_t(64) << 10;
  const llvm::Target *target = findTarget(triple);
  if (!target)
    return;
  std::string found;
  if (isHost)
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      found += (found.empty() ? "" : ",") +
               std::string(feature.second ? "+" : "-") + feature.first().str();
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, name, found));
  // A virtual machine may lack features that its processor's name implies.
  auto add = [&](const char *feature) {
    if (known->checkFeatures(std::string("+") + feature) &&
        (!isHost || runtime::hasCpuFeature(feature)))
      features.push_back(feature);
  };
  if (triple.isX86())
    for (const runtime::X86Feature &feature : runtime::x86Features)
      add(feature.name);
  else
    for (const runtime::ArmFeature &feature : runtime::armFeatures)
      add(feature.name);
}

const Cpu &Cpu::get(llvm::StringRef architecture) {
  static std::mutex mutex;
  static llvm::StringMap<std::unique_ptr<Cpu>> known;
  std::lock_guard<std::mutex> guard(mutex);
  std::unique_ptr<Cpu> &cpu = known[architecture];
  if (!cpu)
    cpu.reset(new Cpu(architecture));
  return *cpu;
}

bool Cpu::isNativeArchitecture() const {
  return triple.getArch() ==
         llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch();
}

bool Cpu::has(llvm::StringRef feature) const {
  return llvm::is_contained(features, feature);
}

bool Cpu::hasFusedMultiplyAdd() const { return !triple.isX86() || has("fma"); }

bool Cpu::convertsHalf() const { return !triple.isX86() || has("f16c"); }

bool Cpu::hasLaneMultiply() const { return triple.isAArch64(); }

bool Cpu::hasGather() const { return has("avx2"); }

bool Cpu::needsPrefetch() const { return triple.isX86(); }

int64_t Cpu::getVectorBytes() const {
  return fact::getVectorBytes([&](const char *name) { return has(name); });
}

int64_t Cpu::getRegisterLanes(int64_t bytes) const {
  return std::max<int64_t>(getVectorBytes() / bytes, 1);
}

int64_t Cpu::getVectorRegisters() const {
  return hasLaneMultiply() || has("avx512f") ? 32 : 16;
}

std::unique_ptr<llvm::TargetMachine>
Cpu::createMachine(llvm::CodeGenOptLevel level) const {
  const llvm::Target *target = findTarget(triple);
  if (!target)
    return nullptr;
  // Only the baseline and the listed features, since these are all that a
  // library can check for when it is loaded.
  std::vector<std::string> words;
  for (const std::string &feature : features)
    words.push_back("+" + feature);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, triple.isX86() ? "x86-64" : "generic", llvm::join(words, ","),
      llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, level));
}
