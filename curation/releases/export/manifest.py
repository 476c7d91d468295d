"""The manifest of an export: which release it is, how it was written, every file's sum, and its own.

Its text is a function of what it says (sorted keys, two spaces, one line feed at the end), so that not a
space in it can change unseen: `sum` is the SHA-256 of the canonical JSON of all else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from curation import __version__
from curation.text import canonical_json

MANIFEST = "manifest.json"
LAYOUT = "2"
"""Changes with the bytes that formats write of the same release. 2: configs of data-set cards name it."""


def manifest_text(contents: Mapping[str, Any]) -> str:
    """The file's text; its `sum` is computed, whatever the contents say."""
    rest = {name: value for name, value in contents.items() if name != "sum"}
    whole = rest | {"sum": hashlib.sha256(canonical_json(rest).encode("utf-8")).hexdigest()}
    return f"{json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)}\n"


def written_with() -> dict[str, str]:
    """The versions on which an export's bytes depend besides the release."""
    return {"goldset": __version__, "exports": LAYOUT, "pyarrow": version("pyarrow")}
