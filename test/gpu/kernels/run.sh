#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the kernels and the driver, in parallel, and runs each case.
#
#   run.sh <cutlass> [case...]
#
# <cutlass> is a CUTLASS tree (include/, tools/, examples/). Objects go to
# $BUILD (build/kernels). A compile that spills, or that serializes wgmma
# (C7510, C7511), is a failure, and so is a case that runs for two minutes.
# $LAUNCHER is put before what uses the GPU ("flock FILE" where others use it).
set -u
cutlass=${1:?usage: run.sh <cutlass> [case...]}
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${BUILD:-$root/build/kernels}
mkdir -p "$build/include/fact/cutlass"
ln -sf "$root"/lib/Target/Cuda/*/Kernels/*.cuh "$build/include/fact/cutlass/"
ln -sfn "$root/include/fact/Runtime" "$build/include/fact/Runtime"

cases=("$@")
if [ ${#cases[@]} -eq 0 ]; then
  for file in "$here"/*.cu; do
    name=$(basename "$file" .cu)
    [ "$name" = driver ] || cases+=("$name")
  done
fi

flags=(-std=c++17 -O3 -DNDEBUG -gencode=arch=compute_90a,code=sm_90a
       --expt-relaxed-constexpr -I"$build/include" -I"$cutlass/include"
       -I"$cutlass/tools/util/include" -I"$cutlass/examples")

compile() { # name
  local extra=()
  case $1 in
    attention_*) extra=(--use_fast_math) ;;
    gemm_cublas*) extra=(-lcublasLt) ;;
  esac
  nvcc "${flags[@]}" -shared -Xcompiler -fPIC -Xptxas -v "$here/$1.cu" \
    "${extra[@]}" -o "$build/$1.so" >"$build/$1.log" 2>&1 ||
    { echo "$1: compile failed: $build/$1.log"; rm -f "$build/$1.so"; return; }
  if grep -qE 'C7510|C7511|C7508|[1-9][0-9]* bytes spill' "$build/$1.log"; then
    echo "$1: spills or serializes: $build/$1.log"
    rm -f "$build/$1.so"
  fi
}

nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a --extended-lambda \
  --expt-relaxed-constexpr -I"$build/include" "$here/driver.cu" \
  -o "$build/driver" -ldl >"$build/driver.log" 2>&1 &
jobs_at_once=${JOBS:-$(nproc)}
for name in "${cases[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n; done
  compile "$name" &
done
wait
[ -x "$build/driver" ] || { cat "$build/driver.log"; exit 1; }

failures=0
printf '%-20s %-5s %9s %9s %9s %9s %8s\n' case '' error ms TFLOP/s GB/s 'host us'
for name in "${cases[@]}"; do
  if [ ! -f "$build/$name.so" ]; then
    printf '%-20s not compiled\n' "$name"
    failures=$((failures + 1))
    continue
  fi
  ${LAUNCHER:-} timeout -k 5 120 "$build/driver" "$name" "$build/$name.so" || {
    printf '%-20s failed (%d)\n' "$name" $?
    failures=$((failures + 1))
  }
done
echo "$failures of ${#cases[@]} failed"
exit $((failures > 0))
