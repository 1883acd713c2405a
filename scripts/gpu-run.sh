#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs on the GPU machine, beside fact-gpu.tar.xz, which it unpacks into FACT_GPU_DIR
# (default: fact-gpu beside it). Libraries and tuning results stay there between runs.
#
#   run.sh tune [NAME ...]     tune and link bundles -> libraries/NAME.so, results/patterns
#   run.sh bench [NAME ...]    the same, then fact bench -> results/NAME.json
#   run.sh compile NAME|FILE.mlir [OPTION ...]   fact-compile (packed with TOOLS=1) from exported text, packed
#                              or your own, as `compile llama3_block-bf16 --refine=2` -> libraries/NAME.so;
#                              with --until=bundle -> compiled/NAME, and no nvcc is needed
#   run.sh check [STAGE ...]   what scripts/check-gpu.sh does: kernels tuning families mutants
#                              graphs calls libraries
#   run.sh exec COMMAND ...    any command in that environment
#
# TUNE_FLAGS and BENCH_FLAGS have more options for fact-tune and fact bench; TARGET is compile's (auto).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) caller=$PWD
folder=$(realpath -m "${FACT_GPU_DIR:-$here/fact-gpu}")

stamp=$(sha256sum < "$here/fact-gpu.tar.xz")
if [ "$(cat "$folder/.stamp" 2>/dev/null)" != "$stamp" ]; then
  mkdir -p "$folder"
  tar -C "$folder" --strip-components=1 -xJf "$here/fact-gpu.tar.xz"
  echo "$stamp" > "$folder/.stamp"
fi
cd "$folder"
mkdir -p libraries results compiled
export FACT_BIN_DIR=$folder/bin FACT_CUTLASS_DIR=$folder/cutlass FACT_GPU_DIR=$folder
export PYTHONPATH=$folder/python:$folder/site${PYTHONPATH:+:$PYTHONPATH}
export PATH=$folder/bin:$PATH:/usr/local/cuda/bin
# What pack-gpu.sh compiled.
[ ! -d objects ] || export FACT_OBJECTS_DIR=$folder/objects

names() {
  if [ $# -gt 0 ]; then printf '%s\n' "$@"; else ls bundles; fi
}

# Bundles that are tuned together share compilers and the GPU.
measure() {
  [ $# -lt 2 ] || fact-tune "${@/#/bundles/}" --no-link ${TUNE_FLAGS:-} || true
}

tune() { # name
  [ -d "bundles/$1" ] || { echo "no bundle $1; known are: $(ls bundles | tr '\n' ' ')" >&2; return 1; }
  fact-tune "bundles/$1" -o "libraries/$1.so" ${TUNE_FLAGS:-} || return 1
  fact-registry add "bundles/$1" --to results/patterns > /dev/null
}

compile() { # name-or-file options
  [ -x bin/fact-compile ] || { echo "no fact-compile here: pack with TOOLS=1" >&2; return 1; }
  local program=programs/${1:-}.mlir name=${1:-}
  case $name in
  *.mlir) program=$(cd "$caller" && realpath -m "$name") name=$(basename "$name" .mlir) ;;
  esac
  [ -f "$program" ] ||
    { echo "no program ${1:-}; known are: $(ls programs | sed -n 's/.mlir$//p' | tr '\n' ' ')" >&2; return 1; }
  fact-compile "$program" --target="${TARGET:-auto}" --bundle="compiled/$name" \
    -o "libraries/$name.so" --summary="results/$name.summary.json" "${@:2}"
}

bench() { # name
  local field='import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])'
  local info=bundles/$1/workload.json workload dtype size precision
  workload=$(python3 -c "$field" "$info" workload)
  dtype=$(python3 -c "$field" "$info" dtype)
  size=$(python3 -c "$field" "$info" size)
  precision=$(python3 -c "$field" "$info" float32_precision)
  python3 -m fact bench "examples/workloads/$workload.py" --dtype "$dtype" --size "$size" \
    --float32-precision "$precision" --library "libraries/$1.so" --json "results/$1.json" ${BENCH_FLAGS:-}
}

command=${1:-help}
[ $# -eq 0 ] || shift
status=0
case $command in
tune) measure $(names "$@"); for name in $(names "$@"); do tune "$name" || status=1; done ;;
bench) measure $(names "$@"); for name in $(names "$@"); do { tune "$name" && bench "$name"; } || status=1; done ;;
compile) compile "$@" || status=$? ;;
check) scripts/check-gpu.sh "$@" || status=$? ;;
exec) "$@" || status=$? ;;
*) sed -n '2,/^set/p' "$here/run.sh" | sed -n 's/^# \{0,1\}//p'; status=2 ;;
esac
exit $status
