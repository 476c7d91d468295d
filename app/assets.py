"""The app's assets: HTML files, style sheets and scripts."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files


def read_asset(path: str) -> str:
    """Read a file's text, given its path in the app's folder."""
    return files("app").joinpath(path).read_text(encoding="utf-8")


def make_script_source(script: str) -> str:
    """Return the source expression for a content security policy that allows only this inline script."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
