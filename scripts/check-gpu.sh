#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# On a machine with a GPU, in a checkout or an unpacked out/gpu: the kernel headers against
# their references, fact-tune's verdicts, planted mistakes, families under compute-sanitizer,
# random graphs and the libraries of carried bundles against PyTorch, CUDA graphs and what a call
# costs the host.
#
#   check-gpu.sh [STAGE ...]     kernels tuning families mutants graphs calls libraries; default: all
#
# Each stage is a process of its own with a timeout, so that none hides what follows it.
set -uo pipefail
cd "$(dirname "$0")/.."
python=python3
[ -x .venv/bin/python ] && python=$PWD/.venv/bin/python
export PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH}
here=${FACT_GPU_DIR:-$PWD}
fact_tune=${FACT_BIN_DIR:-$PWD/build/bin}/fact-tune

if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  echo "check-gpu: error: torch sees no GPU here. Pack with make pack-gpu and run out/gpu/run.sh check on a machine that has one" >&2
  exit 1
fi
cutlass=$("$python" python/fact/toolchain.py cutlass) ||
  { echo "check-gpu: error: CUTLASS was not found: set FACT_CUTLASS_DIR" >&2; exit 1; }
nvcc=$("$python" python/fact/toolchain.py nvcc) ||
  { echo "check-gpu: error: nvcc was not found" >&2; exit 1; }
export PATH=$(dirname "$nvcc"):$PATH FACT_CUTLASS_DIR=$cutlass

failed=()
stage() { # name seconds command...
  local name=$1 seconds=$2
  shift 2
  echo "check-gpu: $name"
  timeout -k 30 "$seconds" "$@"
  local status=$?
  [ $status -eq 0 ] && return
  [ $status -eq 124 ] && echo "check-gpu: $name ran for $seconds s"
  failed+=("$name")
}

kernels() { stage kernels 1800 test/gpu/kernels/run.sh "$cutlass"; }
tuning() { stage tuning 900 "$python" test/gpu/tuning/run.py --fact-tune "$fact_tune"; }
families() { stage families 3600 "$python" -m pytest -q -p no:cacheprovider test/gpu/test_families.py; }
mutants() { stage mutants 1800 "$python" test/mutants/run.py cuda "$here/mutants"; }
graphs() { stage graphs 1800 "$python" test/gpu/graphs.py run "$here/graphs"; }
calls() {
  stage calls 1800 "$python" test/gpu/calls.py run "$here/calls" --json "$here/results/calls.json"
}
libraries() {
  local bundles=("$here"/bundles/*/workload.json)
  [ -e "${bundles[0]}" ] || { echo "check-gpu: no bundles in $here/bundles: make pack-gpu"; failed+=(libraries); return; }
  # A library that crashes or hangs takes its own process with it, and no other.
  for workload in "${bundles[@]}"; do
    local name=$(basename "$(dirname "$workload")")
    FACT_GPU_BUNDLE=$name stage "library $name" 3600 \
      "$python" -m pytest -q -p no:cacheprovider test/gpu/test_library.py
  done
}

stages=("$@")
[ $# -gt 0 ] || stages=(kernels tuning families mutants graphs calls libraries)
for each in "${stages[@]}"; do
  case $each in
  kernels | tuning | families | mutants | graphs | calls | libraries) "$each" ;;
  *) echo "check-gpu: error: unknown stage $each; known are kernels tuning families mutants graphs calls libraries" >&2; exit 2 ;;
  esac
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "check-gpu: failed: ${failed[*]}"
  exit 1
fi
echo "check-gpu: passed: ${stages[*]}"
