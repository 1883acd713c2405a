//===- Recordings.cpp - When a program is replayed as a graph -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recordings.h"
#include "fact/Runtime/Program.h"
#include <algorithm>

namespace fact {
namespace runtime {

Recordings::~Recordings() {
  recordings.clear();
  if (stream)
    device::destroyStream(stream);
}

void Recordings::initialize(device::LaunchGraph::Order order,
                            std::vector<std::vector<uint32_t>> usesOfArgument) {
  predecessors = std::move(order);
  uses = std::move(usesOfArgument);
  moved.resize(predecessors.size());
  recordings.reserve(maximumGraphs);
}

void Recordings::use(int32_t next) {
  setting = next;
  failure = "";
  detail.clear();
}

void Recordings::invalidate() {
  for (Recording &each : recordings)
    each.arguments.clear();
}

FactGraphInfo Recordings::info() const {
  return {setting,  0,       replayed, runs - replayed,
          recorded, updated, reason,   detail.c_str()};
}

/// Why this run is launched whatever its arguments are, or "".
const char *Recordings::findObstacle(const char *obstacle) const {
  if (setting == FACT_GRAPHS_OFF)
    return "off";
  if (!device::LaunchGraph::isSupported())
    return "unsupported";
  if (*failure || *obstacle)
    return *failure ? failure : obstacle;
  // The first run loads kernels, which may wait for the device.
  return runs == 0 ? "first" : "";
}

/// No further run is replayed. The graphs stay: replays of them may run.
void Recordings::fail(const char *word) {
  failure = word;
  detail = device::lastError();
}

Recordings::Recording *Recordings::find(const Arguments &arguments) {
  for (Recording &each : recordings)
    if (each.arguments == arguments)
      return &each;
  return nullptr;
}

/// Whether recent runs have had these arguments; notes that this one does.
bool Recordings::wasSeen(const Arguments &arguments) {
  uint64_t hash = fnv1a64(static_cast<const void *>(arguments.data()),
                          arguments.size() * sizeof(char *));
  bool often =
      std::count(seen.begin(), seen.end(), hash) >= sightingsBeforeGraph;
  seen[nextSeen++ % seen.size()] = hash;
  return often;
}

/// Marks the parts that have to be recorded again before a recording can be
/// replayed with these arguments, and returns their number. Without a recording
/// these are the parts that use arguments at all.
uint32_t Recordings::markMoved(const Arguments &arguments,
                               const Recording *recording) {
  bool all = recording && recording->arguments.empty();
  moved.assign(predecessors.size(), all);
  for (size_t i = 0; i < arguments.size() && !all; ++i)
    if (!recording || recording->arguments[i] != arguments[i])
      for (uint32_t part : uses[i])
        moved[part] = true;
  return static_cast<uint32_t>(std::count(moved.begin(), moved.end(), true));
}

/// The recording to use for arguments that none has: the last one, which is
/// new, or one to update. Null if the run is to be launched instead.
Recordings::Recording *Recordings::chooseRecording(const Arguments &arguments) {
  // One that needs an update anyway, or else the one used least recently.
  auto oldest = std::min_element(
      recordings.begin(), recordings.end(),
      [](const Recording &a, const Recording &b) {
        return std::make_pair(!a.arguments.empty(), a.lastRun) <
               std::make_pair(!b.arguments.empty(), b.lastRun);
      });
  Recording *known = oldest == recordings.end() ? nullptr : &*oldest;
  bool needsUpdate = known && known->arguments.empty();
  bool hasRoom = recordings.size() < maximumGraphs && !needsUpdate;
  bool makesNew = hasRoom;
  if (setting == FACT_GRAPHS_AUTOMATIC) {
    bool often = wasSeen(arguments);
    bool cheap = runs >= sightingsBeforeGraph &&
                 size_t{markMoved(arguments, known)} * partsPerUpdate <=
                     predecessors.size();
    // Arguments in turn, more sets than there are graphs, would each update the
    // graph that another set needs next.
    bool idle =
        known && runs - known->lastRun > static_cast<int64_t>(seen.size());
    if (!cheap && !(often && (hasRoom || needsUpdate || idle)))
      return nullptr;
    makesNew = hasRoom && (often || !known);
  }
  if (!makesNew)
    return known;
  recordings.emplace_back();
  return &recordings.back();
}

/// A recording for arguments that none has; null if the run is to be launched.
Recordings::Recording *Recordings::record(const Arguments &arguments,
                                          const Launch &launch) {
  if (!stream)
    stream = device::createStream();
  if (!stream) {
    fail("capture");
    return nullptr;
  }
  size_t before = recordings.size();
  Recording *chosen = chooseRecording(arguments);
  if (!chosen) {
    reason = "moving";
    return nullptr;
  }
  bool isNew = recordings.size() > before;
  const char *problem;
  if (isNew) {
    problem = chosen->graph.record(predecessors, launch, stream);
    recorded += !problem;
  } else {
    markMoved(arguments, chosen);
    chosen->arguments.clear();
    problem = chosen->graph.update(moved, launch, stream);
    updated += !problem;
  }
  if (problem) {
    fail(problem);
    if (isNew)
      recordings.pop_back();
    return nullptr;
  }
  chosen->arguments = arguments;
  return chosen;
}

bool Recordings::replay(const Arguments &arguments, const char *obstacle,
                        const Launch &launch, void *on) {
  reason = findObstacle(obstacle);
  if (!*reason) {
    Recording *recording = find(arguments);
    if (!recording)
      recording = record(arguments, launch);
    const char *problem = recording ? recording->graph.replay(on) : nullptr;
    if (problem)
      fail(problem);
    else if (recording) {
      recording->lastRun = ++runs;
      ++replayed;
      return true;
    }
    if (*failure)
      reason = failure;
  }
  ++runs;
  return false;
}

} // namespace runtime
} // namespace fact
