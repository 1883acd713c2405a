//===- Choice.cuh - What a kernel leaves to a library ----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Apart from Kernel.cuh: nvcc takes a second for <mutex> and <atomic>, which
// only few kernels need.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_CHOICE_CUH
#define FACT_CUTLASS_CHOICE_CUH

#include "Kernel.cuh"

#include <atomic>
#include <mutex>

namespace fact {

/// The choice that the kernel exported as `Symbol` was verified with. Kernels
/// of one type may have different ones. Hidden, so that each library has its
/// own.
template <class Kernel, class Symbol>
struct __attribute__((visibility("hidden"))) Adopted {
  using Choice = typename Kernel::Choice;
  static_assert(std::is_trivially_copyable_v<Choice> &&
                    std::has_unique_object_representations_v<Choice>,
                "a choice is stored as bytes");

  static inline std::mutex adopting;
  static inline std::atomic<bool> known{false};
  static inline Choice choice;

  static char const *choose(void *memory) {
    Choice made{};
    char const *problem = Kernel::choose(made);
    if (!problem)
      std::memcpy(memory, &made, sizeof(made));
    return problem;
  }

  static char const *adopt(void const *memory) {
    Choice given;
    std::memcpy(&given, memory, sizeof(given));
    if (char const *problem = Kernel::check(given))
      return problem;
    std::lock_guard<std::mutex> lock(adopting);
    if (known)
      return std::memcmp(&given, &choice, sizeof(given)) == 0
                 ? nullptr
                 : "this process uses another one already";
    choice = given;
    known = true;
    return nullptr;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_CHOICE_CUH
