"""Scripts of the two annotation screens: grading (`app.grading`) and adjudication (`app.deciding`).

The scripts are JavaScript modules. Streamlit accepts a single script for a component, and the script has no
address from which it could import other scripts. Therefore this module joins a script and its imports into
one script.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


def script(entry: Path) -> str:
    """Join a JavaScript module and its imports into one module."""
    return joined(entry.read_text(encoding="utf-8"), entry.parent)


def joined(source: str, folder: Path) -> str:
    """Return the text of a JavaScript module, preceded by the modules that it imports from `folder`.

    Each imported module becomes a function, so that modules do not share names.
    """
    modules: dict[Path, str] = {}
    text = _bound(source, folder, modules)
    return "\n".join([*modules.values(), text])


def _bound(source: str, folder: Path, modules: dict[Path, str]) -> str:
    """Return the text of a JavaScript module whose imports refer to the modules joined before."""

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
