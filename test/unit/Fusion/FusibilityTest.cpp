//===- FusibilityTest.cpp - Groups, and what stands in their way ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FusionFixture.h"
#include "fact/Kernel/Neighbors.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>
#include <set>

using namespace mlir;
using namespace fact;

namespace {
class FusibilityTest : public FusionFixture {
protected:
  /// What stands in the way, and the words for it.
  std::pair<std::optional<Obstacle>, std::string>
  check(StringRef rule, const OpGroup &ops, const GroupedBlock &decided,
        SpaceAttrInterface space = {}) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said = diagnostic.str();
      return success();
    });
    auto obstacle = Fusibility(*target).check(rule, ops, space, decided, [&] {
      return emitError(UnknownLoc::get(&context));
    });
    return {obstacle, said};
  }
};

const char *diamond = R"(
fact.weight @w : tensor<64x64xbf16>
func.func @main(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %c = fact.constant dense<2.0> : tensor<64x64xbf16>
  %w = fact.get_weight @w : tensor<64x64xbf16>
  %0 = fact.exp %x : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = fact.softmax %0 dim 1 : tensor<64x64xbf16>
  %2 = fact.add %0, %1 : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %3 = fact.mul %2, %c : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %4 = fact.tanh %x : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %3 : tensor<64x64xbf16>
}
)";
} // namespace

TEST_F(FusibilityTest, InputsAreReadOnceAndSplatsAreCopied) {
  Block &block = parse(diamond);
  OpGroup ops = group(
      {find(block, "exp")[0], find(block, "add")[0], find(block, "mul")[0]});
  EXPECT_EQ(Fusibility::getInputs(ops).getArrayRef(),
            ArrayRef<Value>({block.getArgument(0),
                             find(block, "softmax")[0]->getResult(0)}));
  // The softmax reads the first, the terminator the last.
  EXPECT_EQ(Fusibility::getOutputs(ops).getArrayRef(),
            ArrayRef<Value>({find(block, "exp")[0]->getResult(0),
                             find(block, "mul")[0]->getResult(0)}));
}

TEST_F(FusibilityTest, EachObstacleIsNamed) {
  Block &block = parse(diamond);
  GroupedBlock decided(block);
  Operation *exp = find(block, "exp")[0], *add = find(block, "add")[0],
            *mul = find(block, "mul")[0], *softmax = find(block, "softmax")[0];

  auto [empty, saidEmpty] = check("pointwise", OpGroup(), decided);
  EXPECT_EQ(empty, Obstacle::empty);
  EXPECT_EQ(saidEmpty, "the group has no op");

  auto [rule, saidRule] = check("no_such_rule", group({add}), decided);
  EXPECT_EQ(rule, Obstacle::rule);
  EXPECT_NE(saidRule.find("no rule 'no_such_rule'; it has"), std::string::npos);

  auto [weight, saidWeight] =
      check("pointwise", group({find(block, "get_weight")[0]}), decided);
  EXPECT_EQ(weight, Obstacle::op);
  EXPECT_EQ(saidWeight, "'fact.get_weight' cannot be fused");

  auto [cycle, saidCycle] = check("pointwise", group({exp, add}), decided);
  EXPECT_EQ(cycle, Obstacle::cycle);
  EXPECT_EQ(saidCycle, "the group is not convex");

  auto [unused, saidUnused] =
      check("pointwise", group({find(block, "tanh")[0]}), decided);
  EXPECT_EQ(unused, Obstacle::unused);
  EXPECT_EQ(saidUnused, "no result of the group is used");

  EXPECT_EQ(check("gemm_epilogue", group({add}), decided).first,
            Obstacle::family);

  // A schedule of another family.
  ScheduleAttr gemm = parseSchedule(
      &context, "sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = "
                "pingpong, swizzle = 1>");
  ASSERT_TRUE(gemm);
  auto [space, saidSpace] = check("pointwise", group({add}), decided,
                                  SchedulesAttr::get(&context, {gemm}));
  EXPECT_EQ(space, Obstacle::space);
  EXPECT_NE(saidSpace.find("its space has no legal schedule"),
            std::string::npos);

  EXPECT_FALSE(check("pointwise", group({add, mul}), decided).first);
  EXPECT_FALSE(
      check("rowwise", group({exp, softmax, add, mul}), decided).first);
  decided.add(group({add}));
  auto [taken, saidTaken] = check("pointwise", group({add, mul}), decided);
  EXPECT_EQ(taken, Obstacle::op);
  EXPECT_EQ(saidTaken, "'fact.add' is already in another group");
}

TEST_F(FusibilityTest, AGroupThatIsDecidedIsOneNode) {
  // a -> b, c -> d: {a, d} and {b, c} each have no way around, but one leads
  // from the first through the second and back.
  Block &block = parse(R"(
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = fact.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = fact.tanh %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = fact.sqrt %y : (tensor<8xf32>) -> tensor<8xf32>
  %d = fact.log %c : (tensor<8xf32>) -> tensor<8xf32>
  %e = fact.add %b, %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %e : tensor<8xf32>
})");
  Operation *a = find(block, "exp")[0], *b = find(block, "tanh")[0],
            *c = find(block, "sqrt")[0], *d = find(block, "log")[0];
  GroupedBlock decided(block);
  EXPECT_EQ(decided.findDetour(group({a, d})), nullptr);
  decided.add(group({b, c}));
  EXPECT_NE(decided.findDetour(group({a, d})), nullptr);
}

/// Whether a way leads from the group out and back, with decided groups as one
/// node each, by following all uses.
static bool hasDetour(const OpGroup &ops, const GroupedBlock &decided) {
  std::set<Operation *> reached;
  std::vector<Operation *> next;
  auto reach = [&](Operation *op) {
    std::vector<Operation *> node{op};
    if (const OpGroup *group = decided.find(op))
      node.assign(group->begin(), group->end());
    for (Operation *each : node)
      if (reached.insert(each).second)
        next.push_back(each);
  };
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (!ops.contains(user))
        reach(user);
  while (!next.empty()) {
    Operation *op = next.back();
    next.pop_back();
    for (Operation *user : op->getUsers()) {
      if (ops.contains(user))
        return true;
      reach(user);
    }
  }
  return false;
}

TEST_F(FusibilityTest, DetoursAreThoseOfTheWholeGraph) {
  std::mt19937 random(7);
  auto below = [&](size_t n) { return size_t(random() % n); };
  unsigned found = 0, absent = 0;
  for (int graph = 0; graph < 60; ++graph) {
    size_t count = 4 + below(12);
    std::string text =
        "func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {\n";
    for (size_t i = 1; i <= count; ++i)
      text += llvm::formatv("%v{0} = fact.add %v{1}, %v{2} : (tensor<4xf32>, "
                            "tensor<4xf32>) -> tensor<4xf32>\n",
                            i, below(i), below(i));
    text += llvm::formatv("return %v{0} : tensor<4xf32>\n}", count);
    Block &block = parse(text);
    std::vector<Operation *> ops = find(block, "add");
    GroupedBlock decided(block);
    for (int attempt = 0; attempt < 20; ++attempt) {
      OpGroup wanted;
      for (size_t size = 1 + below(4); size > 0; --size)
        if (Operation *op = ops[below(ops.size())]; !decided.find(op))
          wanted.insert(op);
      if (wanted.empty())
        continue;
      bool expected = hasDetour(wanted, decided);
      EXPECT_EQ(decided.findDetour(wanted) != nullptr, expected) << text;
      (expected ? found : absent)++;
      if (!expected && below(2))
        decided.add(wanted);
    }
  }
  // The graphs are of both kinds.
  EXPECT_GT(found, 50u);
  EXPECT_GT(absent, 50u);
}
