# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of real compilations that tests share, and a reader of pages."""

from __future__ import annotations

import subprocess
from html.parser import HTMLParser
from pathlib import Path

from fact import toolchain
from fact.reporting.collect import build_report, read

INPUTS = Path(__file__).resolve().parents[1] / "Agent" / "Inputs"
_VOID = {"meta", "br", "wbr", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page: its elements with attributes in order, ids, links, text; fails if it is not well
    formed."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"attribute twice in {tag}: {names}"
        self.elements.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def compile_bundle(source: Path, folder: Path, *options: str, target: str = "h200") -> Path:
    """A bundle and its summary, written by fact-compile; returns the work folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([toolchain.require_tool("fact-compile"), source, f"--target={target}",
                    "--until=bundle", f"--bundle={folder / 'bundle'}",
                    f"--summary={folder / 'summary.json'}", *options],
                   check=True, capture_output=True, text=True)
    return folder


def replayed(folder: Path):
    """A GPT block for a GPU that a language model grouped, from its transcript; not tuned."""
    transcript = INPUTS / "mini_gpt_block.json"
    compile_bundle(INPUTS / "mini_gpt_block.mlir", folder, "--agent=replay",
                   f"--transcript={transcript}", "--candidates=4")
    return build_report(read(folder / "summary.json"), folder / "bundle",
                        transcript=str(transcript))
