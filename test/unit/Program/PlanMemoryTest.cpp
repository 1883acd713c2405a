//===- PlanMemoryTest.cpp - Random programs keep their values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace fact;
using namespace fact::program;

namespace {
/// Each launch reads up to three earlier values, or the input, and writes one
/// value; the last one writes the output.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {
    unsigned launches = 2 + draw(24);
    for (unsigned i = 0; i < launches; ++i)
      addLaunch(i, i + 1 == launches);
  }

  std::string getText() const {
    return kernels +
           "program.model @m : (tensor<7xf32>) -> tensor<7xf32> "
           "inputs([\"x\"]) outputs([\"y\"]) {\n"
           "%v0 = program.input 0 : tensor<7xf32>\n" +
           buffers + "program.prepare {}\nprogram.run {\n" + run + "}\n}\n";
  }

private:
  unsigned draw(unsigned limit) { return random() % limit; }

  void addLaunch(unsigned index, bool isLast) {
    unsigned elements = isLast ? 7 : 1 + draw(500);
    std::string name = std::to_string(index);
    std::string result = "tensor<" + std::to_string(elements) + "xf32>";
    std::string arguments, inner, operands, types, read;
    for (unsigned i = 0, count = 1 + draw(3); i < count; ++i) {
      // Mostly recent values: old ones are residuals.
      unsigned back = draw(4) ? draw(3) : draw(sizes.size());
      unsigned last = sizes.size() - 1;
      unsigned value = last - std::min(back, last);
      std::string comma = i ? ", " : "", number = std::to_string(i);
      std::string type = "tensor<" + std::to_string(sizes[value]) + "xf32>";
      arguments += comma + "%a" + number + ": " + type;
      inner += comma + "%b" + number + ": " + type;
      operands += comma + "%a" + number;
      types += comma + type;
      read += comma + "%v" + std::to_string(value);
    }
    kernels += "program.kernel @k" + name + "(" + arguments + ") -> " + result +
               " {\n%0 = fact.fused \"generic\" ins(" + operands + " : " +
               types + ") {\n^bb0(" + inner +
               "):\n%c = fact.constant dense<0.0> : " + result +
               "\nfact.yield %c : " + result + "\n} : " + result +
               "\nprogram.return %0 : " + result + "\n}\n";
    std::string written = "%v" + std::to_string(sizes.size());
    buffers += written + " = program." +
               (isLast ? "output 0" : "alloc workspace") + " : " + result +
               "\n";
    run += "program.launch @k" + name + "(" + read + ") -> (" + written + ")\n";
    sizes.push_back(elements);
  }

  std::mt19937 random;
  /// Elements of each value; the first is the input.
  std::vector<unsigned> sizes{7};
  std::string kernels, buffers, run;
};

/// Whether each launch reads what was written for it, on memory that remembers
/// whose bytes it holds.
bool keepsValues(ModelOp model) {
  std::vector<Operation *> owners(*model.getWorkspaceBytes());
  auto bytesOf = [&](AllocOp alloc) {
    return MutableArrayRef(owners).slice(*alloc.getOffset(), alloc.getBytes());
  };
  for (auto launch : model.getRun().getBody().getOps<LaunchOp>()) {
    // A kernel may write before it has read everything.
    for (Value output : launch.getOutputs())
      if (auto alloc = output.getDefiningOp<AllocOp>())
        llvm::fill(bytesOf(alloc), alloc);
    for (Value input : launch.getInputs())
      if (auto alloc = input.getDefiningOp<AllocOp>())
        if (!llvm::all_of(bytesOf(alloc),
                          [&](Operation *owner) { return owner == alloc; }))
          return false;
  }
  return true;
}

class PlanMemoryTest : public ::testing::Test {
protected:
  PlanMemoryTest() { context.loadDialect<FactDialect, ProgramDialect>(); }

  OwningOpRef<ModuleOp> plan(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    PassManager manager(&context);
    manager.addNestedPass<ModelOp>(createPlanMemory());
    if (!module || failed(manager.run(*module)))
      return {};
    return module;
  }

  MLIRContext context;
};

TEST_F(PlanMemoryTest, RandomProgramsKeepTheirValues) {
  int64_t planned = 0, unshared = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string text = RandomProgram(seed).getText();
    OwningOpRef<ModuleOp> module = plan(text);
    ASSERT_TRUE(module) << text;
    ModelOp model = *module->getOps<ModelOp>().begin();
    EXPECT_TRUE(keepsValues(model)) << text;
    planned += *model.getWorkspaceBytes();
    for (AllocOp alloc : model.getBody().getOps<AllocOp>()) {
      EXPECT_EQ(*alloc.getOffset() % AllocOp::alignment, 0);
      unshared += alloc.getBytes();
    }
  }
  // Values that are not live together share memory.
  EXPECT_LT(planned, unshared / 2);
}

// A buffer is moved to every place of the workspace; the verifier refuses those
// where a value is lost, and no other.
TEST_F(PlanMemoryTest, VerifierRefusesPlansThatLoseValues) {
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  unsigned refused = 0, accepted = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwningOpRef<ModuleOp> module = plan(RandomProgram(seed).getText());
    ASSERT_TRUE(module);
    ModelOp model = *module->getOps<ModelOp>().begin();
    for (AllocOp moved : model.getBody().getOps<AllocOp>()) {
      int64_t planned = *moved.getOffset();
      int64_t end = *model.getWorkspaceBytes() - moved.getBytes();
      for (int64_t offset = 0; offset <= end; offset += AllocOp::alignment) {
        moved.setOffset(offset);
        bool isKept = keepsValues(model);
        EXPECT_EQ(succeeded(verify(model)), isKept) << "at " << offset;
        ++(isKept ? accepted : refused);
      }
      moved.setOffset(planned);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(accepted, 100u);
}
} // namespace
