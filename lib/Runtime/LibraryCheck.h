//===- LibraryCheck.h - A linked library against references -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last check before fact-tune ships a library: every kernel is verified as
// linked, since objects and database entries may have changed in between.
//
// A check is a file; each line is a keyword and its arguments:
//
//   kernel PATH   the job of the library's next kernel; its `candidate` is the
//                 kernel in the library
//   only N        verifies kernel N only
//   input FILL    the content of the program's next input or weight:
//   weight FILL   `normal SCALE`, `uniform LOW HIGH`, `factors SPREAD`, or
//                 `file PATH`
//   kernels       verifies the kernels but not the program
//   library PATH  the next library of a race
//   sustained     a race without pauses (Timing.h)
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_LIBRARYCHECK_H
#define FACT_LIB_RUNTIME_LIBRARYCHECK_H

namespace fact {
namespace runtime {

/// Reports and ends the process. `{"phase": "kernel N"}` goes before each
/// kernel, `{"phase": "program"}` before the program (ProgramCheck.h). The
/// status is "unchosen", with `{"choices": {"N": HEX}}`, where the library has
/// no choice for kernels that need one.
[[noreturn]] void checkLibrary(const char *library, const char *check);

/// Times the libraries that a file names with `library PATH`, on the inputs and
/// weights that it describes as a check does, in turn (ProgramRace.h). Reports
/// `{"rounds": N, "times": [{"us", "us_low", "us_high", "ratio", "ratio_low",
/// "ratio_high"}...]}`, with regime, clock and power, and ends the process.
[[noreturn]] void raceLibraries(const char *race);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_LIBRARYCHECK_H
