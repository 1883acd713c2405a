//===- FakeDevice.h - A device with streams and graphs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements Device.h as a GPU behaves towards its caller: a call only enqueues
// work, which is done when somebody waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TEST_UNIT_RUNTIME_FAKEDEVICE_H
#define FACT_TEST_UNIT_RUNTIME_FAKEDEVICE_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fake {

using Work = std::vector<std::function<void()>>;

/// What the caller of a library does with its own stream.
void *createStream();
void beginCapture(void *stream);
Work endCapture(void *stream);
void enqueue(const Work &work);
/// Does all work that was enqueued.
void synchronize();

/// The word of a function of LaunchGraph that fails; "" for none.
extern std::string failing;

/// Allocations by the runtime, not counting those of the fake itself.
extern thread_local int64_t allocations;

extern std::atomic<int64_t> binds;

} // namespace fake

#endif // FACT_TEST_UNIT_RUNTIME_FAKEDEVICE_H
