"""Libraries of bundles, tuned on this GPU, against PyTorch.

Bundles are folders in FACT_GPU_DIR/bundles (made by `make pack-gpu`), each with a
workload.json that says what it was made from. Weights come from fixed seeds, so the
module here is the one that was exported. TUNE_FLAGS has more options for fact-tune.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(os.environ.get("FACT_GPU_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import fact  # noqa: E402
from fact import bench, toolchain, verify  # noqa: E402
from fact.workload import load_workload  # noqa: E402

BUNDLES = sorted(path.parent for path in (ROOT / "bundles").glob("*/workload.json"))

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU"),
    pytest.mark.skipif(toolchain.find_tool("fact-tune") is None, reason="fact-tune is not here"),
]


@pytest.fixture(scope="module", params=BUNDLES, ids=lambda path: path.name)
def case(request):
    """A tuned library, its module and inputs, on the GPU."""
    folder = request.param
    library = ROOT / "libraries" / f"{folder.name}.so"
    library.parent.mkdir(exist_ok=True)
    command = [str(toolchain.require_tool("fact-tune")), str(folder), "-o", str(library),
               *shlex.split(os.environ.get("TUNE_FLAGS", ""))]
    done = subprocess.run(command, env=toolchain.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    info = json.loads((folder / "workload.json").read_text())
    source = ROOT / "examples" / "workloads" / f"{info['workload']}.py"
    workload = load_workload(str(source), dtype=info["dtype"], size=info["size"], device="cuda")
    yield fact.load(library), workload
    del workload
    torch.cuda.empty_cache()


def test_is_as_exact_as_eager(case):
    library, workload = case
    model = library.create(workload.module)
    with torch.no_grad():
        exact = bench.exact_result(workload.module, workload.inputs)
        ours = verify.worst(model(*workload.inputs), exact)
        eager = verify.worst(workload.module(*workload.inputs), exact)
    assert bench.error_ratio(ours, eager) <= 1.5, f"ours: {ours}; eager: {eager}"


def test_repeats_itself_on_another_stream(case):
    library, workload = case
    model = library.create(workload.module)
    first = model(*workload.inputs)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        second = model(*workload.inputs)
    stream.synchronize()
    found = verify.compare(second, first)
    assert verify.within(found, verify.tolerance(first.dtype)), str(found)


def test_runs_in_a_cuda_graph(case):
    library, workload = case
    model = library.create(workload.module)
    outputs = [torch.empty(entry["shape"], dtype=workload.inputs[0].dtype, device="cuda")
               for entry in library.outputs]
    model.run(workload.inputs, outputs)
    torch.cuda.synchronize()
    expected = [output.clone() for output in outputs]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model.run(workload.inputs, outputs)
    for output in outputs:
        output.zero_()
    graph.replay()
    torch.cuda.synchronize()
    for output, right in zip(outputs, expected):
        assert verify.within(verify.compare(output, right), verify.tolerance(output.dtype))


def test_weights_on_the_cpu_are_brought_over(case):
    library, workload = case
    if not library.weights:
        pytest.skip("no weights")
    weights = {n: t.cpu() for n, t in fact.library.module_tensors(workload.module).items()
               if n in {entry["name"] for entry in library.weights}}
    here = library.create(weights)(*workload.inputs)
    there = library.create(workload.module)(*workload.inputs)
    assert verify.within(verify.compare(here, there), verify.tolerance(there.dtype))


def test_inputs_on_the_cpu_are_refused(case):
    library, workload = case
    model = library.create(workload.module)
    with pytest.raises(fact.FactError, match="the library runs on cuda"):
        model(*[x.cpu()[:1] for x in workload.inputs])


def test_there_are_bundles():
    assert BUNDLES, f"no bundles in {ROOT / 'bundles'}: make pack-gpu, or set FACT_GPU_DIR"
