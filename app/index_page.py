"""The index page: Streamlit's own page, which names the entry files, and the app's page, which replaces it.

Streamlit's index page is white, has the title "Streamlit", and lacks the app's styles. The index page of the
app has the colors for light and dark, the title, the names of product and project, and the style sheet. The
names of the entry files change with every version of Streamlit, so the app reads them from Streamlit's index
page.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from string import Template

import streamlit as st

from app.assets import make_script_source, read_asset
from curation.core.errors import RefusedError

ICON = "/favicon.svg"
STREAMLIT_FOLDER = Path(st.__file__).with_name("static")
SCRIPTS_PATH = "/static/"
EARLY_SCRIPTS = ("BidiComponent", "Html")
"""Scripts that every page needs, and that the index page therefore names for an early fetch."""
_CHUNKS = re.compile(r'm\.f=\[("[^\]]+")\]')
_Attributes = dict[str, str | None]
STYLE_SHEET = 'rel="stylesheet"'
"""A part of style sheet tags, which the index page moves behind its words to show the words at once."""
_THEME = Path(__file__).with_name(".streamlit") / "config.toml"
EARLY = read_asset("front/early.js")
SCRIPT_SOURCES = f"'self' blob: {make_script_source(EARLY)}"
"""The allowed scripts: Streamlit's files, the index page's, and those of components, which become blobs."""


class _Head(HTMLParser):
    """A parser that collects a page's scripts and links, and its elements' ids."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, _Attributes]] = []
        self.ids: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        if tag in {"script", "link"}:
            self.tags.append((tag, attributes))


def list_entry_tags(static: Path = STREAMLIT_FOLDER) -> Iterator[str]:
    """List the HTML tags for a page's first scripts and links, and for scripts that it needs soon.

    Raises
    ------
    RefusedError: Streamlit's index page is not the page that the app expects.
    """
    path = static / "index.html"
    head = _Head()
    head.feed(path.read_text(encoding="utf-8"))
    scripts = [tag for tag in head.tags if tag[1].get("type") == "module"]
    styles = [tag for tag in head.tags if tag[1].get("rel") == "stylesheet"]
    preloads = [tag for tag in head.tags if tag[1].get("rel") in {"preload", "modulepreload"}]
    addresses = [_read_address(attributes) for _, attributes in (*scripts, *styles, *preloads)]
    missing = [address for address in addresses if not address or not (static / address).is_file()]
    if len(scripts) != 1 or not styles or missing or "root" not in head.ids:
        raise RefusedError(
            f"The index page of Streamlit {st.__version__} ({path}) is not the page that goldgrade expects: "
            "a page with one script, a style sheet, and an element whose id is root, and with both files in "
            "the page's folder. Install a version of Streamlit that goldgrade was tested with, such as 1.67."
        )
    for tag in (*styles, *scripts, *preloads):
        yield _make_tag(*tag)
    for address in _find_early_scripts(static, _read_address(scripts[0][1])):
        if address not in addresses:
            yield f'<link rel="modulepreload" crossorigin href="/{address}">'


@cache
def make_prefetch_links(static: Path = STREAMLIT_FOLDER) -> str:
    """Return HTML links that prefetch every page's files while a person types a password."""
    names = re.findall(r'(?:src|href)="([^"]+)"', "".join(list_entry_tags(static)))
    return "\n".join(f'<link rel="prefetch" href="{name}">' for name in names)


def find_font() -> str:
    """Return the address of the font that Streamlit's index page fetches first; '' if it fetches none."""
    match = re.search(r'"([^"]+\.woff2)"', make_prefetch_links())
    return match[1] if match else ""


def _read_address(attributes: _Attributes) -> str:
    return (attributes.get("src") or attributes.get("href") or "").removeprefix("./")


def _make_tag(tag: str, attributes: _Attributes) -> str:
    """Return an HTML tag with an absolute address, so that the tag works on every path."""
    all_attributes = {**attributes, "src" if tag == "script" else "href": f"/{_read_address(attributes)}"}
    attributes_html = "".join(
        f" {name}" if value is None else f' {name}="{escape(value)}"'
        for name, value in all_attributes.items()
    )
    return f"<{tag}{attributes_html}></script>" if tag == "script" else f"<{tag}{attributes_html}>"


def _find_early_scripts(static: Path, entry: str) -> list[str]:
    """Return the addresses of `EARLY_SCRIPTS` and of their imports, as named in the entry script."""
    text = (static / entry).read_text(encoding="utf-8")
    chunk_list = _CHUNKS.search(text)
    if chunk_list is None:
        return []
    chunks = json.loads(f"[{chunk_list[1]}]")
    files: list[str] = []
    for name in EARLY_SCRIPTS:
        match = re.search(rf"import\(`\./{name}\.[^`]+`\),__vite__mapDeps\(\[([\d,]+)\]", text)
        indexes = map(int, match[1].split(",")) if match else ()
        files += [chunks[index] for index in indexes if index < len(chunks)]
    folder = entry.rpartition("/")[0]
    paths = [f"{folder}/{name.removeprefix('./')}" for name in dict.fromkeys(files)]
    return [path for path in paths if path.endswith(".js") and (static / path).is_file()]


class IndexTemplate:
    """The index page of a project's app, which browsers get for every address.

    Raises
    ------
    RefusedError: Streamlit's index page is not the page that the app expects.
    """

    def __init__(self, project: str, static: Path = STREAMLIT_FOLDER) -> None:
        tags = list(list_entry_tags(static))
        theme = tomllib.loads(_THEME.read_text(encoding="utf-8"))["theme"]
        self._values = {
            "early": EARLY,
            "project": escape(project),
            "brand": f"{0.44 * len(f'goldgrade  {project}'):.2f}",  # as wide as its letters are on average
            "tags": "\n".join(tag for tag in tags if STYLE_SHEET not in tag),
            "styles": "\n".join(tag for tag in tags if STYLE_SHEET in tag),
            "style": read_asset("app.css") + read_asset("document.css"),
            **{f"{scheme}_paper": theme[scheme]["backgroundColor"] for scheme in ("light", "dark")},
            **{f"{scheme}_ink": theme[scheme]["textColor"] for scheme in ("light", "dark")},
        }
        self._template = Template(read_asset("front/index.html"))

    def render(self, title: str) -> bytes:
        """Return the index page's HTML with this browser-tab title."""
        return self._template.substitute(self._values, title=escape(title)).encode()
