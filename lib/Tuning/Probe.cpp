//===- Probe.cpp - Measures the machine that a bundle is for --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "fact/Tuning/Ceilings.h"
#include <cstdio>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// How long a load runs without a pause: clocks of a GPU fall within seconds.
static double secondsPerLoad(const Options &options, bool cuda) {
  return options.probeSeconds > 0 ? options.probeSeconds : cuda ? 3 : 1;
}

void Tuner::probe() {
  fs::path file = ceilingsFile(machine);
  if (file.empty())
    throw Failure("there is no place for the machine's ceilings: name a folder "
                  "with FACT_CACHE_DIR");
  fs::path program =
      buildProgram("probe", "the probe", probeSources(bundle.target.cuda));
  double seconds = secondsPerLoad(options, bundle.target.cuda);
  Command command =
      workerCommand({program.string(), std::to_string(seconds),
                     std::to_string(options.probeBytes)},
                    build / "probe.log", options.runTimeout + 20 * seconds);
  WorkerReport report = readReport(runChecked(command));
  if (report.status != "ok")
    throw Failure("the probe failed: " + report.status + ": " + report.detail +
                  "\n  see " + command.log.string());
  Ceilings ceilings = readProbe(machine, report.values.dump());
  createFolder(file.parent_path());
  writeFile(file, print(ceilings));
  std::printf("%s%s\n", writeTable(ceilings).c_str(),
              ("kept      " + file.string()).c_str());
}

} // namespace tuning
} // namespace fact
