# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of reports in a real browser: nothing is clipped, nothing fails, the keyboard works.

Screenshots are left in build/report-pages, to be looked at.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from browser import Browser, needs_chromium
from fact.reporting.collect import build_report, find_report
from fact.reporting.page import render
from report_pages import replayed

pytestmark = [pytest.mark.full, needs_chromium]

PHONE, DESKTOP = (390, 844), (1280, 900)

# Elements whose content is wider than they are, besides those that scroll, and text that leaves the
# window.
CLIPPED = """
(() => {
  const found = [];
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
    found.push(`the page: ${document.documentElement.scrollWidth}`);
  for (const each of document.querySelectorAll("body *")) {
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    if (!box.width || each.closest("svg, .skip, script") || style.display === "inline")
      continue;
    const scrolls = each.closest(".scroll, .error, nav ul");
    if (scrolls) continue;
    if (each.scrollWidth > each.clientWidth + 1 && style.overflowX !== "visible")
      found.push(`${each.tagName}.${each.className}: ${each.scrollWidth} > ${each.clientWidth}`);
    if (box.right > innerWidth + 1 || box.left < -1)
      found.push(`${each.tagName}.${each.className} at ${box.left} to ${box.right}`);
  }
  return found;
})()
"""

# Names of kernels that do not stand on one line, although they are short.
BROKEN = """
[...document.querySelectorAll(".card .name")].map((each) => each.firstChild)
    .filter((text) => text.length <= 20 && text.parentElement.getBoundingClientRect().width)
    .filter((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
    }).map((text) => text.data)
"""

# Options of commands whose dashes stand at the end of a line and their names on the next.
TORN = """
(() => {
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.checkVisibility() || text.parentElement.closest("script, style")) continue;
    for (const match of text.data.matchAll(/--\\w/g)) {
      const range = document.createRange();
      range.setStart(text, match.index);
      range.setEnd(text, match.index + 3);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1)
        found.push(text.data.slice(match.index, match.index + 20));
    }
  }
  return found;
})()
"""

# Names in a roofline that one of its lines goes through.
CROSSED = """
[...document.querySelectorAll(".roof-name")].filter((name) => {
  const range = document.createRange();
  range.selectNodeContents(name);
  const lines = [...range.getClientRects()];
  return [...document.querySelectorAll("path.roof")].some((roof) => {
    const length = roof.getTotalLength(), matrix = roof.getScreenCTM();
    return [...Array(401).keys()].map((i) => roof.getPointAtLength(length * i / 400).matrixTransform(matrix))
        .some((p) => lines.some((box) =>
            box.left < p.x && p.x < box.right && box.top + 1 < p.y && p.y < box.bottom - 1));
  });
}).map((name) => name.textContent)
"""

# Parts of a kernel's heading that lie on each other.
OVERLAPPING = """
[...document.querySelectorAll(".card > summary")].filter((heading) => {
  const boxes = [...heading.querySelectorAll(":scope > :not(.meter)")].map((e) => e.getBoundingClientRect());
  return boxes.some((a, i) => boxes.slice(i + 1).some((b) =>
      a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1));
}).map((heading) => heading.textContent)
"""

# Text whose contrast with what lies behind it is below that of WCAG's level AA.
CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255);
  };
  const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
  const behind = (each) => {
    const layers = [];
    for (; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3]) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [1, 1, 1]);
  };
  const light = (color) => color.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const found = new Map();
  for (const each of document.querySelectorAll("body *")) {
    const words = [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!words || !each.getBoundingClientRect().width || each.closest("script, .skip")) continue;
    const back = behind(each), front = over(rgba(getComputedStyle(each).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    // Numbers on colors are large or bold and repeated beside them.
    const least = each.matches(".chip, .part, .mark, .try") ? 3 : 4.5;
    if (ratio < least)
      found.set(`${each.tagName}.${each.className}`, ratio.toFixed(2));
  }
  return [...found].map((entry) => entry.join(" "));
})()
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory, root):
    """The reports of: a tuned block on the host, a ResNet-18 for a GPU that was not tuned, the run of a
    language model, a compilation that failed, and results of an H200."""
    folder = tmp_path_factory.mktemp("pages")
    fact = [sys.executable, "-m", "fact"]
    workloads = root / "examples" / "workloads"
    subprocess.run([*fact, "compile", workloads / "mini_gpt_block.py", "--target=host",
                    "--candidates=4", "--set", "width=64", "heads=4", "tokens=32", "batch=2",
                    "-o", folder / "gpt.so"], check=True)
    subprocess.run([*fact, "compile", workloads / "resnet18.py", "--target=h200",
                    f"--bundle-only={folder / 'resnet18.bundle'}"], check=True)
    (folder / "bad.py").write_text(
        "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.linalg.eigvalsh(x @ x)\n"
        "def get_init_inputs():\n    return []\ndef get_inputs():\n    return [torch.ones(4, 4)]\n")
    assert subprocess.run([*fact, "compile", folder / "bad.py", "--target=host", "-o",
                           folder / "bad.so"]).returncode == 1
    (folder / "agent.report.html").write_text(render(replayed(folder / "agent")))
    (folder / "measured").mkdir()
    shutil.copy(root / "docs/benchmarks/h200-2026-11-15/pooled_head-tuning.json",
                folder / "measured" / "tuning.json")
    (folder / "measured.report.html").write_text(render(build_report({}, folder / "measured")))
    return {page.name.split(".")[0]: page for page in folder.glob("*.report.html")}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_clipped(pages, browser, root, size, dark):
    shots = root / "build" / "report-pages"
    shots.mkdir(parents=True, exist_ok=True)
    assert set(pages) == {"gpt", "resnet18", "agent", "bad", "measured"}
    for name, page in pages.items():
        browser.problems.clear()
        browser.open(page, *size, dark=dark)
        browser.screenshot(shots / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png")
        assert browser.evaluate(CLIPPED) == [], name
        assert browser.evaluate(CONTRAST) == [], name
        assert browser.evaluate(BROKEN) == [], name
        assert browser.evaluate(TORN) == [], name
        assert browser.evaluate(CROSSED) == [], name
        assert browser.evaluate(OVERLAPPING) == [], name
        # Unfolded too.
        browser.evaluate("document.querySelectorAll('[data-fold=open]').forEach(b => b.click())")
        assert browser.evaluate("document.querySelectorAll('details:not([open])').length") == 0
        assert browser.evaluate(CLIPPED) == [], name
        assert browser.evaluate(CONTRAST) == [], name
        assert browser.problems == [], name


def test_keyboard(pages, browser):
    browser.problems.clear()
    browser.open(pages["gpt"], *DESKTOP)
    focus = "document.activeElement.outerHTML.slice(0, 300)"

    def tab():
        browser.press("Tab", 9)
        return browser.evaluate(focus)

    assert 'class="skip"' in tab()
    # Every link, fold and button is reached in the order of the page, and seen when it is.
    reached = browser.evaluate("[...document.querySelectorAll('a[href], summary, button, [tabindex]')]"
                               ".filter(e => e.checkVisibility()).length")
    outlines = set()
    for _ in range(reached - 1):
        tab()
        outlines.add(browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
    assert browser.evaluate("document.activeElement !== document.body") and outlines == {"solid"}
    # Enter on a part of the bar unfolds its kernel, and the focus follows.
    browser.evaluate("document.querySelectorAll('.card[open]').forEach(c => c.open = false);"
                     "document.querySelector('a.part').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.evaluate("document.querySelector('#kernel-1').open")
    assert browser.evaluate("document.activeElement.parentElement.id") == "kernel-1"
    browser.press("Enter", 13, "\r")
    assert not browser.evaluate("document.querySelector('#kernel-1').open")
    # A launch unfolds, and its ops are marked in the graph before.
    browser.evaluate("document.querySelector('.row.kernel summary').focus()")
    browser.press(" ", 32, " ")
    assert browser.evaluate("document.querySelector('.row.kernel details').open")
    assert browser.evaluate("document.querySelectorAll('.row.op.same').length") > 0
    assert browser.problems == []


def test_pages_tell_what_happened(pages, browser):
    for name, words in {"bad": "linalg_eigvalsh", "resnet18": "Nothing was measured",
                        "agent": "accepted", "measured": "pooled_head", "gpt": "as exact as"}.items():
        browser.open(pages[name], *PHONE)
        assert words in browser.evaluate("document.body.innerText"), name
    assert find_report(pages["gpt"]).status == "tuned"
