#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds tests as a CMake preset says, into build-PRESET, and runs them.
#
#   check-preset.sh PRESET JUNIT SUITE ...     a SUITE is a folder of test/unit (Runtime, Tuning), or lit
#
# Fails if a test fails, or if a suite cannot be built. LIT_FILTER=REGEX chooses tests of lit.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 junit=$2
shift 2
build=$PWD/build-$preset

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset "$preset" >/dev/null

# What sanitizers are asked for, wherever they run. libMLIR and libLLVM are those of the distribution,
# without sanitizers:
#   allow_user_poisoning=0     LLVM's allocators poison and unpoison memory in inline functions, of which
#                              the library has copies that do neither
#   detect_leaks=0             what the library allocates and keeps; leaks of the tuner and the runtime are
#                              looked for without the compiler
#   die_after_fork=0           tests fork beside threads
asan=detect_stack_use_after_return=1:strict_string_checks=1
if grep -q '^FACT_BUILD_COMPILER:.*=ON$' "$build/CMakeCache.txt"; then
  asan+=:allow_user_poisoning=0:detect_leaks=0
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:die_after_fork=0}

status=0 reports=()
for suite in "$@"; do
  report=$build/$suite.xml
  rm -f "$report"
  if [ "$suite" = lit ]; then
    LIT_OPTS="--xunit-xml-output=$report" ninja -C "$build" check-fact-lit || status=1
  else
    ninja -C "$build" "test/unit/$suite/all"
    ctest --test-dir "$build/test/unit/$suite" --output-on-failure -j "$(nproc)" \
      --label-exclude full --output-junit "$report" || status=1
  fi
  if [ -e "$report" ]; then reports+=("$report"); else status=1; fi
done
[ ${#reports[@]} -gt 0 ] || exit 1
# One file with all of them.
{ echo "<testsuites>"; tail -qn +2 "${reports[@]}"; echo "</testsuites>"; } > "$junit"
exit $status
