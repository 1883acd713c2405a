#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures once and builds into build/ with progress.
#
#   build.sh [TARGET ...]     default: everything but fuzzers (fact-fuzzers) and static tools
#
# `MLIR_DIR` names another LLVM/MLIR 22, `FACT_CMAKE_FLAGS` has more options for the first
# configuration, `CMAKE_BUILD_PARALLEL_LEVEL` is the number of files to compile at once.
set -euo pipefail
cd "$(dirname "$0")/.."

mlir=${MLIR_DIR:-/usr/lib/llvm-22/lib/cmake/mlir}
if [ ! -f "$mlir/MLIRConfig.cmake" ]; then
  echo "build: error: no LLVM/MLIR 22 at $mlir: run make setup, or set MLIR_DIR" >&2
  exit 1
fi
llvm=$(realpath "$mlir/../../..")

if [ ! -f build/build.ninja ]; then
  # A configuration that failed halfway is not continued.
  rm -rf build/CMakeCache.txt build/CMakeFiles
  echo "build: configuring"
  launcher=()
  if command -v ccache >/dev/null; then
    # ccache needs this to cache files that use precompiled headers.
    ccache="env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
    launcher=("-DCMAKE_C_COMPILER_LAUNCHER=$ccache" "-DCMAKE_CXX_COMPILER_LAUNCHER=$ccache")
  fi
  cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release -DFACT_WARNINGS_AS_ERRORS=ON \
    -DCMAKE_C_COMPILER="$llvm/bin/clang" -DCMAKE_CXX_COMPILER="$llvm/bin/clang++" \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld \
    -DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld \
    -DMLIR_DIR="$mlir" -DLLVM_DIR="$llvm/lib/cmake/llvm" \
    "${launcher[@]}" ${FACT_CMAKE_FLAGS:-}
fi
[ $# -gt 0 ] || set -- all
exec cmake --build build --target "$@"
