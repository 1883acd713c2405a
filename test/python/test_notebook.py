# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What notebooks show of graphs, libraries and reports."""

import html
import os
import re
import sys
import time
import types

import pytest
import torch

import fact
from fact import notebook, progress, toolchain
from report_pages import Page

needs_compiler = pytest.mark.skipif(toolchain.find_tool("fact-compile") is None,
                                    reason="fact-compile is not built")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)

    def forward(self, x):
        return torch.relu(self.up(x)).sum(-1)


def shown(value):
    """The text of what a notebook shows; fails if tags do not match."""
    return Page(value._repr_html_()).text


@needs_compiler
def test_a_graph_and_its_results(tmp_path, monkeypatch):
    pytest.importorskip("torch_mlir")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path))
    module, inputs = Net(), (torch.randn(4, 16),)
    graph = fact.export(module, inputs)
    text = shown(graph)
    assert "net: exported, 2 weights with 544 elements" in text
    assert "up.weight" in text and "4 x 16" in text and "torch.aten" in text

    model = fact.compile(module, inputs, target="host", candidates=1)
    text = shown(model)
    assert "us per call" in text and "gemm_epilogue" in text and "up.bias" in text
    shares = re.findall(r"<td>([\d.]+)%</td>", model._repr_html_())
    assert sum(map(float, shares)) == pytest.approx(100, abs=0.5)
    assert model._repr_html_() == model.library._repr_html_()

    # The report of this compilation is the page, in a frame.
    report = model.library.report()
    assert report.status == "tuned" and report.graph.ops and "exact" in report.verdict
    frame = report._repr_html_()
    assert frame.count("<iframe") == 1 and 'sandbox="allow-scripts"' in frame
    page = html.unescape(re.search('srcdoc="([^"]*)"', frame)[1])
    assert page.startswith("<!DOCTYPE html>") and report.kernels[0].name in page
    # Of another process's library, what it records.
    assert [each.name for each in fact.load(model.library.path).report().kernels] == [
        each.name for each in report.kernels]


def test_names_are_not_markup(fake_library):
    library = fact.load(fake_library())
    library.description["inputs"][0]["name"] = "<script>alert(1)</script>"
    library.description["kernels"] = [{"name": "<b>", "rule": "&", "schedule": "\"'", "us": 2.0}]
    library.description["steps"] = ["<b>", "<b>"]
    text = library._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text and "<td>&lt;b&gt;</td>" in text
    assert "4 us per call" in text and "100.0%" in text


def test_long_texts_are_cut():
    assert notebook._beginning("a" * 100_000) == "a" * 100_000
    assert notebook._beginning("a" * 100_010).endswith("a\n... 10 more characters")


class Output:
    """An output of a cell, as IPython.display.display returns it: a bundle of MIME types, raw."""

    cells: list["Output"] = []

    def __init__(self, bundle):
        self.shown = [bundle]
        Output.cells.append(self)

    def update(self, bundle, *, raw=False):
        assert raw
        self.shown.append(bundle)


@pytest.fixture
def kernel(monkeypatch):
    """A notebook: IPython with a shell that has a kernel."""
    def display(*bundles, raw=False, display_id=None):
        bundle, = bundles
        assert raw and display_id is True
        return Output(bundle)

    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    shell = types.SimpleNamespace(kernel=object())
    package.get_ipython = lambda: shell
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(Output, "cells", [])
    return shell


def test_a_bar_in_a_cell(kernel, capfd):
    with progress.following("compiling a<b") as (variables, descriptors):
        os.write(int(variables["FACT_PROGRESS_FD"]), b"0.25 3 of 12 candidates, 0:09 left\n- writing\n")
        with progress.showing("comparing"):
            time.sleep(1.2)
    # One output for all of it, which is empty at the end.
    output, = Output.cells
    texts = [bundle["text/plain"] for bundle in output.shown]
    assert texts[:2] == ["", "compiling a<b"] and texts[-1] == "" and "comparing, 0:01" in texts
    bars = {bundle["text/plain"]: bundle["text/html"] for bundle in output.shown}
    assert bars["compiling a<b"] == "<progress></progress> compiling a&lt;b"
    assert all(set(bundle) == {"text/plain", "text/html"} for bundle in output.shown) and bars[""] == ""
    # The line of the tools is shown once it is the innermost work again.
    assert bars["writing, 0:01"] == "<progress></progress> writing, 0:01"
    assert capfd.readouterr() == ("", "")


def test_a_share_in_a_cell(kernel):
    with progress.showing("measuring") as bar:
        bar.say("round 1 of 2", 0.5)
    output, = Output.cells
    assert [bundle["text/html"] for bundle in output.shown] == [
        "", "<progress></progress> measuring", '<progress value="0.500"></progress> round 1 of 2', ""]


def test_an_interpreter_is_no_notebook(kernel, capfd):
    """IPython in a terminal, and here in none."""
    del kernel.kernel
    with progress.showing("compiling") as bar:
        assert not bar.is_shown
    assert Output.cells == [] and capfd.readouterr() == ("", "")
