//===- LibraryCheck.h - A linked library against references -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fact-tune ships what passes here: every kernel is verified as it lies in the
// linked library, not in an object or a database that may have changed since.
//
// A check is a file of lines, a keyword and words:
//
//   kernel PATH   the job of the library's next kernel; its `candidate` is the
//                 kernel in the library
//   only N        verifies kernel N and nothing else
//   input FILL    what the program's next input holds: `normal SCALE`, or
//   weight FILL   `uniform LOW HIGH`, or `file PATH`; the same for weights
//   kernels       verifies no more than the kernels
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

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_LIBRARYCHECK_H
