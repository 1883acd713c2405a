#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds tests as a CMake preset says, into build-PRESET, and runs them.
#
#   check-preset.sh PRESET JUNIT SUITE ...     a SUITE is a folder of test/unit (Runtime, Tuning), or lit
#
# Fails if a test fails, if a suite cannot be built or has no test, or if a sanitizer finds anything in
# any process, also in one that a test expects to fail. LIT_FILTER=REGEX chooses tests of lit,
# CMAKE_BUILD_PARALLEL_LEVEL is the number of files to compile at once.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 junit=$2
shift 2
build=$PWD/build-$preset

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # ccache needs this to cache files that use precompiled headers.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
fi
cmake --preset "$preset" >/dev/null

# What sanitizers are asked for, wherever they run. Findings are files, which are counted at the end.
#   handle_*=0                 a crash stays the signal that tests look at
#   die_after_fork=0           tests fork beside threads
#   allocator_may_return_null  tests ask for more memory than there is, and for what is said then
# libMLIR and libLLVM are those of the distribution, without sanitizers:
#   allow_user_poisoning=0     LLVM's allocators poison and unpoison memory in inline functions, of which
#                              the library has copies that do neither
#   detect_leaks=0             what the library allocates and keeps; leaks of the tuner and the runtime are
#                              looked for without the compiler
findings=$build/findings
rm -rf "$findings"
mkdir -p "$findings"
common=log_path=$findings/finding:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
common+=:allocator_may_return_null=1
asan=$common:detect_stack_use_after_return=1:strict_string_checks=1
if grep -q '^FACT_BUILD_COMPILER:.*=ON$' "$build/CMakeCache.txt"; then
  asan+=:allow_user_poisoning=0:detect_leaks=0
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-$common:halt_on_error=1:die_after_fork=0}

unit() {
  cmake --build "$build" --target "test/unit/$1/all" &&
    ctest --test-dir "$build/test/unit/$1" --no-tests=error --output-on-failure -j "$(nproc)" \
      --label-exclude full --output-junit "$2"
}
lit() {
  LIT_OPTS="--xunit-xml-output=$1" cmake --build "$build" --target check-fact-lit
}

status=0 reports=()
for suite in "$@"; do
  report=$build/$suite.xml
  rm -f "$report"
  if [ "$suite" = lit ]; then lit "$report"; else unit "$suite" "$report"; fi || status=1
  if [ -e "$report" ]; then reports+=("$report"); else status=1; fi
done
for finding in "$findings"/*; do
  # Memory that was not there is what a test asked for. A process that is interrupted while it ends
  # does not learn how the child ended by which it tries ptrace, and guesses that it may not.
  [ -e "$finding" ] && grep -qv -e 'Sanitizer failed to allocate' -e 'LeakSanitizer may hang' \
    -e 'Child exited with signal' "$finding" || continue
  status=1
  cat "$finding"
done
[ ${#reports[@]} -gt 0 ] || exit 1
# One file with all of them.
{ echo "<testsuites>"; tail -qn +2 "${reports[@]}"; echo "</testsuites>"; } > "$junit"
exit $status
