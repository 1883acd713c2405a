# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation's site: every page is reached, and every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest

PAGES = {
    "docs/README.md": "# Contents\n\n## Use\n\n[First](first.md), [Home](../README.md)\n",
    "docs/first.md": "# First\n\n## A part\n\n[here](#a-part), [code](../code.h), [all](..)\n",
    "README.md": "# Home\n\n[part](docs/first.md#a-part), [far](https://example.org)\n",
    "code.h": "int x = 1 < 2;\n",
}


@pytest.fixture(scope="module")
def build(root):
    spec = importlib.util.spec_from_file_location("site_build", root / "docs/site/build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def make(build, folder, changes):
    for name, text in {**PAGES, **changes}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return build.Site(folder).files()


def test_documentation(build):
    files = build.Site().files()
    assert "index.html" in files and "reference/FactOps.html" in files
    for url, text in files.items():
        # Nothing is fetched: pages link to others and load none.
        assert not re.search(r"<(script|img|link|iframe)\b|url\(|@import", text), url
        assert "{{" not in re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", text, flags=re.S), url


def test_what_a_newcomer_looks_for(build):
    """Each question has its page, which the front page's navigation names; one has a picture."""
    files = build.Site().files()
    for url, title in {
            "start": "Start here", "how-it-works": "How it works", "reference/FactOps": "Ops",
            "reference/Passes": "Passes", "schedules": "The schedule language",
            "model-server": "Bring your own model server", "adding-an-op": "Add an op",
            "adding-a-family": "Add a family of kernels", "adding-a-target": "Add an architecture",
            "cluster": "Tune on a cluster", "deploy": "Deploy from C++, Rust and Go",
            "precision": "Precision", "trust": "Trust", "benchmarks/index": "Method",
            "comparison": "Comparison"}.items():
        assert f'href="{url}.html">{title}</a>' in files["index.html"], url
        assert f"{url}.html" in files
    assert "<svg" in files["how-it-works.html"]
    words = files["comparison.html"]
    assert all(each in words for each in ("torch.compile", "AITemplate", "TensorRT", "TVM", "The papers"))


def test_small_site(build, tmp_path):
    files = make(build, tmp_path, {})
    assert {"index.html", "first.html", "contents.html", "files/code.h.html"} <= set(files)
    assert 'href="first.html#a-part"' in files["index.html"]
    assert '<h2 id="a-part">' in files["first.html"]
    assert '<span class="o">&lt;</span>' in files["files/code.h.html"]
    assert 'aria-current="page">First</a>' in files["first.html"]


@pytest.mark.parametrize("changes, message", [
    ({"README.md": "# Home\n\n[gone](docs/gone.md)\n"}, "link to docs/gone.md, which does not exist"),
    ({"README.md": "# Home\n\n[up](../gone.md)\n"}, "README.md: link to ../gone.md, which does not exist"),
    ({"README.md": "# Home\n\n[part](docs/first.md#a-heading)\n"}, "a page without that heading"),
    ({"docs/second.md": "# Second\n"}, "docs/second.md: not in the navigation; list it in docs/README.md"),
    ({"docs/first.md": "First\n"}, "docs/first.md: the first heading is not the page's title"),
    ({"README.md": "# Home\n\n![words](gone.svg)\n"}, "picture gone.svg, which is not an SVG file"),
    ({"README.md": "# Home\n\n![](a.svg)\n", "a.svg": "<svg/>"}, "without words for those who cannot see it"),
    ({"README.md": "# Home\n\nA vector<float>.\n"}, "README.md: HTML in a line: <float>"),
    ({"README.md": "# Home\n\n<script>1</script>\n"}, "HTML that is neither a comment nor a table"),
], ids=["page", "outside", "anchor", "navigation", "title", "picture", "words", "html", "script"])
def test_mistakes(build, tmp_path, changes, message):
    with pytest.raises(build.SiteError) as error:
        make(build, tmp_path, changes)
    assert message in str(error.value)


def test_code(build):
    assert "<p>" not in build.code_block("sh untested: no GPU", "make")
    assert "<p>first.py</p>" in build.code_block("python file first.py", "x = 1 < 2")
    assert "<p>fact-opt --cse</p>" in build.code_block("mlir fact-opt --cse", "return")
    assert "1 &lt; 2" in build.code_block("text", "1 < 2")


def test_links_of_html(build):
    assert build.dead_links({"a.html": '<a href="b.html">', "b.html": '<a href="a.html#x">'}) == [
        "b.html: dead link a.html#x"]
    assert build.dead_links({"a.html": '<p id="x"><b id="x">'}) == ["a.html: two places named x"]


def test_only_a_site_is_replaced(build, tmp_path):
    other, site = tmp_path / "other", tmp_path / "site"
    other.mkdir()
    site.mkdir()
    assert build.is_replaceable(site) and build.is_replaceable(tmp_path / "none")
    (other / "kept").write_text("")
    (site / "index.html").write_text("")
    assert build.is_replaceable(site)
    assert not build.is_replaceable(other) and not build.is_replaceable(other / "kept")
