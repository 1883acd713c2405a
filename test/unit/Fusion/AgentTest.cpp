//===- AgentTest.cpp - Agents that others bring ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FusionFixture.h"
#include "fact/Fusion/Passes.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace fact;

namespace {
const char *pair = R"(
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = fact.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = fact.tanh %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
)";

/// Counts how often it was asked in one memory.
struct Count {
  int value = 0;
};

/// A kernel per op, where the rules would fuse.
class OneByOne : public Agent {
public:
  explicit OneByOne(const AgentOptions &options)
      : count(options.memory ? options.memory->get<Count>("test")
                             : std::make_shared<Count>()) {}

  std::vector<Proposal> propose(const GroupedBlock &decided,
                                const Fusibility &) override {
    asked = ++count->value;
    std::vector<Proposal> proposals;
    for (Operation &op : decided.getBlock())
      if (isa<PointwiseOpInterface>(op)) {
        OpGroup alone;
        alone.insert(&op);
        proposals.push_back({"pointwise", alone});
      }
    return proposals;
  }

  static int asked;

private:
  std::shared_ptr<Count> count;
};
int OneByOne::asked = 0;

class AgentTest : public FusionFixture {
protected:
  AgentTest() {
    AgentRegistry::get(*context.getLoadedDialect<FactDialect>())
        .add("one_by_one",
             [](ModuleOp, const AgentOptions &options, const Retrieval &,
                DiscoveryReport &) -> std::unique_ptr<Agent> {
               return std::make_unique<OneByOne>(options);
             });
  }

  size_t countKernels() {
    size_t count = 0;
    module->walk([&](FusedOp) { ++count; });
    return count;
  }
};
} // namespace

TEST_F(AgentTest, ARegisteredAgentProposes) {
  DiscoveryOptions options;
  options.target = "h200";
  options.patterns = {"/nonexistent"};
  DiscoveryReport report;
  parse(pair);
  ASSERT_TRUE(succeeded(discover(*module, options, report)));
  EXPECT_EQ(countKernels(), 1u);
  parse(pair);
  options.agent = "one_by_one";
  ASSERT_TRUE(succeeded(discover(*module, options, report)));
  EXPECT_EQ(countKernels(), 2u);
}

TEST_F(AgentTest, AnUnknownAgentIsAnError) {
  parse(pair);
  DiscoveryOptions options;
  options.agent = "oracle";
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  DiscoveryReport report;
  EXPECT_TRUE(failed(discover(*module, options, report)));
  EXPECT_EQ(said, "unknown agent 'oracle'; known are 'rules', 'one_by_one'");
}

TEST_F(AgentTest, PassesOfOneContextShareItsMemory) {
  auto run = [&] {
    parse(pair);
    PassManager manager(&context);
    for (int i = 0; i < 2; ++i) {
      auto pass = createDiscover();
      ASSERT_TRUE(succeeded(pass->initializeOptions(
          "agent=one_by_one target=h200 patterns=/nonexistent",
          [](const Twine &) { return failure(); })));
      manager.addPass(std::move(pass));
      manager.addPass(createInlineFused());
    }
    ASSERT_TRUE(succeeded(manager.run(*module)));
  };
  run();
  EXPECT_EQ(OneByOne::asked, 2);
  run();
  EXPECT_EQ(OneByOne::asked, 4);
}
