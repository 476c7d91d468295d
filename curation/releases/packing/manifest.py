"""The manifest of an export: the release, every file's sum, and its own sum.

Its text is a function of what it says (sorted keys, two spaces, one line feed at the end), so that not a
space in it can change unseen: `sum` is the SHA-256 of the canonical JSON of all else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from curation.core.text import canonical_json

MANIFEST = "manifest.json"


def manifest_text(contents: Mapping[str, Any]) -> str:
    """The file's text; its `sum` is computed, whatever the contents say."""
    rest = {name: value for name, value in contents.items() if name != "sum"}
    whole = rest | {"sum": hashlib.sha256(canonical_json(rest).encode("utf-8")).hexdigest()}
    return f"{json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)}\n"


def read_manifest(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """What the manifest tells, None where it tells nothing; and what is wrong with it, '' for nothing."""
    try:
        text = content.decode("utf-8")
        manifest = json.loads(text)
    except UnicodeDecodeError as error:
        return None, f"was altered: byte {error.start + 1:,} is not UTF-8; nothing else could be looked at"
    except ValueError as error:
        return None, f"was altered: it is no JSON any more ({error}); nothing else could be looked at"
    if not _is_manifest(manifest):
        return None, "was altered: it does not tell which files there are; nothing else could be looked at"
    agrees = manifest_text(manifest) == text
    return manifest, "" if agrees else "was altered: it does not agree with its own sum"


def _is_manifest(manifest: Any) -> bool:
    files = manifest.get("files") if isinstance(manifest, dict) else None
    return isinstance(files, dict) and all(
        isinstance(entry, dict) and _inside(name) for name, entry in files.items()
    )


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts
