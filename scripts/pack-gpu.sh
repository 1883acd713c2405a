#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packs what a GPU machine needs into out/gpu: bundles, fact-tune and fact-registry for x86_64, the Python
# package, the workloads, the GPU tests, CUTLASS. There, only torch and nvcc are needed.
#
#   pack-gpu.sh [WORKLOAD:DTYPE ...]     default: what docs/benchmarks reports; `none`: no workload
#
# DTYPE is fp32, tf32 (fp32 whose products may use TF32), fp16 or bf16.
# TARGET names the architecture (sm_90a), SIZE a size of the workloads (full), GRAPHS how many
# random graphs go along (300) and GRAPH_SEED the first one's seed (random). BREADTH names the
# precisions in which the modules of test/breadth go along ("fp32 tf32 bf16"; none), MODELS those of
# the models of test/models ("fp32 bf16"; none), RANKING those in which test/gpu/ranking.py measures
# the tiles of products ("bf16 tf32 fp32"; none). With CHECKS=0, what `run.sh check` runs stays here, the
# random graphs too. With OBJECTS=N, N candidates of each kernel are compiled here (0); the other machine
# needs the same nvcc to use them. With PRODUCTS=1, so are the plain products that rank candidates there.
# With TOOLS=1, fact-compile, the built-in registry and the exported text of the workloads go along:
# `run.sh compile` there goes from text to library, with agents and rounds of refinement, or with
# --until=bundle to a bundle.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${TARGET:-sm_90a} size=${SIZE:-full}
workloads=("$@")
[ $# -gt 0 ] || workloads=(linear_chain:bf16 gemm_square:bf16 gemm_batched:bf16 gemm_large_k:bf16
  pooled_head:bf16 biased_attention:bf16 mini_gpt_block:bf16 mini_gpt_block:fp16 llama3_block:bf16)
[ "${workloads[*]}" = none ] && workloads=()
tools=(fact-tune fact-registry) limit_mib=60
[ "${TOOLS:-0}" = 0 ] || tools+=(fact-compile) limit_mib=90

say() { printf '%s\n' "pack: $*"; }
export PYTHONPATH=$PWD/python
python=.venv/bin/python
cutlass=$("$python" python/fact/toolchain.py cutlass)

static=$(scripts/static.sh x86_64 "${tools[@]/%/-static}")
stage=out/stage/fact-gpu
rm -rf out/stage out/gpu
mkdir -p "$stage"/{bin,bundles,programs,cutlass/tools/util,cutlass/examples,site} out/gpu

# The other machine finds nvcc on its PATH and CUTLASS beside the bundle.
localize() { # bundle path-to-cutlass
  sed -i -e "s#$cutlass#{bundle}/$2#g" -e "s#{cutlass}#{bundle}/$2#g" -e 's#"/[^"]*/nvcc"#"nvcc"#g' \
    "$1/bundle.json"
}

for entry in ${workloads[@]+"${workloads[@]}"}; do
  workload=${entry%%:*} dtype=${entry##*:}
  name=$workload-$dtype
  precision=highest
  [ "$dtype" != tf32 ] || dtype=fp32 precision=high
  say "bundle $name for $target"
  "$python" -m fact compile "examples/workloads/$workload.py" --dtype "$dtype" --size "$size" \
    --float32-precision "$precision" --target "$target" --bundle-only "$stage/bundles/$name"
  localize "$stage/bundles/$name" ../../cutlass
  [ "${TOOLS:-0}" = 0 ] || "$python" -m fact export "examples/workloads/$workload.py" --dtype "$dtype" \
    --size "$size" --float32-precision "$precision" -o "$stage/programs/$name.mlir"
  printf '{"workload": "%s", "dtype": "%s", "size": "%s", "float32_precision": "%s"}\n' \
    "$workload" "$dtype" "$size" "$precision" > "$stage/bundles/$name/workload.json"
done

# What `run.sh check` runs.
pack_checks() {
  say "a kernel of each family for $target"
  regions="families float32 strict_attention convolutions columns masks windows sm80 sm80_attention generic rows sorts tiles reads siblings"
  for name in $regions; do
    build/bin/fact-compile test/gpu/$name.mlir --target="$target" --until=bundle \
      --bundle="$stage/$name"
  done
  # The regions of the other families, as plain kernels.
  sed -e 's/fact.fused "[a-z_]*"/fact.fused "generic"/' -e 's/ space(.*>)//' test/gpu/families.mlir |
    build/bin/fact-compile - --target="$target" --until=bundle --bundle="$stage/generic-families"
  for bundle in $regions generic-families; do
    localize "$stage/$bundle" ../cutlass
  done

  say "planted mistakes"
  "$python" test/mutants/run.py pack "$stage/mutants"
  for bundle in "$stage"/mutants/*/; do localize "$bundle" ../../cutlass; done

  graphs=${GRAPHS:-300}
  if [ "$graphs" -gt 0 ]; then
    say "$graphs random graphs"
    "$python" test/gpu/graphs.py pack "$stage/graphs" --target "$target" --graphs "$graphs" \
      ${GRAPH_SEED:+--seed "$GRAPH_SEED"}
    for bundle in "$stage"/graphs/*/; do localize "$bundle" ../../cutlass; done
  fi

  say "programs of one, ten and two hundred launches"
  "$python" test/gpu/calls.py pack "$stage/calls" --target "$target"
  for bundle in "$stage"/calls/*/; do localize "$bundle" ../../cutlass; done
}
if [ "${CHECKS:-1}" != 0 ]; then pack_checks; fi

for precision in ${BREADTH:-}; do
  say "modules of test/breadth in $precision"
  "$python" test/breadth/run.py pack "$stage/breadth-$precision" --target "$target" \
    --precision "$precision" ${BREADTH_FLAGS:-}
  for bundle in "$stage/breadth-$precision"/*/; do localize "$bundle" ../../cutlass; done
done

if [ -n "${MODELS:-}" ]; then
  say "models of test/models in $MODELS"
  "$python" test/models/run.py pack "$stage/models" --target "$target" --precision $MODELS
  for bundle in "$stage"/models/*/; do localize "$bundle" ../../cutlass; done
fi

for precision in ${RANKING:-}; do
  say "tiles of products in $precision"
  "$python" test/gpu/ranking.py pack "$stage/ranking-$precision" --target "$target" \
    --precision "$precision"
done

say "tools, tests and CUTLASS"
for tool in "${tools[@]}"; do
  cp "$static/bin/$tool" "$stage/bin/"
done
if [ "${TOOLS:-0}" != 0 ]; then
  # Where fact-compile looks for the built-in registry.
  mkdir -p "$stage/share/fact"
  cp -r patterns "$stage/share/fact/"
fi
cp -r "$cutlass/include" "$stage/cutlass/"
cp -r "$cutlass/tools/util/include" "$stage/cutlass/tools/util/"
cp -r "$cutlass/examples/88_hopper_fmha" "$stage/cutlass/examples/"
mkdir -p "$stage/scripts" "$stage/test" "$stage/include"
cp -r python examples Makefile "$stage/"
cp -r test/gpu test/mutants test/breadth test/models "$stage/test/"
mkdir -p "$stage/test/python"
cp -r test/python/random_graphs "$stage/test/python/"
cp -r include/fact "$stage/include/"
cp --parents lib/Target/Cuda/*/Kernels/*.cuh "$stage/"
cp -r lib/Runtime "$stage/lib/"
cp scripts/check-gpu.sh "$stage/scripts/"
# Pure Python, for the tests and tables there.
packages=$(echo .venv/lib/python3*/site-packages)
for package in pytest _pytest pluggy iniconfig packaging pygments rich markdown_it mdurl; do
  cp -r "$packages/$package" "$stage/site/"
done
find "$stage" -name __pycache__ -type d -prune -exec rm -rf {} +

compile=()
[ "${PRODUCTS:-0}" != 0 ] && compile+=(--products)
[ "${OBJECTS:-0}" -gt 0 ] && compile+=(--compile-only --candidates "$OBJECTS")
packed=$(ls -d "$stage"/{bundles/*,families}/ 2>/dev/null || true)
if [ ${#compile[@]} -gt 0 ] && [ -n "$packed" ]; then
  say "objects: ${compile[*]}"
  build/bin/fact-tune $packed "${compile[@]}" --objects "$stage/objects"
  rm -rf "$stage"/{bundles/*,families}/{build,tuning.sqlite*}
fi

tar -C out/stage -c fact-gpu | xz -T0 -6 > out/gpu/fact-gpu.tar.xz
cp scripts/gpu-run.sh out/gpu/run.sh
rm -rf out/stage
mib=$(($(stat -c %s out/gpu/fact-gpu.tar.xz) >> 20))
[ "$mib" -lt "$limit_mib" ] || { say "error: out/gpu has $mib MiB, more than $limit_mib" >&2; exit 1; }
say "out/gpu: $mib MiB. On the GPU machine: out/gpu/run.sh$([ "${CHECKS:-1}" = 0 ] || echo " check")"
