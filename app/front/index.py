"""The index page: what a browser gets for the address of a page, before any script has drawn anything.

Streamlit's own page is white, is called "Streamlit", and knows no style of ours. This one has the colours for
light and dark, the title, the names of product and project, and the style sheet. It takes the scripts from
Streamlit's, where their names change with every version.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

import streamlit as st

from curation.errors import RefusedError

ICON = "/favicon.svg"
STATIC = Path(st.__file__).with_name("static")
"""The folder with Streamlit's index page, and below it all that the page loads."""
SOON = ("BidiComponent", "Html")
"""What every page of ours loads after the first scripts have run: the browser may as well know at once."""
_CHUNKS = re.compile(r'm\.f=\[("[^\]]+")\]')
_THEME = Path(__file__).parents[1] / ".streamlit" / "config.toml"


class IndexPage(NamedTuple):
    """The index page of one address: its text, and the tag by which a browser asks whether it has changed."""

    body: bytes
    etag: str


class HeadTag(NamedTuple):
    """A script or a link of a page's head."""

    kind: str
    attributes: dict[str, str | None]


class _Head(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[HeadTag] = []
        self.ids: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = HeadTag(tag, dict(attrs))
        self.ids.add(found.attributes.get("id"))
        if tag in {"script", "link"}:
            self.tags.append(found)


class IndexTemplate:
    """The index page of all addresses of a project.

    Raises
    ------
    RefusedError: Streamlit's index page is not built as this one expects.
    """

    def __init__(self, project: str, static: Path = STATIC) -> None:
        theme = tomllib.loads(_THEME.read_text(encoding="utf-8"))["theme"]
        source = files("app.front").joinpath("index.html").read_text(encoding="utf-8")
        self._known = {
            "project": escape(project),
            "brand": f"{0.44 * len(f'goldset  {project}'):.2f}",  # as wide as its letters are on average
            "tags": "\n".join(_tags(static)),
            "style": files("app").joinpath("app.css").read_text(encoding="utf-8"),
            **{f"{scheme}_paper": theme[scheme]["backgroundColor"] for scheme in ("light", "dark")},
            **{f"{scheme}_ink": theme[scheme]["textColor"] for scheme in ("light", "dark")},
        }
        self._template = Template(source)

    def page(self, title: str) -> IndexPage:
        """The index page with the title of the tab."""
        text = self._template.substitute(self._known, title=escape(title))
        body = text.encode()
        return IndexPage(body, f'"{sha256(body).hexdigest()[:16]}"')


def _tags(static: Path) -> Iterator[str]:
    """The scripts and links that the page begins with, and what every page of ours loads soon after."""
    path = static / "index.html"
    head = _Head()
    head.feed(path.read_text(encoding="utf-8"))
    scripts = [one for one in head.tags if one.attributes.get("type") == "module"]
    styles = [one for one in head.tags if one.attributes.get("rel") == "stylesheet"]
    ahead = [one for one in head.tags if one.attributes.get("rel") in {"preload", "modulepreload"}]
    named = [_address(one) for one in (*scripts, *styles, *ahead)]
    missing = [name for name in named if not name or not (static / name).is_file()]
    if len(scripts) != 1 or not styles or missing or "root" not in head.ids:
        raise RefusedError(
            f"{path} of Streamlit {st.__version__} is not the page that goldset expects: one script and a "
            "style sheet that are in the folder beside it, and an element called root. Install a version of "
            "Streamlit that goldset was tested with, such as 1.67."
        )
    for one in (*styles, *scripts, *ahead):
        yield _text(one)
    for name in _soon(static, _address(scripts[0])):
        if name not in named:
            yield f'<link rel="modulepreload" crossorigin href="/{name}">'


@cache
def fetched_ahead(static: Path = STATIC) -> str:
    """Links by which the sign-in page fetches what every page needs while somebody types a password."""
    names = re.findall(r'(?:src|href)="([^"]+)"', "".join(_tags(static)))
    return "\n".join(f'<link rel="prefetch" href="{name}">' for name in names)


def _address(tag: HeadTag) -> str:
    return (tag.attributes.get("src") or tag.attributes.get("href") or "").removeprefix("./")


def _text(tag: HeadTag) -> str:
    """The tag with its address from the root, so that it is the same below every path."""
    given = {**tag.attributes, "src" if tag.kind == "script" else "href": f"/{_address(tag)}"}
    words = "".join(
        f" {name}" if value is None else f' {name}="{escape(value)}"' for name, value in given.items()
    )
    return f"<{tag.kind}{words}></script>" if tag.kind == "script" else f"<{tag.kind}{words}>"


def _soon(static: Path, entry: str) -> list[str]:
    """The scripts that `SOON` names, with what they need, as the entry script lists them, if it does."""
    text = (static / entry).read_text(encoding="utf-8")
    listed = _CHUNKS.search(text)
    if listed is None:
        return []
    chunks = json.loads(f"[{listed[1]}]")
    needed: list[str] = []
    for name in SOON:
        found = re.search(rf"import\(`\./{name}\.[^`]+`\),__vite__mapDeps\(\[([\d,]+)\]", text)
        places = found[1].split(",") if found else []
        needed += [chunks[int(place)] for place in places if int(place) < len(chunks)]
    folder = entry.rpartition("/")[0]
    paths = [f"{folder}/{name.removeprefix('./')}" for name in dict.fromkeys(needed)]
    return [path for path in paths if path.endswith(".js") and (static / path).is_file()]
