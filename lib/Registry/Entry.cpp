//===- Entry.cpp - Problems, schedules and how they merge -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Registry/EntryFile.h"
#include "fact/Runtime/ElementType.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace fact {
namespace registry {

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static auto tie(const Problem &problem) {
  return std::tie(problem.rule, problem.dtype, problem.architecture,
                  problem.ops, problem.extents, problem.format);
}

/// "matmul,add" of "matmul.nt,add".
static std::string dropDetails(const std::string &ops) {
  std::string names;
  bool isDetail = false;
  for (char c : ops) {
    isDetail = c == '.' || (isDetail && c != ',');
    if (!isDetail)
      names += c;
  }
  return names;
}

bool Problem::operator==(const Problem &other) const {
  return tie(*this) == tie(other);
}

bool Problem::operator<(const Problem &other) const {
  return tie(*this) < tie(other);
}

bool Problem::hasSameOps(const Problem &other) const {
  return format == other.format ? ops == other.ops
                                : dropDetails(ops) == dropDetails(other.ops);
}

bool Problem::hasSameStructure(const Problem &other) const {
  auto has = [](const std::string &ops, const char *word) {
    return ops.find(word) != std::string::npos;
  };
  return has(ops, banded) == has(other.ops, banded) &&
         has(ops, mirrored) == has(other.ops, mirrored);
}

bool Problem::mayBe(const Problem &known) const {
  return format > known.format && rule == known.rule && dtype == known.dtype &&
         architecture == known.architecture && extents == known.extents &&
         hasSameOps(known);
}

std::string Problem::getExtentsText() const {
  std::string text;
  for (const auto &[name, extent] : extents)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(extent);
  return text;
}

std::string Problem::getId() const {
  // Ids of format 1 stay what they were.
  std::string essence = (format == 1 ? "" : std::to_string(format) + " ") + ops;
  for (const auto &[name, extent] : extents)
    essence += " " + name + "=" + std::to_string(extent);
  uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
  for (unsigned char byte : essence)
    hash = (hash ^ byte) * 0x100000001b3ull;
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%010llx",
                static_cast<unsigned long long>(hash >> 24));
  return rule + "/" + dtype + "/" + architecture + "#" + digits;
}

bool isConvertible(const std::string &dtype, const std::string &other) {
  if (dtype == other)
    return true;
  runtime::ElementType type, otherType;
  return runtime::parseElementType(dtype.c_str(), type) &&
         runtime::parseElementType(other.c_str(), otherType) &&
         runtime::isNarrowFloat(type) && runtime::isNarrowFloat(otherType) &&
         runtime::bytesOf(type) == runtime::bytesOf(otherType);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

const char *getName(Status status) {
  switch (status) {
  case Status::Accepted:
    return "accepted";
  case Status::Failed:
    return "failed";
  case Status::Pending:
    return "pending";
  }
  return "";
}

const char *getName(Relation relation) {
  return relation == Relation::Reuse ? "reuse" : "adapt";
}

Status Entry::getStatus() const {
  Status status = Status::Pending;
  for (const Schedule &schedule : schedules)
    status = std::min(status, schedule.status);
  return status;
}

const Schedule *Entry::getBest() const {
  const Schedule *best = nullptr;
  for (const Schedule &schedule : schedules)
    if (schedule.status == Status::Accepted &&
        (!best || schedule.us < best->us))
      best = &schedule;
  return best;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// The version of the verifier that checked a record; records of version 1 do
/// not state it.
static long getVerifier(const Schedule &schedule) {
  auto found = schedule.versions.find("verifier");
  if (found == schedule.versions.end() || found->second.size() > 9 ||
      found->second.find_first_not_of("0123456789") != std::string::npos)
    return 1;
  return std::strtol(found->second.c_str(), nullptr, 10);
}

/// Whether `a` is kept over `b`, a record of the same schedule on the same
/// machine: a measurement over a proposal, then the newer verifier, the later
/// date, a failure over a success, since a schedule that fails at times does
/// not work, and more runs. A total order over all fields, so that merging in
/// any order keeps the same record.
static bool isStrongerEvidence(const Schedule &a, const Schedule &b) {
  auto rank = [](const Schedule &schedule) {
    bool isPending = schedule.status == Status::Pending;
    return std::make_tuple(isPending, -getVerifier(schedule));
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b);
  if (a.date != b.date)
    return a.date > b.date;
  if (a.status != b.status)
    return a.status > b.status;
  if (a.runs != b.runs)
    return a.runs > b.runs;
  return std::tie(a.us, a.usLow, a.usHigh, a.error, a.solShare, a.reason,
                  a.versions) < std::tie(b.us, b.usLow, b.usHigh, b.error,
                                         b.solShare, b.reason, b.versions);
}

/// The newer of two gains of the same forms on the same machine; of one day the
/// one that is known better. A total order as well.
static bool isStrongerEvidence(const Gain &a, const Gain &b) {
  if (a.date != b.date)
    return a.date > b.date;
  double spread = a.high - a.low, otherSpread = b.high - b.low;
  return std::tie(spread, a.ratio, a.low) <
         std::tie(otherSpread, b.ratio, b.low);
}

static std::vector<Gain> merge(const std::vector<Gain> &first,
                               const std::vector<Gain> &second) {
  std::map<std::tuple<std::string, std::string, std::string>, Gain> kept;
  for (const auto *list : {&first, &second})
    for (const Gain &gain : *list) {
      auto [place, isNew] =
          kept.try_emplace({gain.form, gain.against, gain.machine}, gain);
      if (!isNew && isStrongerEvidence(gain, place->second))
        place->second = gain;
    }
  std::vector<Gain> gains;
  for (auto &[name, gain] : kept)
    gains.push_back(std::move(gain));
  return gains;
}

/// The order in an entry: by status, time, key and machine.
static bool comesBefore(const Schedule &a, const Schedule &b) {
  return std::tie(a.status, a.us, a.key, a.machine) <
         std::tie(b.status, b.us, b.key, b.machine);
}

void merge(Entry &to, const Entry &from) {
  to.example = std::max(to.example, from.example);
  to.gains = merge(to.gains, from.gains);
  std::map<std::pair<std::string, std::string>, Schedule> kept;
  for (const auto *list : {&std::as_const(to.schedules), &from.schedules})
    for (const Schedule &schedule : *list) {
      auto [place, isNew] =
          kept.try_emplace({schedule.key, schedule.machine}, schedule);
      if (!isNew && isStrongerEvidence(schedule, place->second))
        place->second = schedule;
    }
  to.schedules.clear();
  for (auto &[name, schedule] : kept)
    to.schedules.push_back(std::move(schedule));
  std::sort(to.schedules.begin(), to.schedules.end(), comesBefore);
}

std::vector<Entry> merge(const std::vector<Entry> &first,
                         const std::vector<Entry> &second) {
  std::map<Problem, Entry> merged;
  for (const auto *list : {&first, &second})
    for (const Entry &entry : *list) {
      Entry &to = merged[entry.problem];
      to.problem = entry.problem;
      merge(to, entry);
    }
  std::vector<Entry> entries;
  for (auto &[problem, entry] : merged)
    entries.push_back(std::move(entry));
  return entries;
}

void keepFastest(Entry &entry, size_t keep) {
  std::sort(entry.schedules.begin(), entry.schedules.end(), comesBefore);
  std::map<std::string, size_t> seen;
  auto isSlower = [&](const Schedule &schedule) {
    return schedule.status == Status::Accepted &&
           ++seen[schedule.machine] > keep;
  };
  std::vector<Schedule> kept;
  for (Schedule &schedule : entry.schedules)
    if (!isSlower(schedule))
      kept.push_back(std::move(schedule));
  entry.schedules = std::move(kept);
}

} // namespace registry
} // namespace fact
