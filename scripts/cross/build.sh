#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds static tools for x86_64 or aarch64, from a machine of either kind, into
# build-ARCHITECTURE/static/bin.
#
#   build.sh ARCHITECTURE [TARGET ...]     default: fact-static-tools
set -euo pipefail
architecture=${1:?usage: build.sh ARCHITECTURE [TARGET ...]}
shift
[ $# -gt 0 ] || set -- fact-static-tools
cd "$(dirname "$0")/../.."
scripts/cross/make-sysroot.sh "$architecture" ".cache/$architecture"
build=build-$architecture sysroot=$PWD/.cache/$architecture/sysroot
if [ ! -f "$build/build.ninja" ]; then
  rm -rf "$build"
  llvm=$sysroot/usr/lib/llvm-22
  ccache="env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
  cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/scripts/cross/toolchain.cmake" \
    -DFACT_ARCHITECTURE="$architecture" -DFACT_SYSROOT="$sysroot" \
    -DMLIR_DIR="$llvm/lib/cmake/mlir" -DLLVM_DIR="$llvm/lib/cmake/llvm" -DFACT_BUILD_TESTS=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$ccache" -DCMAKE_C_COMPILER_LAUNCHER="$ccache"
fi
exec cmake --build "$build" --target "$@"
