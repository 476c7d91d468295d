"""The assets of the app: the HTML files, style sheets and scripts in its folders."""

from __future__ import annotations

from importlib.resources import files


def read_asset(path: str) -> str:
    """Read the text of a file, given the path of the file in the folder of the app."""
    return files("app").joinpath(path).read_text(encoding="utf-8")
