//===- SpeedOfLightReport.cpp - Speed of light as a table and as JSON -----===//

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

SpeedOfLightReport
fact::reportSpeedOfLight(ModuleOp module, const MachineDescription &machine) {
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
  size_t width = 4, shapeWidth = 6;
  std::vector<std::pair<std::string, std::string>> names;
  for (const SpeedOfLightReport::Row &row : report.rows) {
    names.emplace_back(describe(row.op), shapeOf(row.op));
    width = std::max(width, names.back().first.size());
    shapeWidth = std::max(shapeWidth, names.back().second.size());
  }
  os << "speed of light on " << report.machine.name << " ("
     << report.machine.architecture << ")\n";
  auto line = [&](StringRef name, StringRef shape, const Twine &gflop,
                  const Twine &megabytes, const Twine &time,
                  const Twine &unfused, StringRef bound) {
    os << llvm::left_justify(name, width) << "  "
       << llvm::left_justify(shape, shapeWidth) << "  "
       << llvm::right_justify(gflop.str(), 10) << "  "
       << llvm::right_justify(megabytes.str(), 10) << "  "
       << llvm::right_justify(time.str(), 10) << "  "
       << llvm::right_justify(unfused.str(), 10) << "  " << bound << "\n";
  };
  line("work", "result", "GFLOP", "MB", "SOL us", "unfused us", "bound by");
  for (auto [row, name] : llvm::zip_equal(report.rows, names))
    line(name.first, name.second,
         llvm::formatv("{0:F3}", row.light.getFlops() / 1e9).str(),
         llvm::formatv("{0:F3}", row.light.bytes / 1e6).str(),
         llvm::formatv("{0:F3}", row.microseconds).str(),
         llvm::formatv("{0:F3}", row.unfusedMicroseconds).str(),
         isBoundByTraffic(report, row) ? "memory" : "arithmetic");
  double fused = report.getMicroseconds(),
         unfused = report.getUnfusedMicroseconds();
  os << llvm::formatv("{0} kernels: {1:F3} us; an op a kernel: {2:F3} us; "
                      "fusing gains at most {3:F2}x\n",
                      report.rows.size(), fused, unfused,
                      fused > 0 ? unfused / fused : 1.0);
}

void fact::printJson(const SpeedOfLightReport &report, raw_ostream &os) {
  json::Array rows;
  for (const SpeedOfLightReport::Row &row : report.rows) {
    const SpeedOfLight &light = row.light;
    json::Object object{
        {"work", describe(row.op)},
        {"result", shapeOf(row.op)},
        {"flops", json::Object{{"matrix_16", light.matrixFlops16},
                               {"matrix_32", light.matrixFlops32},
                               {"matrix_64", light.matrixFlops64},
                               {"scalar", light.scalarFlops}}},
        {"bytes", light.bytes},
        {"sol_us", row.microseconds},
        {"unfused_us", row.unfusedMicroseconds},
        {"ops", row.ops},
        {"bound", isBoundByTraffic(report, row) ? "memory" : "arithmetic"}};
    if (auto fused = dyn_cast<FusedOp>(row.op))
      object["rule"] = fused.getRule();
    rows.push_back(std::move(object));
  }
  os << llvm::formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"machine", report.machine.name},
          {"architecture", report.machine.architecture},
          {"rows", std::move(rows)},
          {"sol_us", report.getMicroseconds()},
          {"unfused_us", report.getUnfusedMicroseconds()}}));
}
