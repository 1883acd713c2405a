//===- Session.cpp - The transcript and budget of a run -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace fact;

/// A safe file name: a machine's name comes from a user's file.
static std::string toFileName(StringRef text) {
  std::string name = text.take_front(100).str();
  for (char &c : name)
    if (!isAlnum(c) && !StringRef("._-").contains(c))
      c = '_';
  return name;
}

/// A transcript in the user's cache, named after the graph.
static std::string getDefaultPath(StringRef graph) {
  SmallString<256> path;
  if (auto work = sys::Process::GetEnv("FACT_WORK_DIR"))
    path = *work;
  else if (sys::path::cache_directory(path))
    sys::path::append(path, "fact");
  sys::path::append(path, "transcripts");
  (void)sys::fs::create_directories(path);
  sys::path::append(path, toFileName(graph) + ".json");
  return path.str().str();
}

std::string Session::open(const AgentOptions &options) {
  std::lock_guard<std::mutex> lock(mutex);
  if (std::exchange(opened, true))
    return "";
  path = options.transcript;
  if (options.agent == "replay")
    return chat::readTranscript(path, recorded);
  writes = true;
  if (!path.empty())
    save();
  return "";
}

size_t Session::begin(StringRef graph, StringRef model, StringRef target) {
  std::lock_guard<std::mutex> lock(mutex);
  if (path.empty())
    path = getDefaultPath(graph);
  transcript.model = model.str();
  transcript.target = target.str();
  transcript.conversations.emplace_back().graph = graph.str();
  save();
  return transcript.conversations.size() - 1;
}

std::optional<chat::Conversation> Session::take(StringRef graph) {
  std::lock_guard<std::mutex> lock(mutex);
  // Equal functions and rounds of refinement have one conversation each.
  auto known =
      find_if(recorded.conversations, [&](const chat::Conversation &said) {
        return said.graph == graph;
      });
  if (known == recorded.conversations.end())
    return std::nullopt;
  chat::Conversation conversation = std::move(*known);
  recorded.conversations.erase(known);
  return conversation;
}

void Session::setMeasurements(
    size_t conversation, std::vector<registry::Measurements> measurements) {
  std::lock_guard<std::mutex> lock(mutex);
  transcript.conversations[conversation].measurements = std::move(measurements);
  save();
}

void Session::append(size_t conversation, chat::Round round) {
  std::lock_guard<std::mutex> lock(mutex);
  transcript.conversations[conversation].rounds.push_back(std::move(round));
  save();
}

void Session::judge(size_t conversation,
                    std::vector<chat::JudgedProposal> verdicts) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &rounds = transcript.conversations[conversation].rounds;
  if (rounds.empty())
    return;
  rounds.back().verdicts = std::move(verdicts);
  save();
}

bool Session::isRecorded(StringRef graph) {
  std::lock_guard<std::mutex> lock(mutex);
  return any_of(recorded.conversations, [&](const chat::Conversation &said) {
    return said.graph == graph;
  });
}

void Session::remember(StringRef graph, Grouping grouping) {
  std::lock_guard<std::mutex> lock(mutex);
  proposed[graph].push_back(std::move(grouping));
}

Session::Grouping Session::recall(StringRef graph) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t index = proposed[graph].size();
  auto known = standing.find(graph);
  if (known == standing.end() || index >= known->second.size())
    return {};
  return known->second[index];
}

void Session::endRound(bool stays) {
  std::lock_guard<std::mutex> lock(mutex);
  if (stays)
    standing = std::move(proposed);
  proposed.clear();
}

bool Session::settle(bool stays) {
  if (!writes && replayedRounds < recorded.settled.size())
    stays = recorded.settled[replayedRounds++];
  endRound(stays);
  std::lock_guard<std::mutex> lock(mutex);
  transcript.settled.push_back(stays);
  save();
  return stays;
}

void Session::use(double seconds, int64_t tokens) {
  std::lock_guard<std::mutex> lock(mutex);
  this->seconds += seconds;
  this->tokens += tokens;
}

void Session::save() {
  if (!writes)
    return;
  std::string error = chat::writeTranscript(path, transcript);
  if (error != told)
    problem = told = error;
}
