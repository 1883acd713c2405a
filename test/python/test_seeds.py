# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Right kernels with many seeds: the verifier does not refuse them by chance."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import fact
from fact import toolchain
from fact.workload import load_workload

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
sys.path.insert(0, str(MUTANTS))

import run  # noqa: E402
import seeds  # noqa: E402

FOLDER = Path(__file__).parent / "models"
MODELS = sorted(path.stem for path in FOLDER.glob("*.py"))
TOOLS = Path(toolchain.find_tool("fact-compile")).parent


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_right_kernels_are_accepted(name, dtype, tmp_path):
    workload = load_workload(str(FOLDER / f"{name}.py"), dtype=dtype)
    graph = fact.export(workload.module, workload.inputs, name=f"{name}_{dtype}")
    source = tmp_path / f"{graph.name}.mlir"
    source.write_text(graph.text)
    drawn = seeds.draw(None, 20)
    refused = seeds.refusals(TOOLS, source, tmp_path, drawn)
    assert not refused, "\n".join(f"seed {seed}: {text}" for seed, text in refused)


@pytest.mark.full
def test_a_wrong_kernel_is_refused(tmp_path):
    base = MUTANTS / "host" / "concat.mlir"
    bundle = tmp_path / "concat"
    description = run.emit(TOOLS, base, "host", bundle)
    folder = bundle / "kernels" / "concat"
    folder.mkdir(exist_ok=True)
    shutil.copy(base.parent / "kernel.h", folder)
    for name, text in (("right", "x[i]"), ("wrong", "2 * x[i]")):
        source = base.with_suffix(".cpp").read_text().replace("x[i] :", f"{text} :")
        (folder / f"{name}.cpp").write_text(source)
        run.set_candidates(bundle, description, [{
            "key": name, "source": f"kernels/concat/{name}.cpp", "symbol": "candidate",
            "link": ["-lm", "-lpthread"]}])
        refused = [seeds.refusal(TOOLS, bundle, seed) for seed in seeds.draw(None, 2)]
        assert all("wrong" in each for each in refused) if name == "wrong" else not any(refused), refused
