//===- Recordings.h - When a program is replayed as a graph -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instance keeps a few graphs of its program, each for one set of arguments
// (the addresses of inputs and outputs). A run with known arguments replays its
// graph. One with other arguments updates the graph that was used least
// recently, in the parts that use what moved.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_RECORDINGS_H
#define FACT_LIB_RUNTIME_RECORDINGS_H

#include "fact/Runtime/Device.h"
#include "fact/Runtime/Library.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

class Recordings {
public:
  using Arguments = std::vector<char *>;
  using Launch = device::LaunchGraph::Launch;

  /// Enough for two sets of inputs in turn with three sets of outputs.
  static constexpr size_t maximumGraphs = 8;
  /// In automatic mode, arguments get a graph when the last runs have had them
  /// this often.
  static constexpr long sightingsBeforeGraph = 2;
  /// In automatic mode, arguments that are new replay an updated graph if at
  /// most one part in this many uses what moved: recording a part again takes
  /// a few times as long as launching it.
  static constexpr uint32_t partsPerUpdate = 4;

  Recordings() = default;
  ~Recordings();
  Recordings(const Recordings &) = delete;
  Recordings &operator=(const Recordings &) = delete;

  /// `predecessors` has, for each part, those that it follows; `uses`, for each
  /// argument, the parts that read or write it.
  void initialize(device::LaunchGraph::Order predecessors,
                  std::vector<std::vector<uint32_t>> uses);

  /// FACT_GRAPHS_OFF, _ON or _AUTOMATIC. Forgets an earlier failure.
  void use(int32_t setting);

  /// Says that other memory than that of arguments has moved, such as prepared
  /// weights. No replay runs.
  void invalidate();

  /// Enqueues the program as a graph. Returns false if the caller has to launch
  /// it, which `info` explains. `obstacle` is a reason to do so, or "".
  bool replay(const Arguments &arguments, const char *obstacle,
              const Launch &launch, void *stream);

  FactGraphInfo info() const;

private:
  struct Recording {
    device::LaunchGraph graph;
    /// Empty if the graph has to be updated before it can be replayed.
    Arguments arguments;
    int64_t lastRun = 0;
  };

  const char *findObstacle(const char *obstacle) const;
  Recording *find(const Arguments &arguments);
  Recording *record(const Arguments &arguments, const Launch &launch);
  Recording *chooseRecording(const Arguments &arguments);
  uint32_t markMoved(const Arguments &arguments, const Recording *recording);
  bool wasSeen(const Arguments &arguments);
  void fail(const char *word);

  int32_t setting = FACT_GRAPHS_AUTOMATIC;
  device::LaunchGraph::Order predecessors;
  std::vector<std::vector<uint32_t>> uses;
  std::vector<Recording> recordings;
  /// On which parts are recorded; created with the first graph.
  void *stream = nullptr;
  /// The parts that `markMoved` found.
  std::vector<bool> moved;
  /// Hashes of the arguments of the last runs without a graph, in turn.
  std::array<uint64_t, 4 * maximumGraphs> seen = {};
  size_t nextSeen = 0;
  int64_t runs = 0, replayed = 0, recorded = 0, updated = 0;
  /// Why the last run was launched, and why no run will be replayed.
  const char *reason = "";
  const char *failure = "";
  std::string detail;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_RECORDINGS_H
