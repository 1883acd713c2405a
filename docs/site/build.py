# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the documentation's site: docs/, the README and what they link to, as HTML without a network.

    build.py [-o FOLDER] [--check]     default: build/site; --check writes nothing

docs/README.md is the navigation: its headings and the pages that they list, in order. It is an error
if a page is not in it, if a link or its anchor leads nowhere, or if a page has HTML that is not known
here. Files that pages link to, such as headers and results, become pages of their own.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import sys
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import RegexLexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, String, Text
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPLATES = Path(__file__).resolve().parent
PALETTE = ROOT / "python/fact/reporting/palette.css"
CONTENTS = "docs/README.md"
SOURCES = ("*.md", "docs/**/*.md", "patterns/*/README.md", "test/*/README.md")


class MlirLexer(RegexLexer):
    """As much of MLIR's syntax as colors need."""

    name = "MLIR"
    tokens = {"root": [
        (r"//[^\n]*", Comment),
        (r'"(\\.|[^"\\\n])*"', String),
        (r"[%^][\w.$#-]+", Name.Variable),
        (r"@[\w.$-]+", Name.Class),
        (r"[!#][A-Za-z][\w.]*", Keyword.Type),
        (r"\b(tensor|memref|vector)\b|\b(bf16|[fi]\d+|index)\b", Keyword.Type),
        (r"\b(?:builtin|func|fact|program|linalg|torch|arith|ub|module|return)\b(\.[\w.]+)?", Keyword),
        (r"\b\d[\dx.e+-]*", Number),
        (r"\s+", Text), (r"\w+", Text), (r".", Text),
    ]}


class SiteError(Exception):
    """What is wrong with the pages, a line for each mistake."""


@dataclass
class Page:
    """A markdown file, or a file that one links to."""

    source: str  # from the root
    url: str
    title: str
    tokens: list[Token] = field(default_factory=list)
    headings: list[tuple[int, str, str]] = field(default_factory=list)  # level, anchor, text
    html: str = ""


def page_url(source: str) -> str:
    """docs/python.md is python.html, a README the index of its folder."""
    if source == CONTENTS:
        return "contents.html"
    name = source.removeprefix("docs/").removesuffix(".md")
    if posixpath.basename(name) == "README":
        return posixpath.join(posixpath.dirname(name), "index.html")
    return (name if "/" in name else name.lower()) + ".html"


def relative_path(source: str, address: str) -> str:
    """What a link in a file names, as a path from the root."""
    path = unquote(urlsplit(address).path)
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source


def text_of(token: Token) -> str:
    return "".join(child.content for child in token.children or []
                   if child.type in ("text", "code_inline", "softbreak"))


def links_of(token: Token) -> list[tuple[str, str]]:
    """Addresses of a paragraph's links, and their words."""
    children = token.children or []
    return [(str(link.attrGet("href") or ""), words.content)
            for link, words in zip(children, children[1:]) if link.type == "link_open"]


def anchors_of(tokens: list[Token]) -> list[tuple[int, str, str]]:
    """Level, anchor and text of each heading; anchors are those that GitHub makes."""
    seen: dict[str, int] = {}
    headings = []
    for token, inline in zip(tokens, tokens[1:]):
        if token.type != "heading_open":
            continue
        text = text_of(inline)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        anchor += f"-{seen[anchor]}" if seen[anchor] else ""
        token.attrSet("id", anchor)
        headings.append((int(token.tag[1]), anchor, text))
    return headings


def highlighted(text: str, language: str = "", file: str = "") -> str:
    try:
        if language == "mlir" or file.endswith(".mlir"):
            lexer = MlirLexer()
        else:
            lexer = get_lexer_for_filename(file) if file else get_lexer_by_name(language)
    except ClassNotFound:
        return escape(text)
    return highlight(text, lexer, HtmlFormatter(nowrap=True))


def code_block(info: str, text: str) -> str:
    """A block, with a line above it that says what printed it or which file it is."""
    language, _, marks = info.partition(" ")
    # What tests make of a block (test/python/pages.py) is not for readers.
    shown = "" if marks.startswith(("untested:", "printed")) else marks.removeprefix("file ").strip()
    note = f"<p>{escape(shown)}</p>" if shown else ""
    code = (highlighted(text, language) if language else escape(text)).rstrip()
    return f'<div class="code">{note}<pre class="scroll" tabindex="0"><code>{code}</code></pre></div>\n'


class Site:
    def __init__(self, root: Path = ROOT):
        self.root = root
        self.errors: list[str] = []
        self.parser = MarkdownIt("commonmark", {"html": True}).enable("table")
        files = sorted({path for pattern in SOURCES for path in root.glob(pattern)})
        self.pages = {page.source: page for page in map(self._read, files)}
        self.attachments: dict[str, Page] = {}
        self.navigation = self._read_navigation()
        for page in list(self.pages.values()):
            page.html = self._render(page)
        while missing := [page for page in self.attachments.values() if not page.html]:
            for page in missing:
                page.html = self._render_file(page)

    def _read(self, path: Path) -> Page:
        source = path.relative_to(self.root).as_posix()
        tokens = self.parser.parse(path.read_text(encoding="utf-8"))
        headings = anchors_of(tokens)
        if not headings or headings[0][0] != 1:
            self.errors.append(f"{source}: the first heading is not the page's title (# ...)")
        return Page(source, page_url(source), headings[0][2] if headings else source, tokens, headings)

    def _read_navigation(self) -> list[tuple[str, list[tuple[str, Page]]]]:
        """Headings of docs/README.md, each with the pages below it and the words that link to them."""
        sections: list[tuple[str, list[tuple[str, Page]]]] = []
        contents = self.pages[CONTENTS]
        listed = {CONTENTS}
        heading = ""
        for token in contents.tokens:
            if token.type == "heading_open":
                heading = token.tag
            elif token.type == "inline" and heading == "h2":
                sections.append((text_of(token), []))
                heading = ""
            elif token.type == "inline" and sections:
                for address, words in links_of(token):
                    source = relative_path(contents.source, address)
                    if source in self.pages and source not in listed:
                        listed.add(source)
                        sections[-1][1].append((words, self.pages[source]))
        for source in sorted(set(self.pages) - listed):
            self.errors.append(f"{source}: not in the navigation; list it in {CONTENTS}")
        return sections

    def _resolve(self, page: Page, address: str) -> str:
        """The address in the site of what a page links to."""
        parts = urlsplit(address)
        if parts.scheme == "https":
            return address
        source = relative_path(page.source, address)
        target = self.pages.get(source) or self.attachments.get(source)
        if not target and not source.startswith("..") and (self.root / source).exists():
            target = Page(source, f"files/{source}.html", source)
            self.attachments[source] = target
        if not target:
            self.errors.append(f"{page.source}: link to {address}, which does not exist")
            return address
        if parts.fragment and parts.fragment not in {anchor for _, anchor, _ in target.headings}:
            self.errors.append(f"{page.source}: link to {address}, a page without that heading")
        return self._relative(page, target) + (f"#{parts.fragment}" if parts.fragment else "")

    def _relative(self, page: Page, target: Page) -> str:
        return quote(posixpath.relpath(target.url, posixpath.dirname(page.url) or "."))

    def _render(self, page: Page) -> str:
        tokens, parts, begin = page.tokens, [], 0
        for place, token in enumerate(tokens):
            self._adapt(page, token)
            if token.type in ("fence", "code_block", "table_open", "table_close", "heading_close",
                              "html_block") or self._is_picture(tokens, place):
                parts.append(self.parser.renderer.render(tokens[begin:place], self.parser.options, {}))
                begin = place + 1
                parts.append(self._block(page, tokens, place))
        parts.append(self.parser.renderer.render(tokens[begin:], self.parser.options, {}))
        return "".join(parts)

    def _is_picture(self, tokens: list[Token], place: int) -> bool:
        children = tokens[place].children or []
        return len(children) == 1 and children[0].type == "image"

    def _block(self, page: Page, tokens: list[Token], place: int) -> str:
        token = tokens[place]
        if token.type in ("fence", "code_block"):
            return code_block(token.info.strip(), token.content)
        if token.type == "table_open":
            return '<div class="scroll" tabindex="0"><table>'
        if token.type == "table_close":
            return "</table></div>\n"
        if token.type == "heading_close":
            opened = next(t for t in reversed(tokens[:place]) if t.type == "heading_open")
            link = f'<a class="here" href="#{opened.attrGet("id")}" aria-label="This heading">#</a>'
            return ("" if token.tag == "h1" else link) + f"</{token.tag}>\n"
        if token.type == "html_block":
            return self._html(page, token.content.strip())
        picture = (token.children or [])[0]
        return self._picture(page, picture.attrGet("src") or "", picture.content)

    def _adapt(self, page: Page, token: Token) -> None:
        """Makes links those of the site."""
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("href", self._resolve(page, str(child.attrGet("href") or "")))
            elif child.type == "html_inline" and not child.content.startswith("<!--"):
                self.errors.append(f"{page.source}: HTML in a line: {child.content}")

    def _html(self, page: Page, text: str) -> str:
        """Comments are left out; tables are those of mlir-tblgen."""
        if text.startswith("<!--"):
            return ""
        if text.startswith("<table>"):
            return f'<div class="scroll" tabindex="0">{text}</div>\n'
        self.errors.append(f"{page.source}: HTML that is neither a comment nor a table: {text[:60]}")
        return ""

    def _picture(self, page: Page, address: str, words: str) -> str:
        """A picture is put into the page."""
        path = self.root / relative_path(page.source, address)
        if path.suffix != ".svg" or not path.is_file():
            self.errors.append(f"{page.source}: picture {address}, which is not an SVG file of docs/")
            return ""
        if not words:
            self.errors.append(f"{page.source}: picture {address} without words for those who cannot see it")
        text = re.sub(r"<\?xml.*?\?>|<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.S).strip()
        svg = text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
        return f"<figure>{svg}</figure>\n"

    def _render_file(self, page: Page) -> str:
        path = self.root / page.source
        title = f"<h1>{escape(page.source)}</h1>\n"
        if path.is_dir():
            names = sorted(each.name for each in path.iterdir() if each.name[0] not in "._")
            here = Page(f"{page.source}/", page.url, page.title)
            links = (f'<a href="{self._resolve(here, quote(name))}">{escape(name)}</a>' for name in names)
            return title + "<ul>" + "".join(f"<li>{link}</li>" for link in links) + "</ul>"
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return f"{title}<p>{path.stat().st_size:,} bytes that are no text.</p>\n"
        code = highlighted(text, file=path.name)
        kind = "wrap" if path.suffix == ".json" else "scroll"
        return f'{title}<div class="code"><pre class="{kind}" tabindex="0"><code>{code}</code></pre></div>\n'

    def _menu(self, page: Page) -> str:
        parts = []
        for title, entries in self.navigation:
            parts.append(f"<h2>{escape(title)}</h2>\n<ul>")
            for words, target in entries:
                current = ' aria-current="page"' if target is page else ""
                parts.append(f'<li><a href="{self._relative(page, target)}"{current}>{escape(words)}</a>'
                             f"{self._sections(page) if target is page else ''}</li>")
            parts.append("</ul>")
        return "\n".join(parts)

    def _sections(self, page: Page) -> str:
        """The page's own headings, of the first level that has several."""
        for level in (2, 3):
            found = [(anchor, text) for depth, anchor, text in page.headings if depth == level]
            if len(found) > 1:
                return "<ul>" + "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>'
                                        for anchor, text in found) + "</ul>"
        return ""

    def _footer(self, page: Page) -> str:
        order = [target for _, entries in self.navigation for _, target in entries]
        if page not in order:
            return ""
        place = order.index(page)
        before = order[place - 1] if place else None
        after = order[place + 1] if place + 1 < len(order) else None
        return "".join(f'<a href="{self._relative(page, other)}">{words.format(escape(other.title))}</a>'
                       for other, words in ((before, "← {}"), (after, "{} →")) if other)

    def files(self) -> dict[str, str]:
        """All pages by their addresses. Raises what is wrong with them."""
        template = (TEMPLATES / "page.html").read_text(encoding="utf-8")
        style = PALETTE.read_text(encoding="utf-8") + (TEMPLATES / "style.css").read_text(encoding="utf-8")
        home = self.pages.get("README.md", self.pages[CONTENTS])
        result = {}
        for page in [*self.pages.values(), *self.attachments.values()]:
            title = page.title if page is home else f"{page.title} · FACT"
            parts = {"title": escape(title), "style": style, "home": self._relative(page, home),
                     "navigation": self._menu(page), "body": page.html, "footer": self._footer(page)}
            result[page.url] = re.sub(r"\{\{(\w+)\}\}", lambda match, parts=parts: parts[match[1]], template)
        self.errors += dead_links(result)
        if self.errors:
            raise SiteError("\n".join(dict.fromkeys(self.errors)))
        return result


class Links(HTMLParser):
    """What one page refers to, and the names of its places."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id" and tag not in ("path", "marker"):
                self.names.append(value or "")


def dead_links(files: dict[str, str]) -> list[str]:
    """The same question, asked of the HTML itself: menus, footers and listings too."""
    pages = {url: Links(text) for url, text in files.items()}
    errors = []
    for url, page in pages.items():
        errors += [f"{url}: two places named {name}" for name in {*page.names} if page.names.count(name) > 1]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = relative_path(url, link)
            if target not in pages or parts.fragment and unquote(parts.fragment) not in pages[target].names:
                errors.append(f"{url}: dead link {link}")
    return errors


def is_replaceable(folder: Path) -> bool:
    """Whether nothing but an earlier site is lost with a folder."""
    if not folder.exists():
        return True
    return folder.is_dir() and ((folder / "index.html").is_file() or not any(folder.iterdir()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="folder", type=Path, default=ROOT / "build/site", metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    try:
        files = Site().files()
    except SiteError as problem:
        print(f"site: error: {problem}".replace("\n", "\nsite: error: "), file=sys.stderr)
        return 1
    if not options.check:
        if not is_replaceable(options.folder):
            print(f"site: error: {options.folder} is no site: name a new folder", file=sys.stderr)
            return 1
        # A page that is gone must not stay.
        shutil.rmtree(options.folder, ignore_errors=True)
        for url, text in files.items():
            path = options.folder / url
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"site: {len(files)} pages; open {options.folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
