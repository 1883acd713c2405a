# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of the documentation in a real browser: nothing is clipped, nothing is fetched, and text is
legible on a phone and on a desktop, in light and in dark. Screenshots are left in build/site-pages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from browser import Browser, needs_chromium
from test_report_browser import CLIPPED, CONTRAST, DESKTOP, PHONE

pytestmark = [pytest.mark.full, needs_chromium]
SHOWN = ("index.html", "start.html", "how-it-works.html", "comparison.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, root / "docs/site/build.py", "-o", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as each:
        yield each


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_pages(browser, site, root, size, dark):
    pictures = root / "build/site-pages"
    pictures.mkdir(parents=True, exist_ok=True)
    problems = []
    # Files that pages link to are all alike.
    files = sorted((site / "files").rglob("*.h.html"))[:1]
    pages = [path for path in sorted(site.rglob("*.html")) if site / "files" not in path.parents]
    for path in [*pages, *files]:
        name = path.relative_to(site).as_posix()
        browser.problems.clear()
        browser.open(path, *size, dark)
        found = [*browser.evaluate(CLIPPED), *browser.evaluate(CONTRAST), *browser.problems]
        problems += [f"{name}: {problem}" for problem in found]
        if name in SHOWN:
            kind = f"{'phone' if size == PHONE else 'desktop'}-{'dark' if dark else 'light'}"
            browser.screenshot(pictures / f"{name.replace('/', '-').removesuffix('.html')}-{kind}.png")
    assert not problems, "\n".join(problems[:40])


def test_menu(browser, site):
    """On a phone a link opens the menu, and another one closes it; on a desktop it is there."""
    is_open = "getComputedStyle(document.querySelector('nav')).display !== 'none'"
    browser.open(site / "start.html", *PHONE)
    assert not browser.evaluate(is_open)
    browser.evaluate("document.querySelector('a.menu').click()")
    assert browser.evaluate(is_open)
    assert browser.evaluate("document.querySelector('nav').getBoundingClientRect().top < innerHeight")
    browser.evaluate("document.querySelector('nav .close').click()")
    assert not browser.evaluate(is_open)
    browser.open(site / "start.html", *DESKTOP)
    assert browser.evaluate(is_open)


def test_keyboard(browser, site):
    """The first stop of the keyboard leads past the menu."""
    browser.open(site / "start.html", *DESKTOP)
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.press("Enter", 13, "\r")
    browser.press("Tab", 9)
    assert browser.evaluate("document.querySelector('main').contains(document.activeElement)")
