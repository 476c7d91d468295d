"""Joining JavaScript modules into the single script that a Streamlit component accepts.

The screens for grading (`app.grading`) and adjudication (`app.deciding`) consist of JavaScript modules. The
script of a component has no address from which it could import other scripts.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


def read_script(entry: Path) -> str:
    """Return the text of a JavaScript module joined with its imports into one module."""
    return join_modules(entry.read_text(encoding="utf-8"), entry.parent)


def join_modules(source: str, folder: Path) -> str:
    """Return the text of a JavaScript module, preceded by the modules that it imports from `folder`.

    Each imported module becomes a function, so that modules do not share names.
    """
    modules: dict[Path, str] = {}
    text = _bind_imports(source, folder, modules)
    return "\n".join([*modules.values(), text])


def _bind_imports(source: str, folder: Path, modules: dict[Path, str]) -> str:
    """Return the text of a JavaScript module with its imports rewritten to refer to the modules joined before
    it."""

    def bind(import_: re.Match[str]) -> str:
        path = (folder / import_[2]).resolve()
        if path not in modules:
            text = _bind_imports(path.read_text(encoding="utf-8"), path.parent, modules)
            names = ", ".join(_EXPORT.findall(text))
            body = _EXPORT.sub("", text)
            modules[path] = f"const {_name_module(path)} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"
        return f"const {import_[1]} = {_name_module(path)};"

    return _IMPORT.sub(bind, source)


def _name_module(path: Path) -> str:
    return f"module_{path.parent.name}_{path.stem}"
