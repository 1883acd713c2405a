# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries of bundles, tuned on this GPU, against PyTorch.

Bundles are folders in FACT_GPU_DIR/bundles (made by `make pack-gpu`), each with a
workload.json that says what it was made from. Weights come from fixed seeds, so the
module here is the one that was exported. TUNE_FLAGS has more options for fact-tune;
FACT_GPU_BUNDLE names one bundle, so that scripts/check-gpu.sh can give each a process.
"""

import json
import os
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(os.environ.get("FACT_GPU_DIR", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python"), str(Path(__file__).parent)]

import fact  # noqa: E402
from fact import bench, toolchain, verify  # noqa: E402
from fact.workload import load_workload  # noqa: E402
from tuned import failures, tune  # noqa: E402

WANTED = os.environ.get("FACT_GPU_BUNDLE", "*")
BUNDLES = sorted(path.parent for path in (ROOT / "bundles").glob(f"{WANTED}/workload.json"))

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
    report = tune(toolchain.require_tool("fact-tune"), folder, "-o", str(library), timeout=3000)
    assert not failures(report), "\n".join(failures(report))
    info = json.loads((folder / "workload.json").read_text())
    source = ROOT / "examples" / "workloads" / f"{info['workload']}.py"
    workload = load_workload(str(source), dtype=info["dtype"], size=info["size"], device="cuda")
    yield fact.load(library), workload
    del workload
    torch.cuda.empty_cache()


def same(one, two) -> bool:
    """Bit for bit, or one rounding apart: sums that are split may be added in another order."""
    found, unit = verify.compare(one, two), torch.finfo(one.dtype).eps
    return found.norm <= unit / 2 and found.element <= 2 * unit


def test_is_as_exact_as_eager(case):
    library, workload = case
    model = library.create(workload.module)
    with torch.no_grad():
        exact = bench.exact_result(workload.module, workload.inputs)
        verify.check_beside(model(*workload.inputs), workload.module(*workload.inputs), exact)


def test_repeats_itself_on_another_stream(case):
    library, workload = case
    model = library.create(workload.module)
    first = model(*workload.inputs)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        second = model(*workload.inputs)
    stream.synchronize()
    assert same(second, first), str(verify.compare(second, first))


def test_addresses_in_turn(case):
    """More sets of addresses than a kernel remembers, each twice, on two streams; views of them
    that are not row-major are copied by the library."""
    library, workload = case
    model = library.create(workload.module)
    expected = model(*workload.inputs)
    sets = [[x.clone() for x in workload.inputs] for _ in range(10)]
    sets += [[torch.stack([x, x], -1)[..., 0] for x in workload.inputs] for _ in range(2)]
    torch.cuda.synchronize()
    results, streams = [], [torch.cuda.Stream() for _ in range(2)]
    for index, inputs in enumerate(sets * 2):
        with torch.cuda.stream(streams[index % 2]):
            results.append(model(*inputs))
    torch.cuda.synchronize()
    for result in results:
        assert same(result, expected), str(verify.compare(result, expected))


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
        assert same(output, right), str(verify.compare(output, right))


def test_two_streams_share_a_workspace(case):
    """Runs on separate streams wait for each other, so none sees another's intermediates."""
    library, workload = case
    model = library.create(workload.module)
    other = [torch.randn_like(x) if x.is_floating_point() else x for x in workload.inputs]
    expected = [model(*inputs) for inputs in (workload.inputs, other)]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(2)]
    found = [[], []]
    for _ in range(20):
        for stream, inputs, results in zip(streams, (workload.inputs, other), found):
            with torch.cuda.stream(stream):
                results.append(model(*inputs))
    torch.cuda.synchronize()
    for results, right in zip(found, expected):
        for result in results:
            compared = verify.compare(result, right.double())
            assert verify.within(compared, verify.tolerance(right.dtype)), str(compared)


def test_weights_that_change_in_place_are_seen(case):
    library, workload = case
    if not library.weights:
        pytest.skip("no weights")
    model = library.create(workload.module)
    model.watch_weights()
    before = model(*workload.inputs)
    with torch.no_grad():
        for parameter in workload.module.parameters():
            parameter.data.mul_(0.5)
        again, fresh = model(*workload.inputs), library.create(workload.module)(*workload.inputs)
        for parameter in workload.module.parameters():
            parameter.data.mul_(2)
    assert verify.within(verify.compare(again, fresh), verify.tolerance(fresh.dtype))
    assert not torch.equal(again, before)


def test_closing_beside_kernels_that_run(case):
    library, workload = case
    model = library.create(workload.module)
    expected = model(*workload.inputs)
    result = model(*workload.inputs)
    model.close()
    assert verify.within(verify.compare(result, expected), verify.tolerance(expected.dtype))


def test_end_to_end(case):
    """What fact.compile does with a library, on the GPU."""
    from fact import end_to_end

    library, workload = case
    model = library.create(workload.module)
    verdict = end_to_end.compare_with_module(model, workload.module, workload.inputs)
    assert verdict.skipped is None and verdict.errors, str(verdict)
    with torch.no_grad():
        parameter = next((p for p in workload.module.parameters() if p.dim() > 1), None)
        if parameter is None:
            return
        changed = library.create(workload.module)
        original, parameter.data = parameter.data, parameter.data * 1.5
        with pytest.raises(end_to_end.Refused, match="does not compute what the module does"):
            end_to_end.compare_with_module(changed, workload.module, workload.inputs)
        parameter.data = original


def test_weights_on_the_cpu_are_brought_over(case):
    library, workload = case
    if not library.weights:
        pytest.skip("no weights")
    weights = {n: t.cpu() for n, t in fact.weights.module_tensors(workload.module).items()
               if n in {entry["name"] for entry in library.weights}}
    here = library.create(weights)(*workload.inputs)
    there = library.create(workload.module)(*workload.inputs)
    assert same(here, there), str(verify.compare(here, there))


def test_inputs_on_the_cpu_are_refused(case):
    library, workload = case
    model = library.create(workload.module)
    with pytest.raises(fact.FactError, match="the library runs on cuda"):
        model(*[x.cpu()[:1] for x in workload.inputs])


def test_there_are_bundles():
    assert BUNDLES, f"no bundles in {ROOT / 'bundles'}: make pack-gpu, or set FACT_GPU_DIR"
