//===- StageDisplay.h - What a compilation is doing, for people -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_DRIVER_STAGEDISPLAY_H
#define FACT_LIB_DRIVER_STAGEDISPLAY_H

#include "fact/Support/ProgressLine.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace fact {

/// Shows the stage that runs, in a terminal also for how long. A thread updates
/// the terminal; without one, there is no thread.
class StageDisplay {
public:
  StageDisplay() : line(/*isLent=*/true) {}
  ~StageDisplay();

  void begin(std::string text) { show(std::move(text), ""); }
  /// Shows a part of the stage, from any thread; empty: all of it.
  void setDetail(const std::string &detail);
  /// Shows nothing until another stage begins.
  void end() { show("", ""); }
  /// Makes room for something else that is printed.
  void yield();

private:
  using Clock = std::chrono::steady_clock;

  void show(std::string stage, const std::string &detail);
  void tick();

  ProgressLine line;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread ticker;
  bool isOver = false;
  std::string stage, text;
  Clock::time_point since, next;
};

} // namespace fact

#endif // FACT_LIB_DRIVER_STAGEDISPLAY_H
