//===- SpeedOfLightReport.cpp - Speed of light as a table and as JSON -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/SpeedOfLight.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fact;
namespace json = llvm::json;

double SpeedOfLightReport::getMicroseconds() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.microseconds;
  return sum;
}

double SpeedOfLightReport::getUnfusedMicroseconds() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.unfusedMicroseconds;
  return sum;
}

void fact::warnOfUncounted(ModuleOp module) {
  Operation *first = nullptr;
  unsigned count = 0;
  module.walk([&](Operation *op) {
    if (op->getNumResults() == 0 ||
        isa_and_nonnull<FactDialect>(op->getDialect()))
      return;
    first = first ? first : op;
    ++count;
  });
  if (first)
    first->emitWarning() << "'" << first->getName()
                         << "' is not a FACT op and is not counted (" << count
                         << " such ops); --fact-raise converts ops of 'torch'";
}

SpeedOfLightReport fact::reportSpeedOfLight(ModuleOp module,
                                            const MachineDescription &machine) {
  warnOfUncounted(module);
  SpeedOfLightReport report;
  report.machine = machine;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getOps()) {
      if (!hasSpeedOfLight(&op))
        continue;
      SpeedOfLight light = getSpeedOfLight(&op);
      double time = light.getMicroseconds(machine);
      SpeedOfLightReport::Row row{&op, light, time, time, 1};
      if (auto fused = dyn_cast<FusedOp>(op)) {
        row.unfusedMicroseconds = 0;
        row.ops = 0;
        for (Operation &inner : fused.getBodyOps()) {
          row.ops += hasSpeedOfLight(&inner);
          row.unfusedMicroseconds +=
              getSpeedOfLight(&inner).getMicroseconds(machine);
        }
      }
      report.rows.push_back(row);
    }
  return report;
}

/// "gemm_epilogue: matmul add gelu", or the op's own name.
static std::string describe(Operation *op) {
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return op->getName().stripDialect().str();
  std::string text = fused.getRule().str() + ":";
  for (Operation &inner : fused.getBodyOps())
    if (hasSpeedOfLight(&inner))
      text += (" " + inner.getName().stripDialect()).str();
  return text;
}

static std::string shapeOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      op->getResultTypes(), stream,
      [&](Type type) {
        auto tensor = cast<RankedTensorType>(type);
        for (int64_t size : tensor.getShape())
          stream << size << "x";
        stream << tensor.getElementType();
      },
      " ");
  return text;
}

static bool isBoundByTraffic(const SpeedOfLightReport &report,
                             const SpeedOfLightReport::Row &row) {
  return row.light.getTrafficMicroseconds(report.machine) >=
         row.light.getArithmeticMicroseconds(report.machine);
}

void fact::printTable(const SpeedOfLightReport &report, raw_ostream &os) {
  using Cells = SmallVector<std::string>;
  auto number = [](double value) {
    return llvm::formatv("{0:F3}", value).str();
  };
  // Types of arithmetic that no kernel uses have no column.
  SmallVector<bool> isShown(SpeedOfLight().getFlopsByType().size(), false);
  for (const SpeedOfLightReport::Row &row : report.rows)
    for (auto [i, flops] : llvm::enumerate(row.light.getFlopsByType()))
      isShown[i] = isShown[i] || flops.second > 0;
  SmallVector<Cells> table = {{"work", "result"}};
  for (auto [shown, flops] :
       llvm::zip_equal(isShown, SpeedOfLight().getFlopsByType()))
    if (shown)
      table[0].push_back("GFLOP " + flops.first);
  table[0].append({"MB", "SOL us", "unfused us", "bound by"});
  for (const SpeedOfLightReport::Row &row : report.rows) {
    Cells cells = {describe(row.op), shapeOf(row.op)};
    for (auto [shown, flops] :
         llvm::zip_equal(isShown, row.light.getFlopsByType()))
      if (shown)
        cells.push_back(number(flops.second / 1e9));
    cells.append({number(row.light.bytes / 1e6), number(row.microseconds),
                  number(row.unfusedMicroseconds),
                  isBoundByTraffic(report, row) ? "memory" : "arithmetic"});
    table.push_back(std::move(cells));
  }
  SmallVector<size_t> widths(table[0].size(), 0);
  for (const Cells &cells : table)
    for (auto [width, cell] : llvm::zip_equal(widths, cells))
      width = std::max(width, cell.size());

  os << "speed of light on " << report.machine.name << " ("
     << report.machine.architecture << ")\n";
  for (const Cells &cells : table) {
    for (auto [i, cell] : llvm::enumerate(cells)) {
      if (i < 2)
        os << llvm::left_justify(cell, widths[i]) << "  ";
      else if (i + 1 < cells.size())
        os << llvm::right_justify(cell, widths[i]) << "  ";
      else
        os << cell << "\n";
    }
  }
  double fused = report.getMicroseconds(),
         unfused = report.getUnfusedMicroseconds();
  os << llvm::formatv("{0} kernels: {1:F3} us; one op per kernel: {2:F3} us; "
                      "fusing gains at most {3:F2}x\n",
                      report.rows.size(), fused, unfused,
                      fused > 0 ? unfused / fused : 1.0);
}

void fact::printJson(const SpeedOfLightReport &report, raw_ostream &os) {
  json::Array rows;
  for (const SpeedOfLightReport::Row &row : report.rows) {
    const SpeedOfLight &light = row.light;
    json::Object flops;
    for (const auto &[type, count] : light.getFlopsByType())
      flops[type] = count;
    json::Object object{
        {"work", describe(row.op)},
        {"result", shapeOf(row.op)},
        {"flops", std::move(flops)},
        {"bytes", light.bytes},
        {"sol_us", row.microseconds},
        {"unfused_us", row.unfusedMicroseconds},
        {"ops", row.ops},
        {"bound", isBoundByTraffic(report, row) ? "memory" : "arithmetic"}};
    if (auto fused = dyn_cast<FusedOp>(row.op))
      object["rule"] = fused.getRule();
    rows.push_back(std::move(object));
  }
  os << llvm::formatv("{0:2}\n",
                      json::Value(json::Object{
                          {"machine", report.machine.name},
                          {"architecture", report.machine.architecture},
                          {"rows", std::move(rows)},
                          {"sol_us", report.getMicroseconds()},
                          {"unfused_us", report.getUnfusedMicroseconds()}}));
}
