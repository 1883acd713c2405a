# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/adding-an-op.md, followed: its blocks make a new op of a copy of the sources.

The page shows the lines of `log1p`. Here they are written once more beside those, for `exp2`, which
is a composition of ops until then; what includes the generated op or has a line of it is compiled,
linked with the rest of the build as it is, and run. So families, rules and the bundle know the op
without a change, as the page says.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

import fact
import pages

ROOT, BUILD = pages.ROOT, pages.ROOT / "build"
PAGE = "docs/adding-an-op.md"
# The composition of today keeps another name.
COMPOSED = ('table["aten.exp2"] = convertFunction', 'table["aten.special_exp2"] = convertFunction')
MODEL = """
func.func @forward(%x: !torch.vtensor<[64,128],f32> {fact.name = "x"}) -> !torch.vtensor<[64,128],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[64,128],f32> -> !torch.vtensor<[64,128],f32>
  %1 = torch.aten.exp2 %0 : !torch.vtensor<[64,128],f32> -> !torch.vtensor<[64,128],f32>
  return %1 : !torch.vtensor<[64,128],f32>
}
"""


def insert(text, paragraph):
    """The text with the paragraph written again behind itself, for the new op."""
    lines, quoted = text.splitlines(), [line.strip() for line in paragraph.splitlines()]
    [at] = [i for i in range(len(lines))
            if [line.strip() for line in lines[i:i + len(quoted)]] == quoted]
    end = at + len(quoted)
    new = [line.replace("log1p", "exp2").replace("Log1p", "Exp2") for line in lines[at:end]]
    return "\n".join([*lines[:end], *new, *lines[end:]]) + "\n"


class Copy:
    """The sources with the op, and tools that are linked with them."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("dialects", "include", "lib"):
            shutil.copytree(ROOT / name, folder / name)
        self.generated = ("build/dialects/Fact/include", "build/lib/Target/Reference")
        shutil.copytree(BUILD / "dialects/Fact/include", folder / self.generated[0])
        (folder / self.generated[1]).mkdir(parents=True)
        self.objects: list[Path] = []
        database = json.loads(self.shell("ninja -t compdb"))
        self.compilations = {entry["file"]: entry["command"] for entry in database
                             if " -c " in entry["command"]}
        self.commands = self.shell("ninja -t commands bin/fact-compile bin/fact-translate").splitlines()

    def here(self, command: str) -> str:
        """The command with the copy's files in place of the checkout's."""
        names = "|".join(("dialects", "include", "lib", *self.generated))
        return re.sub(rf"{re.escape(str(ROOT))}/(?=(?:{names})\b)", f"{self.folder}/", command)

    def shell(self, command: str, where: Path = BUILD) -> str:
        done = subprocess.run(command, shell=True, cwd=where, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def generate(self):
        """What tablegen makes of the dialect, and the embedded headers of references."""
        made = [line for line in self.commands if "mlir-tblgen -gen-" in line and "FactOps.td" in line]
        assert len(made) > 3
        for line in made:
            line = re.sub(r" && \S+cmake -E cmake_transform_depfile.*", "", line)
            self.shell(self.here(line))
        [line] = [line for line in self.commands if "-DOUTPUT=" in line and "ReferenceHeaders.h.inc" in line]
        self.shell(self.here(line))

    def compile(self, file: str):
        command = self.here(self.compilations[str(ROOT / file)])
        # Precompiled headers have the op no more than other objects.
        command = re.sub(r"-Winvalid-pch|-Xclang -include(-pch)? -Xclang \S+", "", command)
        command = re.sub(r"-MD -MT \S+ -MF \S+", "", command)
        self.objects.append(self.folder / f"{len(self.objects)}.o")
        self.shell(re.sub(r" -o \S+ ", f" -o {self.objects[-1]} ", command))

    def link(self, tool: str) -> Path:
        """Objects come before the archives whose members they replace."""
        [line] = [line for line in self.commands if f" -o bin/{tool} " in line]
        built = self.folder / tool
        self.shell(line.replace(f" -o bin/{tool} ", f" {' '.join(map(str, self.objects))} -o {built} "))
        return built


@pytest.mark.full
def test_a_new_op(tmp_path):
    if shutil.which("ninja") is None or not (BUILD / "build.ninja").exists():
        pytest.skip("FACT was not built with ninja")
    copy = Copy(tmp_path / "copy")
    changed = set()
    for file, paragraph in pages.quotes(PAGE):
        if (copy.folder / file).exists():
            text = (copy.folder / file).read_text().replace(*COMPOSED)
            (copy.folder / file).write_text(insert(text, paragraph))
            changed.add(file)
    assert len(changed) >= 7
    copy.generate()
    sources = {file for file in changed if file.endswith(".cpp")}
    for folder in ("dialects/Fact/lib", "lib/Target/Reference"):
        for path in (copy.folder / folder).glob("*.cpp"):
            if re.search(r"FactOps\.cpp\.inc|GET_OP_LIST|ReferenceHeaders\.h\.inc", path.read_text()):
                sources.add(str(path.relative_to(copy.folder)))
    for file in sorted(sources):
        copy.compile(file)
    compiler, translate = copy.link("fact-compile"), copy.link("fact-translate")

    # The kernel of both ops is verified against its reference, and right.
    (tmp_path / "model.mlir").write_text(MODEL)
    run = lambda *words: copy.shell(" ".join(map(str, words)), where=tmp_path)
    run(compiler, "model.mlir", "--target=host", "--until=discover", "-o", "fused.mlir")
    fused = (tmp_path / "fused.mlir").read_text()
    assert fused.count("fact.fused") == 1 and "fact.exp2" in fused
    run(compiler, "fused.mlir", "--target=host", "--until=bundle", "--bundle=model.bundle")
    run(BUILD / "bin/fact-tune", "model.bundle", "--candidates=1", "-o", "model.so")
    x = torch.randn(64, 128)
    y = fact.load(tmp_path / "model.so")(x)
    torch.testing.assert_close(y.double(), x.double().relu().exp2(), rtol=1e-5, atol=1e-6)

    # And on a GPU, as text.
    run(compiler, "model.mlir", "--target=h200", "--until=discover", "-o", "gpu.mlir")
    assert re.search(r"\bexp2f?\(", run(translate, "gpu.mlir", "--fact-to-cutlass"))
