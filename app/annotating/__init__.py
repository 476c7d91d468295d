"""What both annotating loops share: grading (`app.grading`) and deciding (`app.deciding`) disputed pairs.

Their scripts are JavaScript modules; each module owns one noun. Streamlit takes one script for a component,
without an address to which an import could be relative, so a module and all that it imports are joined.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


def script(entry: Path) -> str:
    """A module and all that it imports, as one module."""
    return joined(entry.read_text(encoding="utf-8"), entry.parent)


def joined(source: str, folder: Path) -> str:
    """The text of a module whose imports are relative to `folder`, with all that it imports before it.

    Each imported module becomes a function of its own, so that no name of one is seen in another.
    """
    modules: dict[Path, str] = {}
    text = _bound(source, folder, modules)
    return "\n".join([*modules.values(), text])


def _bound(source: str, folder: Path, modules: dict[Path, str]) -> str:
    """A module's text with its imports taken from modules that were joined before."""

    def taken(import_: re.Match[str]) -> str:
        path = (folder / import_[2]).resolve()
        if path not in modules:
            text = _bound(path.read_text(encoding="utf-8"), path.parent, modules)
            names = ", ".join(_EXPORT.findall(text))
            body = _EXPORT.sub("", text)
            modules[path] = f"const {_name(path)} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"
        return f"const {import_[1]} = {_name(path)};"

    return _IMPORT.sub(taken, source)


def _name(path: Path) -> str:
    return f"module_{path.parent.name}_{path.stem}"
