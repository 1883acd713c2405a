#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds unit tests as a CMake preset says, into build-PRESET, and runs them.
#
#   check-preset.sh PRESET JUNIT SUITE ...     a SUITE is a folder of test/unit: Runtime, Tuning
#
# Fails if a test fails, or if a suite cannot be built.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 junit=$2
shift 2

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset "$preset" >/dev/null
ninja -C "build-$preset" "${@/%/Tests}"

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:die_after_fork=0}
status=0 reports=()
for suite in "$@"; do
  reports+=("build-$preset/$suite.xml")
  ctest --test-dir "build-$preset/test/unit/$suite" --output-on-failure -j "$(nproc)" \
    --label-exclude full --output-junit "$PWD/build-$preset/$suite.xml" || status=1
done
# One file with all of them.
{ echo "<testsuites>"; tail -qn +2 "${reports[@]}"; echo "</testsuites>"; } > "$junit"
exit $status
