# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a compilation: its data, and the page and text that show it."""

from __future__ import annotations

import collections
import copy
import fcntl
import json
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import termios

import pytest
import torch

from agent_runs import GRAPH
from fact import FactError, toolchain
from fact.__main__ import main
from fact.reporting import text as terminal, units
from fact.reporting.collect import build_report, find_report, read
from fact.reporting.data import Report
from fact.reporting.page import render
from fact.reporting.rails import Block, Node, fold, lay_out, nodes_after, nodes_before
from fact.reporting.transcript import read_proposals
from hostile_server import Server, pattern, patterns
from report_pages import Page, compile_bundle, replayed

needs_compiler = pytest.mark.skipif(toolchain.find_tool("fact-compile") is None,
                                    reason="fact-compile is not built")

WORKLOAD = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 8)

    def forward(self, x):
        return torch.softmax(self.down(torch.relu(self.up(x))), -1)

def get_init_inputs():
    return []

def get_inputs():
    return [torch.randn(4, 16)]
"""


@pytest.fixture(scope="module")
def agent_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replayed")
    return folder, replayed(folder)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A library that `fact compile` made, and the page beside it."""
    pytest.importorskip("torch_mlir")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "mlp.py").write_text(WORKLOAD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACT_WORK_DIR", str(folder / "work"))
        assert main(["compile", str(folder / "mlp.py"), "--target=host", "--candidates=2",
                     "-o", str(folder / "mlp.so")]) == 0
    return folder / "mlp.so"


def check_page(text: str) -> Page:
    """A page that is well formed, needs nothing else, and whose links lead somewhere."""
    page = Page(text)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for link in page.values("href"):
        assert link.startswith("#") and link[1:] in ids, link
    assert not page.values("src") and "link" not in page.tags and "img" not in page.tags
    assert not re.search(r"url\(|@import|https?://", re.sub(r"<script type.*?</script>", "", text))
    assert not [name for _, attributes in page.elements for name in attributes
                if name.startswith("on")]
    for label in page.values("aria-labelledby"):
        assert label in ids
    return page


# The data.


@needs_compiler
def test_a_replayed_run(agent_folder):
    _, report = agent_folder
    assert report.status == "not tuned" and report.target == "h200, sm_90a"
    assert report.basis == "predicted" and report.total_us > report.sol_us > 0
    ops, groups = report.graph.ops, report.graph.groups
    assert len(ops) == 25 and len(groups) == 7 and not report.graph.is_outline
    assert {op.group for op in ops} == set(range(7))
    assert {group.kernel for group in groups} == {kernel.name for kernel in report.kernels}
    assert sum(kernel.launches for kernel in report.kernels) == 7
    assert sum(report.share(kernel) for kernel in report.kernels) == pytest.approx(1)
    matmul = next(op for op in ops if op.op == "matmul")
    assert {"weight": "attention.qkv.weight"} in matmul.operands and "transpose_b" in matmul.attributes
    assert report.machine["name"] == "h200" and report.machine["bandwidth"] > 4e12
    assert all(kernel.candidates and not kernel.tried for kernel in report.kernels)
    # What the model proposed, and why.
    assert len(report.proposals) == 7 and all(p.accepted for p in report.proposals)
    first = report.proposals[0]
    assert first.rule == "gemm_epilogue" and first.ops == ["n19 matmul", "n20 add", "n21 gelu"]
    assert first.rationale.startswith("Bias and tanh-gelu") and first.strategy == "new"
    assert report.statistics["discovery"]["tokens_in"] == 2111


@needs_compiler
def test_a_bundle_without_its_summary(agent_folder, tmp_path):
    folder, report = agent_folder
    shutil.copytree(folder / "bundle", tmp_path / "elsewhere")
    alone = find_report(tmp_path / "elsewhere")
    assert alone.graph.is_outline and [op.op for op in alone.graph.ops] == \
        [op.op for op in report.graph.ops]
    # The same launches read the same launches.
    assert [node.sources for node in nodes_after(alone.graph)] == \
        [node.sources for node in nodes_after(report.graph)]
    assert "without their operands" in check_page(render(alone)).text
    # Beside the summary, it has the graph.
    assert not find_report(folder).graph.is_outline
    assert not find_report(folder / "bundle").graph.is_outline


def test_rejected_proposals():
    answer = {"patterns": [{"rule": "rowwise", "ops": ["n1"], "rationale": "why", "strategy": "NEW"}]}
    verdicts = [{"proposal": "rowwise: n1", "accepted": False, "reason": "'n1' is a product"},
                {"proposal": "other: n2", "accepted": True, "reason": ""}]
    for text in (json.dumps(answer), f"<think>{{}}</think>\n```json\n{json.dumps(answer)}\n```",
                 "no JSON at all"):
        transcript = {"conversations": [{"rounds": [{
            "messages": [{"content": "n1 = matmul x w\nn2 = add n1 b"}], "answer": text,
            "verdicts": verdicts}]}]}
        rejected, accepted = read_proposals(transcript)
        assert not rejected.accepted and rejected.reason == "'n1' is a product"
        assert rejected.ops == ["n1 matmul"]
        assert rejected.rationale == ("" if text.startswith("no") else "why")
        assert accepted.accepted and not accepted.rationale
    assert read_proposals({}) == [] and read_proposals({"conversations": [3, {"rounds": 1}]}) == []


def test_results_of_another_machine(root, tmp_path):
    """A tuning.json alone, as a GPU machine wrote it."""
    (tmp_path / "bundle").mkdir()
    results = root / "docs" / "benchmarks" / "h200-2026-11-15" / "pooled_head-tuning.json"
    shutil.copy(results, tmp_path / "bundle" / "tuning.json")
    report = build_report({}, tmp_path / "bundle")
    (kernel,) = report.kernels
    assert report.name == "pooled_head" and report.status == "tuned" and report.basis == "measured"
    assert kernel.us == report.total_us == 440.896 and kernel.tried == 5
    assert [c.schedule for c in kernel.candidates if c.winner] == [kernel.schedule]
    check_page(render(report))


def test_ablation_of_any_form():
    def rows(entries):
        from fact.reporting.collect import _ablation

        return [(row.name, row.gain, row.detail) for row in _ablation(entries)]

    assert rows([{"kernel": "a", "gain": 0.1}, {"pattern": "b", "gain": 2, "us": 3.5}]) == \
        [("b", 2, "us 3.5"), ("a", 0.1, "")]
    assert rows({"a": 1.5, "b": {"gain": 3}}) == [("b", 3, ""), ("a", 1.5, "")]
    assert rows(None) == rows("x") == rows([1, {}, {"kernel": "a"}, {"gain": 1}]) == []
    assert rows([{"kernel": "a", "gain": float("nan")}]) == []
    # As `fact-tune --ablate` writes them.
    assert rows([{"kernel": "a", "form": "fused", "other": "split", "ratio": 1.25,
                  "ratio_low": 1.2, "ratio_high": 1.3}]) == [
        ("a", 0.25, "form fused, other split, ratio low 1.2, ratio high 1.3")]


def test_json_form():
    data = Report("m", "tuned").to_json()
    assert Report.from_json(json.loads(json.dumps(data))) == Report("m", "tuned")
    assert Report.from_json({**data, "later": 1}).name == "m"
    with pytest.raises(ValueError, match="newer"):
        Report.from_json({**data, "format": 99})
    with pytest.raises(ValueError, match="not a report"):
        Report.from_json({"name": "m"})


def test_units():
    assert [units.microseconds(us) for us in (None, 0.0125, 0.5, 52.254, 999.6, 41838.0, 2.5e6)] == \
        ["–", "12.5 ns", "0.5 µs", "52.3 µs", "1 ms", "41.8 ms", "2.5 s"]
    assert [units.percent(share) for share in (-0.25, 0, 1e-6, 0.0022, 0.058, 0.74, 1)] == \
        ["-25 %", "0 %", "< 0.01 %", "0.22 %", "5.8 %", "74 %", "100 %"]
    assert units.scaled(989e12, "FLOP/s") == "989 TFLOP/s" and units.scaled(12, "B") == "12 B"
    assert units.count(1, "launch") == "1 launch" and units.count(2, "launch") == "2 launches"


# The graph as rows.


def test_rails_lead_from_a_value_to_all_its_readers():
    for seed in range(200):
        generator = random.Random(seed)
        sources = [sorted({generator.randrange(row) for _ in range(generator.randrange(4))})
                   if row else [] for row in range(generator.randrange(1, 40))]
        rails, lanes = lay_out(sources)
        for row, (read_, rail) in enumerate(zip(sources, rails)):
            assert sorted(owner for _, owner in rail.incoming) == read_
            # One value per lane, above the row and below it.
            below = [lane for lane, _ in rail.passing] + [rail.lane] * rail.leaves
            assert len(below) == len(set(below)) and all(lane < lanes for lane in below)
            for lane, source in rail.incoming:
                assert lane == rails[source].lane
                assert all((lane, source) in rails[between].passing
                           for between in range(source + 1, row))
            assert rail.leaves == any(row in later for later in sources[row + 1:])


def test_repeated_layers_are_folded():
    layer = ["norm", "matmul", "add", "attention", "matmul", "gelu"]
    names = ["embedding", *(layer * 32), "norm", "matmul"]
    nodes = [Node(name, ("op", name), group=row) for row, name in enumerate(names)]
    assert fold(nodes) == [0, Block(list(range(1, 7)), 32), 193, 194]
    # A block has whole kernels: half of the last layer's kernel belongs to another one.
    groups = [0] + [1 + row // 2 for row in range(6 * 32)] + [500, 501]
    nodes = [Node(name, ("op", name), group=group) for name, group in zip(names, groups)]
    (block,) = [item for item in fold(nodes) if isinstance(item, Block)]
    assert block == Block(list(range(1, 7)), 32)
    assert fold(nodes[:20]) == list(range(20))


@needs_compiler
def test_views_are_no_launches(agent_folder):
    _, report = agent_folder
    graph = copy.deepcopy(report.graph)
    before, after = nodes_before(graph), nodes_after(graph)
    assert len(before) == 1 + 25 + 1 and len(after) == 1 + 7 + 1
    assert after[0].title == "x" and after[-1].title == "output"
    # The residual: the input is read by the norm and by the third product.
    assert [row for row, node in enumerate(after) if 0 in node.sources] == [1, 4]
    # An op outside of kernels passes its operand on.
    view = next(index for index, op in enumerate(graph.ops) if op.group == 0)
    graph.ops[view].group = None
    assert len(nodes_after(graph)) == 1 + 6 + 1
    assert nodes_after(graph)[1].sources == [0]


# The page.


@needs_compiler
def test_page_of_a_replayed_run(agent_folder):
    _, report = agent_folder
    page = check_page(render(report))
    for expected in ("Before 25 ops", "After 7 launches", "matmul → add → gelu", "not tuned",
                     "predictions of the cost model", "n19 matmul",
                     "Bias and tanh-gelu in the epilogue", "16-bit products 989 TFLOP/s"):
        assert expected in page.text, expected
    assert "Errors" not in page.text and "Ablation" not in page.text


@needs_compiler
def test_names_cannot_change_the_page(agent_folder, tmp_path):
    """Every string of the data, from weights to rationales, is text."""
    _, report = agent_folder
    known = {"ok", "tuned", "failed", "not tuned", "rules", "replay"}
    data = report.to_json()
    data["kernels"][0]["candidates"][0] |= {"status": "ok", "us": 3.0, "winner": True}
    data["kernels"][0]["candidates"][1] |= {"status": "wrong", "detail": "far off"}
    data |= {"errors": ["an error"], "verdict": "exact: 1e-7", "ablation": [
        {"name": "a", "gain": 1.0, "detail": "d"}], "provenance": {"seed": "1"}}

    def hostile(value):
        if isinstance(value, dict):
            return {key: hostile(each) for key, each in value.items()}
        if isinstance(value, list):
            return [hostile(each) for each in value]
        if not isinstance(value, str) or not value or value in known:
            return value
        return f"{value}</script><b onclick='x' title=\"{{{{data}}}}&lt;"

    plain = check_page(render(Report.from_json(data)))
    text = render(Report.from_json(hostile(data)))
    page = check_page(text)
    assert collections.Counter(page.tags) == collections.Counter(plain.tags)
    assert page.tags.count("script") == 2 and "up.weight</script><b onclick=" in page.text
    (tmp_path / "x.report.html").write_text(text)
    assert find_report(tmp_path / "x.report.html").to_json() == hostile(data)


def test_page_of_almost_nothing():
    page = check_page(render(Report("m", "failed", errors=["input 'x' is missing"])))
    assert "input 'x' is missing" in page.text and "Graph" not in page.text
    assert "were not recorded" in check_page(render(Report("m", "failed"))).text


@needs_compiler
def test_hundreds_of_kernels_stay_readable(agent_folder):
    """Sixty equal layers: the graph is folded, and the bar has a dozen parts."""
    data = agent_folder[1].to_json()
    graph, ops, groups = data["graph"], data["graph"]["ops"], data["graph"]["groups"]
    layers, count = copy.deepcopy(ops), len(groups)
    for layer in range(1, 60):
        for op in layers:
            later = copy.deepcopy(op)
            later["group"] += layer * count
            later["operands"] = [
                o + layer * len(layers) if isinstance(o, int) else
                layer * len(layers) - 1 if "input" in o else o for o in later["operands"]]
            ops.append(later)
        groups += [{**group, "kernel": f"{group['kernel']}_{layer}"} for group in groups[:count]]
    kernels = data["kernels"]
    data["kernels"] = [{**kernel, "name": f"{kernel['name']}_{layer}" if layer else kernel["name"]}
                       for layer in range(60) for kernel in kernels]
    graph["outputs"] = [len(ops) - 1]
    page = check_page(render(Report.from_json(data)))
    assert "repeat 60 times" in page.text and "After 420 launches" in page.text
    assert page.text.count("repeat") == 2
    assert sum(value.startswith("part ") for value in page.values("class")) == 12
    assert sum(value.startswith("row ") for value in page.values("class")) < 60


def test_templates_are_part_of_the_package(root):
    import tomllib

    settings = tomllib.loads((root / "pyproject.toml").read_text())
    listed = settings["tool"]["setuptools"]["package-data"]["fact.reporting"]
    folder = root / "python" / "fact" / "reporting"
    assert sorted(listed) == sorted(path.name for path in folder.iterdir()
                                    if path.is_file() and path.suffix != ".py")


# The command.


@needs_compiler
def test_compile_writes_a_page(compiled, capsys, tmp_path):
    page = compiled.with_suffix(".report.html")
    report = find_report(compiled)
    assert report == find_report(page)
    assert report.status == "tuned" and report.verdict and report.basis == "measured"
    assert [op.op for op in report.graph.ops] == ["matmul", "add", "relu", "matmul", "add", "softmax"]
    assert report.graph.ops[0].line == "mlp.py:11"
    assert report.provenance["seed"] and report.provenance["torch"] and report.weights == 4
    assert "★ the winner" in check_page(page.read_text()).text
    capsys.readouterr()
    assert main(["report", str(compiled), "--json"]) == 0
    assert Report.from_json(json.loads(capsys.readouterr().out)) == report
    assert main(["report", str(compiled), "--json", "-o", str(tmp_path / "r.json")]) == 0
    assert find_report(tmp_path / "r.json") == report
    capsys.readouterr()
    assert main(["report", str(compiled), "--text"]) == 0
    text = capsys.readouterr().out
    assert "mlp for host: tuned" in text and "winner" in text and report.kernels[0].name in text
    check_text_of_mlp(report, text)
    assert main(["report", str(page), "-o", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_text() == page.read_text()


def check_text_of_mlp(report, text):
    """The graph before and after, grouped; memory, objects and seconds, as in the data."""
    assert "Graph: 6 ops before fusion, 3 launches after\nx : 4x16xf32\n" in text
    assert "  %0 = matmul(x, up.weight) {transpose_b} : 4x32xf32  mlp.py:11\n" \
           "  %1 = add(%0, up.bias) : 4x32xf32  mlp.py:11\n" in text
    graph = report.graph
    grouped = []
    for line in text.partition("\nGraph: ")[2].partition("\nreturn %5\n")[0].splitlines()[2:]:
        if number := re.match(r"  %(\d) = (\w+)\(", line):
            assert graph.ops[int(number[1])].op == number[2]
            grouped[-1][1].append(int(number[1]))
        else:
            grouped.append((line.partition(":")[0], []))
    assert grouped == [(group.kernel, [i for i, op in enumerate(graph.ops) if op.group == number])
                       for number, group in enumerate(graph.groups)]

    def row(name, value):
        return re.search(rf"^ *{re.escape(name)} +{re.escape(value)} *$", text, re.M)

    statistics = report.statistics
    memory, objects, tuning = statistics["memory"], statistics["objects"], statistics["tuning"]
    assert memory["workspace_bytes"] > 0
    assert row("workspace", units.scaled(memory["workspace_bytes"], "B"))
    assert row("objects", f"{objects['compiled']} compiled, {objects['cached']} cached")
    assert objects["compiled"] + objects["cached"] >= len(report.kernels)
    for name, seconds in {**tuning, **statistics["stages"]}.items():
        if name != "total":
            assert row(name.replace("_", " "), f"{seconds:.2f}"), name
    assert tuning["total"] > tuning["link"] > 0 and tuning["compile_and_measure"] > 0
    for kernel in report.kernels:
        assert re.search(rf"^ *{kernel.name} +{kernel.norm_error:.1e} ", text, re.M)


@needs_compiler
def test_provenance(compiled, root):
    """Who compiled it, where and how: on the page, in the data and in the terminal."""
    import platform

    found = find_report(compiled).provenance
    assert list(found) == ["fact version", "llvm version", "verifier version", "processor", "machine",
                           "compiler", "seed", "tuned on", "command",
                           *(["commit"] if (root / ".git").exists() else []), "python", "torch"]
    tuning, = (compiled.parent / "work").glob("*/bundle/tuning.json")
    measured = read(tuning)
    for key, name in {"machine": "machine", "compiler": "compiler", "seed": "seed",
                      "tuned on": "date"}.items():
        assert found[key] == str(measured[name])
    versions = read(tuning.with_name("bundle.json"))["versions"]
    assert {key: found[f"{key} version"] for key in versions} == {
        key: str(value) for key, value in versions.items()}
    assert found["machine"].startswith(f"{platform.machine()}, ")
    assert found["python"] == platform.python_version() and found["torch"] == torch.__version__
    assert found["command"].startswith("fact ")
    page = check_page(compiled.with_suffix(".report.html").read_text())
    told = page.text.partition("Provenancefact version")[2]
    assert told and all(" ".join(value.split()) in told for value in found.values())


def in_columns(columns, *arguments):
    """What the command prints to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        # The size is set before anything asks for it.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(sys.executable, [sys.executable, "-m", "fact", *map(str, arguments)])
    printed = b""
    try:
        while data := os.read(terminal, 1 << 16):
            printed += data
    except OSError:  # The end, on Linux.
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, printed.decode()
    return re.sub(r"\x1b\[[\d;]*m", "", printed.decode()).replace("\r\n", "\n")


@needs_compiler
def test_text_in_80_columns(compiled, agent_folder, tmp_path):
    report = find_report(compiled)
    text = in_columns(80, "report", compiled, "--text")
    assert max(map(len, text.splitlines())) <= 80
    # Names of kernels are whole, and each has a row of figures in one line.
    kernels = text.partition("Kernels, measured")[2].partition("Candidates")[0]
    for kernel in report.kernels:
        assert re.search(rf"^ {kernel.name} +1 +[\d.]+ [µn]s +\d+ % +#+ +", kernels, re.M)
    # Of a model for a GPU: long lines of ops are wrapped behind their beginnings.
    folder, report = agent_folder
    text = in_columns(80, "report", folder, "--text")
    graph = text.partition("\nGraph: 25 ops before fusion, 7 launches after\n")[2].partition("\n\nKernels")[0]
    lines = graph.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) > 25 + 7 + 2
    assert re.findall(r"^  %(\d+) = ", graph, re.M) == [str(i) for i in range(25)]
    assert sum(line.startswith(6 * " ") for line in lines) == len(lines) - 25 - 7 - 2
    assert re.findall(r"^(\w+): ", graph, re.M) == [group.kernel for group in report.graph.groups]


def test_text_of_repeated_layers(capsys):
    """A layer that repeats is printed once, ops in no kernel too."""
    ops, groups = [], []
    for _ in range(40):
        for op, kernel in (("norm", "rowwise_0"), ("matmul", "gemm_1"), ("gelu", "gemm_1")):
            if op != "gelu":
                groups.append({"kernel": kernel, "rule": kernel})
            ops.append({"op": op, "type": "4x4xf32", "group": len(groups) - 1,
                        "operands": [len(ops) - 1 if ops else {"input": "x"}]})
    ops.append({"op": "reshape", "type": "16xf32", "operands": [119]})
    data = Report("m", "not tuned").to_json()
    data["graph"] |= {"ops": ops, "groups": groups, "outputs": [120], "inputs": [{"name": "x"}]}
    terminal.show(Report.from_json(data))
    shown = capsys.readouterr().out.partition("\nGraph: ")[2].splitlines()
    assert shown[0] == "121 ops before fusion, 80 launches after"
    assert shown[2:] == [
        "40 times, the first of them:", "  rowwise_0: norm", "    %0 = norm(x) : 4x4xf32",
        "  gemm_1: matmul → gelu", "    %1 = matmul(%0) : 4x4xf32", "    %2 = gelu(%1) : 4x4xf32",
        "%120 = reshape(%119) : 16xf32", "return %120"]
    data["graph"] |= {"ops": [{**op, "group": None} for op in ops[:3]], "groups": [], "outputs": [2]}
    terminal.show(Report.from_json(data))
    shown = capsys.readouterr().out.partition("\nGraph: ")[2].splitlines()
    assert shown[0] == "3 ops, not grouped into kernels" and shown[2] == "%0 = norm(x) : 4x4xf32"


@needs_compiler
def test_every_part_of_a_page_shows_what_was_measured(compiled):
    report = find_report(compiled)
    page = check_page(compiled.with_suffix(".report.html").read_text())
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections == ["time", "graph", "roofline", "kernels", "agent", "statistics", "provenance"]

    def classed(word):
        return [attributes for _, attributes in page.elements if word in attributes.get("class", "").split()]

    # The bar: a part for each kernel, as long as its share.
    shares = [float(each["style"].partition("flex-grow:")[2]) for each in classed("part")]
    assert len(shares) == len(report.kernels) and sum(shares) == pytest.approx(1, abs=1e-3)
    assert shares == sorted(shares, reverse=True)
    # The roofline: a mark for each kernel with arithmetic, which says its rate.
    counted = [kernel for kernel in report.kernels if kernel.flops and kernel.bytes]
    marks = classed("mark")
    assert counted and len(marks) == len(counted)
    assert all("FLOP/s" in each["title"] and each["href"].startswith("#kernel-") for each in marks)
    # Each candidate that was timed, beside its prediction; one star per kernel that has a chart.
    charts = [kernel for kernel in report.kernels if sum(bool(c.us) for c in kernel.candidates) > 1]
    assert charts and len([each for each in classed("try") if "winner" in each["class"]]) == len(charts)
    assert len(classed("try")) == sum(bool(c.us) for kernel in charts for c in kernel.candidates)
    # The graph: ops of one color are one kernel, launches unfold.
    ops, launches = classed("op"), classed("kernel")
    launches = [each for each in launches if "row" in each["class"]]
    assert len(ops) == len(report.graph.ops) == 6
    assert len(launches) == len(report.graph.groups)
    colors = [re.search(r"\bg\d\b", each["class"])[0] for each in ops]
    groups = [op.group for op in report.graph.ops]
    assert len(set(zip(colors, groups))) == len(set(groups)) == len(set(colors))


def test_an_ablation_that_was_measured():
    data = Report("m", "tuned").to_json() | {"ablation": [
        {"name": "gemm", "gain": 0.25, "detail": "form fused"},
        {"name": "rows", "gain": -0.05, "detail": ""}]}
    page = check_page(render(Report.from_json(data)))
    assert "Ablation" in page.text and "gemmform fused 25 %" in page.text and "-5 %" in page.text


@needs_compiler
def test_an_ablation_of_the_tuner(tmp_path, monkeypatch, capfd):
    """What `fact-tune --ablate` measures is on the page, and what it prints beside it."""
    pytest.importorskip("torch_mlir")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    (tmp_path / "mlp.py").write_text(WORKLOAD)
    # Every other form is measured, however slow it is predicted to be.
    assert main(["compile", str(tmp_path / "mlp.py"), "--target=host", "--candidates=2",
                 "--option=--tuner-argument=--ablate", "--option=--alternatives=100",
                 "-o", str(tmp_path / "mlp.so")]) == 0
    assert re.search(r"^kernel +form +against +gain +interval$", capfd.readouterr().out, re.M)
    tuning, = (tmp_path / "work").glob("*/bundle/tuning.json")
    measured = read(tuning)["ablations"]
    assert measured and {each["form"] for each in measured} <= {"fused", "single", "apart"}
    rows = find_report(tmp_path / "mlp.so").ablation
    assert sorted((row.name, row.gain) for row in rows) == sorted(
        (each["kernel"], each["ratio"] - 1) for each in measured)
    page = check_page((tmp_path / "mlp.report.html").read_text())
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections.index("ablation") == sections.index("kernels") + 1
    shown = page.text.partition("measured in turn with the program as it is.")[2]
    for each in measured:
        assert (f"{each['kernel']}form {each['form']}, other {each['other']}, ratio low "
                f"{each['ratio_low']:.4g}, ratio high {each['ratio_high']:.4g} "
                f"{units.percent(each['ratio'] - 1)}") in shown
    assert main(["report", str(tmp_path / "mlp.so"), "--text"]) == 0
    text = capfd.readouterr().out
    assert re.search(rf"^ *without +longer by .*\n.*\n *{rows[0].name} +{units.percent(rows[0].gain)} ", text,
                     re.M)


@needs_compiler
def test_proposals_of_a_model_that_were_rejected(tmp_path, monkeypatch, capsys):
    """With the compiler's reason and the model's rationale, on the page and in the terminal."""
    monkeypatch.setenv("COLUMNS", "1000")
    (tmp_path / "graph.mlir").write_text(GRAPH)
    proposals = patterns(
        pattern("n0 n1", "gemm_epilogue", rationale="the product and its epilogue"),
        # The next one would make a cycle with this one.
        pattern("n2 n4", rationale="what reads the exponential"),
        pattern("n3 n5", rationale="what reads the tangent"),
        pattern("n9", rationale="an op of another graph"))
    with Server(proposals) as server:
        folder = compile_bundle(tmp_path / "graph.mlir", tmp_path / "run", "--agent=llm",
                                f"--llm-url={server.url}", "--llm-model=small", "--llm-rounds=1",
                                f"--transcript={tmp_path / 'transcript.json'}", target="host")
    report = find_report(folder)
    verdicts = {tuple(p.ops): (p.accepted, p.reason) for p in report.proposals}
    accepted = [ops for ops, (is_accepted, _) in verdicts.items() if is_accepted]
    assert len(verdicts) == 4 and accepted == [("n0 matmul", "n1 gelu"), ("n2 exp", "n4 add")]
    assert verdicts[("n9",)][1] == "there is no op 'n9' in the graph"
    assert all(reason for is_accepted, reason in verdicts.values() if not is_accepted)
    page = check_page(render(report))
    listed = [attributes["class"] for tag, attributes in page.elements
              if tag == "li" and attributes.get("class") in ("accepted", "rejected")]
    assert listed == ["accepted", "accepted", "rejected", "rejected"]
    assert main(["report", str(folder), "--text"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for proposal in report.proposals:
        assert proposal.rationale in page.text and proposal.rationale in text
        assert proposal.reason in page.text and proposal.reason in text
    assert "rejected pointwise fusion, request 1" in page.text
    assert f"rejected pointwise: n9; an op of another graph; {verdicts[('n9',)][1]}" in text


@needs_compiler
def test_library_without_its_page(compiled, tmp_path):
    shutil.copy(compiled, tmp_path / "alone.so")
    assert main(["report", str(tmp_path / "alone.so")]) == 0
    report = find_report(tmp_path / "alone.so")
    assert [k.name for k in report.kernels] == [k.name for k in find_report(compiled).kernels]
    assert report.basis == "measured"
    check_page((tmp_path / "alone.report.html").read_text())


@needs_compiler
def test_failed_compilation(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch_mlir")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(WORKLOAD.replace(
        "torch.softmax(", "torch.linalg.eigvalsh(x[:, :4]).sum() + torch.softmax("))
    assert main(["compile", "bad.py", "--target=host", "-o", "bad.so"]) == 1
    assert "report: bad.report.html" in capsys.readouterr().err
    report = find_report(tmp_path / "bad.report.html")
    assert report.status == "failed" and not report.kernels
    assert "bad.py:" in report.errors[0] and "linalg_eigvalsh" in report.errors[0]
    page = check_page((tmp_path / "bad.report.html").read_text())
    assert "linalg_eigvalsh" in page.text and "proposals" not in page.text
    assert main(["report", "bad.report.html", "--text"]) == 0
    assert "linalg_eigvalsh" in capsys.readouterr().out
    (tmp_path / "bad.report.html").unlink()
    assert main(["compile", "bad.py", "--target=host", "-o", "bad.so", "--no-report"]) == 1
    assert not (tmp_path / "bad.report.html").exists()
    # Told of no output, it leaves nothing in the current folder.
    assert main(["compile", "bad.py", "--target=host"]) == 1
    page = tmp_path / "work" / "libbad.report.html"
    assert f"report: {page}" in capsys.readouterr().err
    assert find_report(page).status == "failed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.py", "work"]


@needs_compiler
def test_errors_of_the_tuner(tmp_path, monkeypatch, capfd):
    """A compiler that refuses every candidate: the page and the bundle's report say why."""
    pytest.importorskip("torch_mlir")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlp.py").write_text(WORKLOAD)
    compile_ = ["compile", "mlp.py", "--target=host", "--candidates=1", "-o", "mlp.so"]
    with monkeypatch.context() as cold:
        cold.setenv("FACT_CACHE_DIR", str(tmp_path / "cache"))
        assert main([*compile_, "--option=--tuner-argument=--launcher",
                     "--option=--tuner-argument=false"]) == 1
    # The command that reproduces it writes into no folder that is gone.
    assert "--summary=" not in capfd.readouterr().err.split("reproduce it with\n")[1].splitlines()[0]
    bundle, = (tmp_path / "work").glob("*/bundle")
    reports = [find_report(path) for path in (tmp_path / "mlp.report.html", bundle)]
    for report in reports:
        assert report.status == "failed"
        assert "compile" in report.errors[0] and "tuning failed" not in report.errors[0]
    assert "tuning failed" in reports[0].errors[1] and reports[0].kernels
    first = reports[0].errors[0].splitlines()[0]
    assert first in check_page((tmp_path / "mlp.report.html").read_text()).text
    # The next run succeeds, and its report has no errors.
    subprocess.run([toolchain.find_tool("fact-tune"), bundle, "--candidates", "1", "--untuned"],
                   check=True, capture_output=True)
    assert not (bundle / "failure.json").exists() and not find_report(bundle).errors


def test_nothing_to_report(tmp_path, capsys):
    with pytest.raises(FactError, match="does not exist"):
        find_report(tmp_path / "none")
    with pytest.raises(FactError, match="no bundle and no work folder"):
        find_report(tmp_path)
    (tmp_path / "x.html").write_text("<p>")
    assert main(["report", str(tmp_path / "x.html")]) == 1
    assert "has no data of a report" in capsys.readouterr().err
    assert read(tmp_path / "x.html") == {}
