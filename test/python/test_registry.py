# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry's files, its JSON schema and the `fact registry` command."""

import copy
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from fact.__main__ import main
from fact.toolchain import find_tool

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ROOT / "patterns"
SCHEMA = json.loads((PATTERNS / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FILES = sorted(PATTERNS.glob("*/*.json"))
TOOL = find_tool("fact-registry")

needs_tool = pytest.mark.skipif(TOOL is None and not os.environ.get("FACT_REQUIRE_COMPILER"),
                                reason="fact-registry is missing")

SAMPLE = {
    "format": 2, "rule": "gemm_epilogue", "dtype": "bf16", "architecture": "sm_90a",
    "entries": [{
        "ops": "matmul.nt,add",
        "extents": {"m": 64, "n": 64, "k": 64, "batch": 1, "tensors": 1},
        "example": "49_hopper_gemm_with_collective_builder",
        "schedules": [
            {"key": "cublas_gemm", "status": "accepted", "us": 10.5, "sol_share": 0.5, "error": 0.0,
             "machine": "NVIDIA H200", "versions": {"fact": "0.1.0"}, "date": "2026-11-15"},
            {"key": "sm90_gemm<tile = 64x64x64, swizzle = 1>", "status": "failed",
             "reason": "hang: killed after 120 s", "machine": "NVIDIA H200", "versions": {},
             "date": "2026-11-15"},
        ],
    }],
}

ENTRY = ("entries", 0)
GOOD, BAD = (*ENTRY, "schedules", 0), (*ENTRY, "schedules", 1)
REMOVED = object()
GAIN = {"form": "fused", "against": "apart", "ratio": 1.25, "ratio_low": 1.2, "ratio_high": 1.5,
        "machine": "NVIDIA H200", "date": "2026-11-17"}


def change(*changes):
    """The sample with values replaced, added or removed."""
    result = copy.deepcopy(SAMPLE)
    for path, value in changes:
        place = result
        for step in path[:-1]:
            place = place[step]
        if value is REMOVED:
            del place[path[-1]]
        else:
            place[path[-1]] = copy.deepcopy(value)
    return result


ROWS = {"rows": 4, "columns": 8, "tensors": 2}
ATTENTION = {"batch": 1, "heads": 8, "kv_heads": 2, "queries": 16, "keys": 16, "head": 64}
RIGHT = {
    "as it is": [],
    "no entries": [(("entries",), [])],
    "format 1": [(("format",), 1), ((*ENTRY, "ops"), "matmul,add")],
    "an entry of format 1": [((*ENTRY, "format"), 1), ((*ENTRY, "ops"), "matmul,add")],
    "several details": [((*ENTRY, "ops"), "matmul.nt,reduce.sum.rows")],
    "rows": [((*ENTRY, "extents"), ROWS), ((*ENTRY, "ops"), "add,softmax")],
    "attention": [((*ENTRY, "extents"), ATTENTION), ((*ENTRY, "ops"), "causal_attention")],
    "elements": [((*ENTRY, "extents"), {"elements": 2**48, "tensors": 1}), ((*ENTRY, "ops"), "exp")],
    "extents of a rule of one's own": [((*ENTRY, "extents"), {"height": 7, "taps": 9})],
    "a whole number": [((*ENTRY, "extents", "m"), 64.0)],
    "no example": [((*ENTRY, "example"), REMOVED)],
    "no error": [((*GOOD, "error"), REMOVED)],
    "evidence": [((*GOOD, "us_low"), 10.25), ((*GOOD, "us_high"), 11), ((*GOOD, "runs"), 40)],
    "gains": [((*ENTRY, "gains"), [GAIN, {**GAIN, "against": "single"}])],
    "no gains": [((*ENTRY, "gains"), [])],
    "no speed of light": [((*GOOD, "sol_share"), 0)],
    "pending": [((*BAD, "status"), "pending")],
    "many words": [((*BAD, "machine"), "é" * 1000)],
    "an integer of microseconds": [((*GOOD, "us"), 3)],
    "a key without parameters": [((*BAD, "key"), "cuda_row<>")],
}
WRONG = {
    "another format": [(("format",), 3)],
    "an entry of another format": [((*ENTRY, "format"), 3)],
    "an empty detail": [((*ENTRY, "ops"), "matmul.,add")],
    "a detail of no op": [((*ENTRY, "ops"), ".nt,add")],
    "a true format": [(("format",), True)],
    "no format": [(("format",), REMOVED)],
    "no rule": [(("rule",), REMOVED)],
    "a rule that is a path": [(("rule",), "../gemm")],
    "an empty rule": [(("rule",), "")],
    "a rule in capitals": [(("rule",), "Gemm")],
    "another type": [(("dtype",), "fp16")],
    "a type that is a number": [(("dtype",), 16)],
    "an unknown member": [(("color",), "red")],
    "entries by name": [(("entries",), {})],
    "an entry that is a number": [(ENTRY, 5)],
    "no runs": [((*GOOD, "runs"), 0)],
    "an interval of what failed": [((*BAD, "us_low"), 1)],
    "runs of what failed": [((*BAD, "runs"), 3)],
    "a gain without a day": [((*ENTRY, "gains"), [{k: v for k, v in GAIN.items() if k != "date"}])],
    "a gain of no time": [((*ENTRY, "gains"), [{**GAIN, "ratio": 0}])],
    "an unknown member of a gain": [((*ENTRY, "gains"), [{**GAIN, "us": 1}])],
    "an unknown member of an entry": [((*ENTRY, "id"), "x")],
    "no ops": [((*ENTRY, "ops"), REMOVED)],
    "empty ops": [((*ENTRY, "ops"), "")],
    "ops with a comma at the end": [((*ENTRY, "ops"), "matmul,")],
    "ops with spaces": [((*ENTRY, "ops"), "matmul, add")],
    "long ops": [((*ENTRY, "ops"), "a" * 4001)],
    "a list of ops": [((*ENTRY, "ops"), ["matmul"])],
    "no extents": [((*ENTRY, "extents"), {})],
    "too many extents": [((*ENTRY, "extents"), {f"e{i}": 1 for i in range(17)})],
    "an extent in capitals": [((*ENTRY, "extents", "M"), 1)],
    "extents in a list": [((*ENTRY, "extents"), [1, 2])],
    "an extent of 0": [((*ENTRY, "extents", "m"), 0)],
    "a large extent": [((*ENTRY, "extents", "m"), 2**48 + 1)],
    "half an extent": [((*ENTRY, "extents", "m"), 1.5)],
    "an extent in words": [((*ENTRY, "extents", "m"), "64")],
    "a true extent": [((*ENTRY, "extents", "m"), True)],
    "an example that is a path": [((*ENTRY, "example"), "49_../x")],
    "an example without a number": [((*ENTRY, "example"), "hopper_gemm")],
    "no schedules": [((*ENTRY, "schedules"), [])],
    "a key with a zero byte": [((*GOOD, "key"), "sm90_gemm<a\0b>")],
    "a reason with a zero byte": [((*BAD, "reason"), "a\0b")],
    "a reason that erases the screen": [((*BAD, "reason"), "a\x1b[2J")],
    "a reason with a C1 control": [((*BAD, "reason"), "a\x9b2J")],
    "a reason of two lines": [((*BAD, "reason"), "a\u2028b")],
    "a reason that runs backwards": [((*BAD, "reason"), "a\u202eb")],
    "a machine with a C1 control": [((*GOOD, "machine"), "H\x85")],
    "an unknown status": [((*GOOD, "status"), "excellent")],
    "no status": [((*GOOD, "status"), REMOVED)],
    "accepted without a time": [((*GOOD, "us"), REMOVED)],
    "accepted without a share": [((*GOOD, "sol_share"), REMOVED)],
    "accepted with a reason": [((*GOOD, "reason"), "because")],
    "failed without a reason": [((*BAD, "reason"), REMOVED)],
    "failed with a time": [((*BAD, "us"), 5)],
    "failed with an error": [((*BAD, "error"), 0.5)],
    "no time at all": [((*GOOD, "us"), 0)],
    "a negative time": [((*GOOD, "us"), -5)],
    "an endless time": [((*GOOD, "us"), 1e13)],
    "a time in words": [((*GOOD, "us"), "fast")],
    "a negative share": [((*GOOD, "sol_share"), -0.1)],
    "a share above what can be": [((*GOOD, "sol_share"), 17)],
    "a negative error": [((*GOOD, "error"), -0.1)],
    "no error in words": [((*GOOD, "error"), None)],
    "no machine": [((*GOOD, "machine"), REMOVED)],
    "an empty machine": [((*GOOD, "machine"), "")],
    "a machine of two lines": [((*GOOD, "machine"), "a\nb")],
    "a long machine": [((*GOOD, "machine"), "é" * 1001)],
    "versions in a list": [((*GOOD, "versions"), [])],
    "a version that is a number": [((*GOOD, "versions", "fact"), 1)],
    "a version's name": [((*GOOD, "versions", "Fact Version"), "1")],
    "a thirteenth month": [((*GOOD, "date"), "2026-13-01")],
    "another date": [((*GOOD, "date"), "15.11.2026")],
    "a key with quotes": [((*GOOD, "key"), 'a<"b">')],
    "a key with a command": [((*GOOD, "key"), "a<b>; rm -rf /")],
    "a key with a line": [((*GOOD, "key"), "a<b\nc>")],
    "a key that is cut": [((*GOOD, "key"), "a<b")],
    "an empty key": [((*GOOD, "key"), "")],
    "a long key": [((*GOOD, "key"), "a" * 1001)],
}


def run(*arguments, **options):
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, **options)


def accepts(folder: Path, content) -> bool:
    """Whether the program reads a file with this content."""
    rule, dtype = "gemm_epilogue", "bf16"
    file = folder / rule / f"{dtype}-sm_90a.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content))
    result = run("verify", folder)
    assert result.returncode == (1 if result.stderr else 0)
    if result.returncode:
        assert result.stderr.startswith(f"fact-registry: error: {file}: ")
    return result.returncode == 0


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_built_in_files(file):
    content = json.loads(file.read_text())
    VALIDATOR.validate(content)
    assert file.parent.name == content["rule"]
    assert file.stem == f"{content['dtype']}-{content['architecture']}"
    assert (file.parent / "README.md").exists()


def test_there_are_built_in_files():
    rules = {"gemm_epilogue", "gated_gemm", "attention", "rowwise", "concat"}
    assert rules <= {file.parent.name for file in FILES}


@needs_tool
def test_reader_and_schema_agree(tmp_path):
    cases = {**{name: (True, changes) for name, changes in RIGHT.items()},
             **{name: (False, changes) for name, changes in WRONG.items()}}
    for name, (good, changes) in cases.items():
        content = change(*changes)
        assert VALIDATOR.is_valid(content) == good, f"the schema, {name}"
        assert accepts(tmp_path, content) == good, f"the reader, {name}"
    for content in (None, [], 5, "text", {}):
        assert not VALIDATOR.is_valid(content)
        assert not accepts(tmp_path, content)


@needs_tool
def test_verify_reads_the_built_in_files():
    result = run("verify", PATTERNS)
    assert result.returncode == 0, result.stderr
    assert f"{len(FILES)} files" in result.stdout


@needs_tool
def test_the_command_is_the_program(tmp_path, capfd):
    """`fact registry` passes options, output and exit status through."""
    def fact(*arguments):
        status = main(["registry", *map(str, arguments)])
        return status, *capfd.readouterr()

    status, listed, _ = fact("list", "--layer", PATTERNS, "--json")
    assert status == 0
    assert listed == run("list", "--layer", PATTERNS, "--json").stdout
    assert all(entry["schedules"] for entry in json.loads(listed))
    assert fact("--help") == (0, run("--help").stdout, "")
    assert fact("color")[0] == 2
    (tmp_path / "gemm_epilogue").mkdir()
    (tmp_path / "gemm_epilogue" / "bf16-sm_90a.json").write_bytes(b"\xff")
    status, _, errors = fact("verify", tmp_path)
    assert status == 1
    assert "bf16-sm_90a.json: parse error" in errors


def test_without_the_program(monkeypatch, capsys):
    monkeypatch.setattr("fact.toolchain.find_tool", lambda name: None)
    assert main(["registry", "list"]) == 1
    assert "fact-registry is missing" in capsys.readouterr().err


@needs_tool
def test_ids_are_those_of_the_entries(tmp_path):
    """What `list` names, `show` shows, by the whole id and by its unique beginnings."""
    assert accepts(tmp_path, SAMPLE)
    entry, = json.loads(run("list", "--layer", tmp_path, "--json").stdout)
    rule, dtype, rest = entry["id"].split("/")
    architecture, digits = rest.split("#")
    assert (rule, dtype, architecture) == ("gemm_epilogue", "bf16", "sm_90a")
    for name in (entry["id"], digits, digits[:6], "gemm_epilogue/bf16"):
        shown, = json.loads(run("show", name, "--layer", tmp_path, "--json").stdout)
        assert shown == entry


@needs_tool
def test_many_programs_at_once_lose_nothing(tmp_path):
    """Six programs merge 20 entries each into one folder, 3 of them the same file."""
    sources = []
    for i in range(6):
        content = change()
        entry = content["entries"][0]
        content["dtype"] = "bf16" if i % 2 else "f16"
        content["entries"] = [copy.deepcopy(entry) for _ in range(20)]
        for j, each in enumerate(content["entries"]):
            each["extents"]["m"] = 1 + i * 20 + j
        file = tmp_path / str(i) / "gemm_epilogue" / f"{content['dtype']}-sm_90a.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(content))
        sources.append(tmp_path / str(i))
    started = [subprocess.Popen([TOOL, "add", source, "--to", tmp_path / "all"],
                                stdout=subprocess.DEVNULL) for source in sources]
    assert [each.wait(timeout=60) for each in started] == [0] * 6
    listed = json.loads(run("list", "--layer", tmp_path / "all", "--json").stdout)
    assert sorted(entry["extents"]["m"] for entry in listed) == list(range(1, 121))
    # The same in any other order is the same, byte for byte.
    for source in reversed(sources):
        assert run("add", source, "--to", tmp_path / "again").returncode == 0
    for name in ("f16", "bf16"):
        file = f"gemm_epilogue/{name}-sm_90a.json"
        assert (tmp_path / "all" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
