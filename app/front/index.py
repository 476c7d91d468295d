"""The index page: what a browser gets for the address of a page, before any script has drawn anything.

Streamlit's own page is white, is called "Streamlit", and knows no style of ours. This one has the colours for
light and dark, the title, the names of product and project, and the style sheet. It takes the scripts from
Streamlit's, where their names change with every version.
"""

from __future__ import annotations

import tomllib
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from app.entry import STATIC, entry_tags, source_of

STYLE = 'rel="stylesheet"'
"""Streamlit's style sheets come after the first words on the page, which need not wait for them."""
_THEME = Path(__file__).parents[1] / ".streamlit" / "config.toml"


EARLY = files("app.front").joinpath("early.js").read_text(encoding="utf-8")
SCRIPTS_FROM = f"'self' blob: {source_of(EARLY)}"
"""What a policy lets run: Streamlit's files, the one script within the page, and the scripts of components.

Those Streamlit gives to the browser as blobs, which only a script that runs already can make.
"""


def _style(name: str) -> str:
    return files("app").joinpath(name).read_text(encoding="utf-8")


class IndexTemplate:
    """The index page of all addresses of a project.

    Raises
    ------
    RefusedError: Streamlit's index page is not built as this one expects.
    """

    def __init__(self, project: str, static: Path = STATIC) -> None:
        tags = list(entry_tags(static))
        theme = tomllib.loads(_THEME.read_text(encoding="utf-8"))["theme"]
        source = files("app.front").joinpath("index.html").read_text(encoding="utf-8")
        self._known = {
            "early": EARLY,
            "project": escape(project),
            "brand": f"{0.44 * len(f'goldgrade  {project}'):.2f}",  # as wide as its letters are on average
            "tags": "\n".join(tag for tag in tags if STYLE not in tag),
            "styles": "\n".join(tag for tag in tags if STYLE in tag),
            "style": "".join(map(_style, ("app.css", "document.css"))),
            **{f"{scheme}_paper": theme[scheme]["backgroundColor"] for scheme in ("light", "dark")},
            **{f"{scheme}_ink": theme[scheme]["textColor"] for scheme in ("light", "dark")},
        }
        self._template = Template(source)

    def page(self, title: str) -> bytes:
        """The index page with the title of the tab."""
        return self._template.substitute(self._known, title=escape(title)).encode()
