//===- StageDisplay.cpp - What a compilation is doing, for people ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageDisplay.h"

using namespace fact;

/// Short stages draw nothing.
static constexpr std::chrono::milliseconds patience(500);
static constexpr std::chrono::seconds interval(1);

StageDisplay::~StageDisplay() {
  end();
  if (!ticker.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  changed.notify_one();
  ticker.join();
}

void StageDisplay::setDetail(const std::string &detail) {
  std::string current;
  {
    std::lock_guard<std::mutex> lock(mutex);
    current = stage;
  }
  show(std::move(current), detail);
}

void StageDisplay::show(std::string newStage, const std::string &detail) {
  std::lock_guard<std::mutex> lock(mutex);
  stage = std::move(newStage);
  text = stage + (detail.empty() ? "" : ", " + detail);
  if (text.empty()) {
    line.clear();
    return;
  }
  if (!line.hasTerminal()) {
    line.show(std::nullopt, text);
    return;
  }
  since = Clock::now();
  next = since + (line.isDrawn() ? Clock::duration() : patience);
  if (!ticker.joinable())
    ticker = std::thread([this] { tick(); });
  changed.notify_one();
}

void StageDisplay::yield() {
  std::lock_guard<std::mutex> lock(mutex);
  line.clear();
  next = Clock::now() + interval;
}

void StageDisplay::tick() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isOver) {
    if (text.empty()) {
      changed.wait(lock);
      continue;
    }
    Clock::time_point now = Clock::now();
    if (now < next) {
      changed.wait_until(lock, next);
      continue;
    }
    auto soFar = std::chrono::duration_cast<std::chrono::seconds>(now - since);
    next = since + soFar + interval;
    line.show(std::nullopt, soFar.count() == 0
                                ? text
                                : text + ", " + formatSeconds(soFar.count()));
  }
}
