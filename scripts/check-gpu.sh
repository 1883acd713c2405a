#!/usr/bin/env bash
# On a machine with a GPU, in a checkout or an unpacked out/gpu: the kernel headers against
# their references, then the libraries of carried bundles against PyTorch.
set -uo pipefail
cd "$(dirname "$0")/.."
python=python3
[ -x .venv/bin/python ] && python=$PWD/.venv/bin/python
export PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH}

if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  echo "check-gpu: error: torch sees no GPU here. Pack with make pack-gpu and run out/gpu/run.sh check on a machine that has one" >&2
  exit 1
fi
cutlass=$("$python" python/fact/toolchain.py cutlass) ||
  { echo "check-gpu: error: CUTLASS was not found: set FACT_CUTLASS_DIR" >&2; exit 1; }
nvcc=$("$python" python/fact/toolchain.py nvcc) ||
  { echo "check-gpu: error: nvcc was not found" >&2; exit 1; }
export PATH=$(dirname "$nvcc"):$PATH

failed=0
if [ -x test/gpu/kernels/run.sh ]; then
  echo "check-gpu: kernels against references"
  test/gpu/kernels/run.sh "$cutlass" || failed=1
fi
echo "check-gpu: libraries against PyTorch"
"$python" -m pytest -q -p no:cacheprovider test/gpu "$@" || failed=1
exit $failed
