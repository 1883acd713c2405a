//===- emulation.cpp - Threads of a block as fibers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emulation.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace emulation {

void fail(const char *what) {
  std::fprintf(stderr, "emulation: %s (block %u, %u, %u; thread %u, %u, %u)\n",
               what, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
               threadIdx.y, threadIdx.z);
  std::abort();
}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

extern "C" {
/// Goes on where `to` stopped; `*from` is where this one stops. (swapcontext
/// does the same with two system calls, and a launch has many threads.)
void emulationSwitch(void **from, void *to);
void emulationEnter();
}

// Keeps the registers that a called function must not change.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
emulationSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
)");
/// Six registers, the address to return to, and one word that aligns.
static void **startingStack(char *end) {
  void **top = reinterpret_cast<void **>(end) - 8;
  std::memset(top, 0, 8 * sizeof(void *));
  top[6] = reinterpret_cast<void *>(emulationEnter);
  return top;
}
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
emulationSwitch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
static void **startingStack(char *end) {
  void **top = reinterpret_cast<void **>(end) - 20;
  std::memset(top, 0, 20 * sizeof(void *));
  top[11] = reinterpret_cast<void *>(emulationEnter);
  return top;
}
#else
#error "fibers switch on x86_64 and aarch64"
#endif

namespace {
constexpr size_t stackBytes = 256 << 10;

struct Copy {
  char *target;
  const void *source;
  int bytes, given;
};

struct Fiber {
  void *stack;
  uint3 thread;
  int lane;
  bool started = false, done = false;
  std::vector<std::vector<Copy>> groups;
  std::vector<Copy> open;
};

/// Lanes that wait for each other: a part of a warp, named by its mask.
struct Meeting {
  unsigned arrived = 0;
  uint64_t generation = 0;
  size_t bytes = 0;
  // Lanes may read one set of values while others arrive with the next.
  std::vector<char> values[2];
};

struct Warp {
  unsigned alive = 0;
  std::vector<std::pair<unsigned, Meeting>> meetings;
};

struct Barrier {
  int arrived = 0;
  uint64_t generation = 0;
};

/// A bulk copy on its way.
struct BulkCopy {
  char *target;
  const void *source;
  int bytes;
};

/// A barrier in shared memory.
struct PhaseBarrier {
  int count, missing, bytes = 0;
  uint32_t parity = 0;
  std::vector<BulkCopy> copies;
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Barrier all, some[16];
  std::map<uint32_t, PhaseBarrier> phases;
  bool copiesAtOnce = false;
  int alive = 0;
  Fiber *current = nullptr;
  void *scheduler = nullptr;
  const std::function<void()> *thread = nullptr;
  /// Whether some fiber went on since the last look.
  bool progress = false;
};

Block *running = nullptr;
// Kept between launches: stacks are large.
std::vector<std::unique_ptr<char[]>> stacks;

alignas(1024) char dynamicShared[sharedBytes];

void pause() { emulationSwitch(&running->current->stack, running->scheduler); }

void release(Barrier &barrier, int wanted) {
  if (barrier.arrived == wanted && wanted > 0) {
    barrier.arrived = 0;
    ++barrier.generation;
    running->progress = true;
  }
}

void wait(Barrier &barrier, int wanted) {
  uint64_t generation = barrier.generation;
  ++barrier.arrived;
  release(barrier, wanted);
  while (barrier.generation == generation)
    pause();
}

Warp &warpOf(const Fiber &fiber) {
  size_t index = static_cast<size_t>(&fiber - running->fibers.data());
  return running->warps[index / warpSize];
}

Meeting &meetingOf(Warp &warp, unsigned mask) {
  for (auto &[known, meeting] : warp.meetings)
    if (known == mask)
      return meeting;
  warp.meetings.emplace_back(mask, Meeting());
  return warp.meetings.back().second;
}

void close(Warp &warp, unsigned mask, Meeting &meeting) {
  if (meeting.arrived && meeting.arrived == (mask & warp.alive)) {
    meeting.arrived = 0;
    ++meeting.generation;
    running->progress = true;
  }
}

/// A thread that returned is waited for no longer.
void leave(Fiber &fiber) {
  fiber.done = true;
  --running->alive;
  Warp &warp = warpOf(fiber);
  warp.alive &= ~(1u << fiber.lane);
  for (auto &[mask, meeting] : warp.meetings)
    close(warp, mask, meeting);
  release(running->all, running->alive);
  running->progress = true;
}

void resume(Fiber &fiber, char *stack) {
  running->current = &fiber;
  threadIdx = fiber.thread;
  if (!fiber.started) {
    fiber.started = running->progress = true;
    fiber.stack = startingStack(stack + stackBytes);
  }
  emulationSwitch(&running->scheduler, fiber.stack);
}

/// Rounds go up and down, so that no order among threads can be relied on.
void runThreads() {
  size_t count = running->fibers.size();
  for (bool upwards = true; running->alive > 0; upwards = !upwards) {
    running->progress = false;
    for (size_t i = 0; i < count; ++i) {
      size_t at = upwards ? i : count - 1 - i;
      if (!running->fibers[at].done)
        resume(running->fibers[at], stacks[at].get());
    }
    if (!running->progress)
      fail("threads wait for others that do not come");
  }
}

void runBlock(Block &block, dim3 threads, size_t bytes) {
  size_t count = size_t(threads.x) * threads.y * threads.z;
  block.fibers.resize(count);
  block.warps.assign((count + warpSize - 1) / warpSize, Warp());
  block.all = Barrier();
  std::fill(std::begin(block.some), std::end(block.some), Barrier());
  block.phases.clear();
  block.alive = static_cast<int>(count);
  while (stacks.size() < count)
    stacks.emplace_back(new char[stackBytes]);
  for (size_t i = 0; i < count; ++i) {
    Fiber &fiber = block.fibers[i];
    fiber.started = fiber.done = false;
    unsigned x = static_cast<unsigned>(i) % threads.x;
    unsigned rest = static_cast<unsigned>(i) / threads.x;
    fiber.thread = {x, rest % threads.y, rest / threads.y};
    fiber.lane = static_cast<int>(i % warpSize);
    block.warps[i / warpSize].alive |= 1u << fiber.lane;
  }
  // NaN, whatever the type.
  std::memset(dynamicShared, 0xff, bytes);
  running = &block;
  runThreads();
  running = nullptr;
}
} // namespace

/// Where a fiber begins.
extern "C" void emulationEnter() {
  Fiber &fiber = *running->current;
  (*running->thread)();
  // Copies that nobody waited for arrive at last.
  waitForCopies(0);
  leave(fiber);
  pause();
}

int lane() { return running->current->lane; }

char *sharedMemory() { return dynamicShared; }

cudaError_t runGrid(dim3 grid, dim3 threads, size_t bytes,
                    const std::function<void()> &thread) {
  size_t count = size_t(threads.x) * threads.y * threads.z;
  if (count == 0 || count > 1024 || grid.y > 65535 || grid.z > 65535 ||
      !grid.x || !grid.y || !grid.z || bytes > 227 << 10)
    return cudaErrorInvalidConfiguration;
  // One grid at a time, whichever thread launches it.
  static std::mutex device;
  std::lock_guard<std::mutex> lock(device);
  static Block block;
  block.thread = &thread;
  blockDim = threads;
  gridDim = grid;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        runBlock(block, threads, bytes);
      }
  return cudaSuccess;
}

void synchronizeBlock() { wait(running->all, running->alive); }

void synchronizeSome(int id, int threads) { wait(running->some[id], threads); }

bool isLaneActive(int lane) {
  // A lane that has returned since then took part.
  size_t index = static_cast<size_t>(running->current - running->fibers.data());
  size_t at = index / warpSize * warpSize + static_cast<size_t>(lane);
  return lane >= 0 && lane < warpSize && at < running->fibers.size();
}

const void *exchange(unsigned mask, const void *value, size_t bytes) {
  Fiber &fiber = *running->current;
  Warp &warp = warpOf(fiber);
  int lane = fiber.lane;
  if (!(mask >> lane & 1))
    fail("a lane is not in its own mask");
  Meeting *meeting = &meetingOf(warp, mask);
  if (meeting->arrived && meeting->bytes != bytes)
    fail("lanes of a warp wait at different instructions");
  uint64_t generation = meeting->generation;
  std::vector<char> &values = meeting->values[generation % 2];
  meeting->bytes = bytes;
  values.resize(bytes * warpSize);
  std::memcpy(values.data() + bytes * static_cast<size_t>(lane), value, bytes);
  meeting->arrived |= 1u << lane;
  close(warp, mask, *meeting);
  // The list of meetings may grow meanwhile.
  while (meetingOf(warp, mask).generation == generation)
    pause();
  return meetingOf(warp, mask).values[generation % 2].data();
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

static PhaseBarrier &phaseOf(uint32_t barrier) {
  auto found = running->phases.find(barrier);
  if (found == running->phases.end())
    fail("a barrier is not initialized");
  return found->second;
}

static void endPhase(PhaseBarrier &barrier) {
  if (barrier.missing < 0)
    fail("a barrier has more arrivals than its count");
  if (barrier.missing || barrier.bytes)
    return;
  barrier.missing = barrier.count;
  barrier.parity ^= 1;
  running->progress = true;
}

static void arrive(PhaseBarrier &barrier) {
  for (const BulkCopy &copy : barrier.copies) {
    std::memcpy(copy.target, copy.source, static_cast<size_t>(copy.bytes));
    barrier.bytes -= copy.bytes;
  }
  bool some = !barrier.copies.empty();
  barrier.copies.clear();
  if (some)
    endPhase(barrier);
}

void initBarrier(uint32_t barrier, int count) {
  checked<char>(fromShared(barrier), 8);
  PhaseBarrier &phase = running->phases[barrier];
  phase = PhaseBarrier();
  phase.count = phase.missing = count;
}

void arriveAt(uint32_t barrier, int bytes) {
  PhaseBarrier &phase = phaseOf(barrier);
  phase.bytes += bytes;
  --phase.missing;
  endPhase(phase);
}

bool tryBarrier(uint32_t barrier, uint32_t parity) {
  PhaseBarrier &phase = phaseOf(barrier);
  arrive(phase);
  if (phase.parity == parity)
    pause();
  return phase.parity != parity;
}

void copyBulk(uint32_t shared, const void *global, int bytes,
              uint32_t barrier) {
  if (bytes % 16)
    fail("a bulk copy has a multiple of 16 bytes");
  PhaseBarrier &phase = phaseOf(barrier);
  phase.copies.push_back({checked<char>(fromShared(shared), 16),
                          checked<const char>(global, 16), bytes});
  running->copiesAtOnce = !running->copiesAtOnce;
  if (running->copiesAtOnce)
    arrive(phase);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void copyAsync(char *shared, const void *global, int bytes, int given) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || given < 0 || given > bytes)
    fail("an asynchronous copy has 4, 8 or 16 bytes");
  checked<char>(shared, static_cast<size_t>(bytes));
  checked<const char>(global, static_cast<size_t>(bytes));
  running->current->open.push_back({shared, global, bytes, given});
}

void commitCopies() {
  Fiber &fiber = *running->current;
  fiber.groups.push_back(std::move(fiber.open));
  fiber.open.clear();
}

static void arrive(const std::vector<Copy> &copies) {
  for (const Copy &copy : copies) {
    std::memset(copy.target, 0, static_cast<size_t>(copy.bytes));
    std::memcpy(copy.target, copy.source, static_cast<size_t>(copy.given));
  }
}

void waitForCopies(int groups) {
  Fiber &fiber = *running->current;
  while (fiber.groups.size() > static_cast<size_t>(groups)) {
    arrive(fiber.groups.front());
    fiber.groups.erase(fiber.groups.begin());
  }
  if (groups == 0) {
    arrive(fiber.open);
    fiber.open.clear();
  }
}

} // namespace emulation
