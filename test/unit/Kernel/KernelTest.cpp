//===- KernelTest.cpp - Families, plans and the candidates of a kernel ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Candidates.h"
#include "TestTarget.h"
#include "fact/Kernel/ScheduleOf.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;

namespace {
const ScheduleKind steps{
    "test_steps",
    "steps of a test",
    {Parameter::number("size", "size of a step", Sizes::between(1, 100))},
    "",
    {"1"}};
const ScheduleKind vendor{"test_vendor", "somebody else's kernel", {}, "", {}};

const Rule stepRule{"test_rule", "Anything."};

ScheduleAttr getStep(MLIRContext *context, int64_t size) {
  return ScheduleAttr::get(context, &steps, {Extents{size}});
}

/// The larger the step, the faster; odd ones are not legal.
class StepPlan : public Plan {
public:
  using Plan::Plan;

  SpaceAttrInterface getSpace() const override {
    SmallVector<Extents> sizes{{1}, {2}, {4}, {6}, {8}};
    return SpaceAttr::get(fused.getContext(), steps, {sizes});
  }
  SmallVector<ScheduleAttr> getFixedSchedules() const override {
    return {ScheduleAttr::get(fused.getContext(), &vendor, {})};
  }
  double predict(ScheduleAttr schedule) const override {
    return schedule.getKind() == &vendor ? 1000
                                         : 100.0 - schedule.getValues()[0][0];
  }
  LogicalResult emit(ArrayRef<KernelVariant>, KernelCode &) const override {
    return failure();
  }

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    if (schedule.getKind() == &steps && schedule.getValues()[0][0] % 2)
      return emitError() << "steps are even";
    return success();
  }
};

class StepFamily : public Family {
public:
  StepFamily(const Rule &rule, std::string architecture)
      : Family(rule, std::move(architecture), {&steps, &vendor}) {}
  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError) const override {
    return std::unique_ptr<Plan>(new StepPlan(*this, fused, machine));
  }
};

const ScheduleKind strides{
    "test_strides",
    "strides of a test",
    {Parameter::number("size", "size of a stride", Sizes::between(1, 100))},
    "",
    {"1"}};

/// What a family of strides makes of a region.
enum class Verdict { Legal, Vendor, Illegal, Refused };

/// One schedule, which the verdict is on.
class StridePlan : public Plan {
public:
  StridePlan(const Family &family, FusedOp fused,
             const MachineDescription &machine, Verdict verdict)
      : Plan(family, fused, machine), verdict(verdict) {}

  SpaceAttrInterface getSpace() const override {
    return SpaceAttr::get(fused.getContext(), strides,
                          {SmallVector<Extents>{{1}}});
  }
  SmallVector<ScheduleAttr> getFixedSchedules() const override {
    if (verdict != Verdict::Vendor)
      return {};
    return {ScheduleAttr::get(fused.getContext(), &vendor, {})};
  }
  double predict(ScheduleAttr) const override { return 1; }
  LogicalResult emit(ArrayRef<KernelVariant>, KernelCode &) const override {
    return failure();
  }

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    if (verdict != Verdict::Legal && schedule.getKind() == &strides)
      return emitError() << "no stride is legal";
    return success();
  }

private:
  Verdict verdict;
};

class StrideFamily : public Family {
public:
  StrideFamily(const Rule &rule, std::string architecture, Verdict verdict)
      : Family(rule, std::move(architecture), {&strides, &vendor}),
        verdict(verdict) {}
  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    if (verdict == Verdict::Refused)
      return emitError() << "takes no region";
    return std::unique_ptr<Plan>(
        new StridePlan(*this, fused, machine, verdict));
  }

private:
  Verdict verdict;
};

class KernelTest : public testing::Test {
protected:
  KernelTest() {
    DialectRegistry dialects;
    dialects.insert<FactDialect, func::FuncDialect>();
    registerTarget<TestTarget>(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
    registry = &KernelRegistry::get(*context.getLoadedDialect<FactDialect>());
  }

  const Family &add(const Rule &rule, const char *architecture) {
    return add(std::make_unique<StepFamily>(rule, architecture));
  }
  const Family &add(const char *architecture, Verdict verdict) {
    return add(std::make_unique<StrideFamily>(stepRule, architecture, verdict));
  }
  const Family &add(std::unique_ptr<Family> family) {
    const Family &added = *family;
    registry->addFamily(std::move(family));
    return added;
  }

  /// A region of the rule, with `more` behind it.
  FusedOp parse(StringRef more = "") {
    module = parseSourceString<ModuleOp>(
        ("func.func @f(%x: tensor<4xf32>) {\n"
         "  %0 = fact.fused \"test_rule\" ins(%x : tensor<4xf32>) {\n"
         "  ^bb0(%a: tensor<4xf32>):\n"
         "    %1 = fact.exp %a : (tensor<4xf32>) -> tensor<4xf32>\n"
         "    fact.yield %1 : tensor<4xf32>\n"
         "  } " +
         more + " : tensor<4xf32>\n  return\n}")
            .str(),
        &context);
    FusedOp found;
    if (module)
      module->walk([&](FusedOp fused) { found = fused; });
    return found;
  }

  std::unique_ptr<Plan> plan(FusedOp fused) {
    target = createTarget(&context, *findMachine("h200"));
    auto plan = target->plan(fused, [&] { return fused.emitError(); });
    return succeeded(plan) ? std::move(*plan) : nullptr;
  }

  /// The keys of selected candidates, without the kind.
  std::vector<std::string> select(FusedOp fused, size_t limit,
                                  bool wholeLists = false) {
    std::vector<std::string> keys;
    std::unique_ptr<Plan> own = plan(fused);
    for (const Candidate &each : selectCandidates(*own, limit, wholeLists))
      keys.push_back(each.schedule.getKey());
    return keys;
  }

  std::string getDiagnostic(llvm::function_ref<LogicalResult()> function) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(function()));
    return text;
  }

  MLIRContext context;
  KernelRegistry *registry;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Target> target;
};
using Keys = std::vector<std::string>;
} // namespace

TEST_F(KernelTest, TheMostSpecificFamilyIsFirst) {
  using Families = SmallVector<const Family *>;
  const Rule other{"test_other", "Something else."};
  const Family &all = add(stepRule, "cuda");
  const Family &ampere = add(stepRule, "sm_80");
  const Family &hopper = add(stepRule, "sm_90a");
  const Family &ada = add(stepRule, "sm_89");
  const Family &second = add(other, "cuda");
  add(stepRule, "host");
  auto h200 = createTarget(&context, *findMachine("h200"));
  EXPECT_EQ(h200->getFamilies("test_rule"),
            (Families{&hopper, &ada, &ampere, &all}));
  EXPECT_EQ(h200->getFamilies("test_other"), Families{&second});
  EXPECT_EQ(h200->getFamilies("test_no"), Families{});
  EXPECT_EQ(h200->findRule("test_rule"), &stepRule);
  EXPECT_EQ(h200->findRule("test_no"), nullptr);
  EXPECT_EQ(h200->getRules(), (std::vector<const Rule *>{&stepRule, &other}));
  auto b200 = createTarget(&context, *findMachine("b200"));
  EXPECT_EQ(b200->getFamilies("test_rule"), (Families{&ada, &ampere, &all}));
  auto a100 = createTarget(&context, *findMachine("a100"));
  EXPECT_EQ(a100->getFamilies("test_rule"), (Families{&ampere, &all}));
  // Two families read each kind, and it is there once.
  EXPECT_EQ(h200->getScheduleKinds(),
            (std::vector<const ScheduleKind *>{&steps, &vendor}));
  EXPECT_EQ(h200->getRules(steps),
            (std::vector<StringRef>{"test_rule", "test_other"}));
}

/// A legal schedule of a less specific family counts more than a vendor's
/// kernel, and that more than a plan without a legal schedule.
TEST_F(KernelTest, TheFirstFamilyThatTakesARegionPlansIt) {
  FusedOp fused = parse();
  const Family &steps = add(stepRule, "cuda");
  auto getPlanner = [&] { return &plan(fused)->getFamily(); };
  EXPECT_EQ(getPlanner(), &steps);
  add("sm_50", Verdict::Refused);
  EXPECT_EQ(getPlanner(), &steps);
  add("sm_60", Verdict::Illegal);
  EXPECT_EQ(getPlanner(), &steps);
  add("sm_70", Verdict::Vendor);
  EXPECT_EQ(getPlanner(), &steps);
  const Family &strides = add("sm_80", Verdict::Legal);
  EXPECT_EQ(getPlanner(), &strides);
  // A schedule and a space name their kind.
  fused = parse("schedule(#fact.test_steps<size = 2>)");
  EXPECT_EQ(getPlanner(), &steps);
  fused = parse("space(#fact.schedules<#fact.test_steps<size = 2>>)");
  EXPECT_EQ(getPlanner(), &steps);
  // Also where none of them is legal.
  fused = parse("schedule(#fact.test_steps<size = 3>)");
  EXPECT_EQ(getPlanner(), &steps);
}

TEST_F(KernelTest, AVendorsKernelServesWhereNoScheduleIsLegal) {
  add("cuda", Verdict::Illegal);
  const Family &vendors = add("sm_80", Verdict::Vendor);
  add("sm_90a", Verdict::Illegal);
  EXPECT_EQ(&plan(parse())->getFamily(), &vendors);
}

/// Where no family takes a region, the most specific one says why.
TEST_F(KernelTest, TheMostSpecificFamilyRefuses) {
  const Family &hopper = add("sm_90a", Verdict::Illegal);
  add("sm_80", Verdict::Refused);
  EXPECT_EQ(&plan(parse())->getFamily(), &hopper);
  FusedOp fused = parse();
  add("sm_100a", Verdict::Refused);
  auto b200 = createTarget(&context, *findMachine("b200"));
  EXPECT_EQ(getDiagnostic([&]() -> LogicalResult {
              return b200->plan(fused, [&] { return fused.emitError(); });
            }),
            "takes no region");
}

TEST_F(KernelTest, SaysWhoHasARule) {
  FusedOp fused = parse();
  auto planOn = [&](StringRef machine) {
    return getDiagnostic([&]() -> LogicalResult {
      auto own = createTarget(&context, *findMachine(machine));
      return own->plan(fused, [&] { return fused.emitError(); });
    });
  };
  const Rule other{"test_other", "Something else."};
  add(other, "cuda");
  EXPECT_EQ(planOn("h200"), "target 'h200' has no rule 'test_rule'; "
                            "it has 'test_other'");
  add(stepRule, "sm_100");
  add(stepRule, "host");
  EXPECT_EQ(planOn("h200"), "'test_rule' has kernels for sm_100, host, but "
                            "'h200' is sm_90a");
}

TEST_F(KernelTest, ChecksKindValuesAndLimits) {
  add(stepRule, "sm_90a");
  std::unique_ptr<Plan> own = plan(parse());
  ASSERT_TRUE(own);
  auto check = [&](ScheduleAttr schedule) {
    return getDiagnostic([&] {
      return own->check(schedule,
                        [&] { return emitError(UnknownLoc::get(&context)); });
    });
  };
  EXPECT_EQ(check(getStep(&context, 101)), "size is 1 to 100, not 101");
  EXPECT_EQ(check(getStep(&context, 3)), "steps are even");
  const ScheduleKind foreign{"test_foreign", "of nobody", {}, "", {}};
  EXPECT_EQ(check(ScheduleAttr::get(&context, &foreign, {})),
            "'test_rule' on 'h200' takes test_steps or test_vendor schedules, "
            "not test_foreign");
  EXPECT_TRUE(own->isLegal(getStep(&context, 4)));
  EXPECT_FALSE(own->isLegal(getStep(&context, 3)));
}

/// A vendor's kernel ranks with the best, whatever is predicted.
TEST_F(KernelTest, TheBestPredictedAreSelected) {
  add(stepRule, "sm_90a");
  EXPECT_EQ(select(parse(), 10),
            (Keys{"test_steps<size = 8>", "test_vendor", "test_steps<size = 6>",
                  "test_steps<size = 4>", "test_steps<size = 2>"}));
  EXPECT_EQ(select(parse(), 2), (Keys{"test_steps<size = 8>", "test_vendor"}));
  EXPECT_EQ(select(parse("schedule(#fact.test_steps<size = 2>)"), 10),
            Keys{"test_steps<size = 2>"});
  EXPECT_TRUE(select(parse("schedule(#fact.test_steps<size = 3>)"), 1).empty());
}

/// A list is in the order in which to try it; what stands beside it follows its
/// first.
TEST_F(KernelTest, ListsKeepTheirOrder) {
  add(stepRule, "sm_90a");
  StringRef list = "space(#fact.schedules<#fact.test_steps<size = 2>, "
                   "#fact.test_steps<size = 3>, #fact.test_steps<size = 8>, "
                   "#fact.test_steps<size = 2>>)";
  Keys all{"test_steps<size = 2>", "test_vendor", "test_steps<size = 8>"};
  EXPECT_EQ(select(parse(list), 10), all);
  EXPECT_EQ(select(parse(list), 1, /*wholeLists=*/true), all);
  EXPECT_EQ(select(parse(list), 1), Keys{"test_steps<size = 2>"});
}
