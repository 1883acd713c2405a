#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cross-builds fact-tune and fact-registry for x86_64 into build-x86_64/bin.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/cross/make-sysroot.sh .cache/x86_64
if [ ! -f build-x86_64/build.ninja ]; then
  cmake -G Ninja -S . -B build-x86_64 -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/scripts/cross/x86_64.cmake" \
    -DFACT_SYSROOT="$PWD/.cache/x86_64/sysroot" \
    -DFACT_BUILD_COMPILER=OFF -DFACT_BUILD_TESTS=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache
fi
ninja -C build-x86_64 fact-tune fact-registry
