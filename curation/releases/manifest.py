"""The manifest of an export or a packed release, with the release's name and a checksum of each file.

The text of a manifest is a function of its fields (sorted keys, two spaces, one line feed at the end), so no
space in the text can change unseen. The field `sum` is the SHA-256 of the canonical JSON of all other fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from curation.core.digests import canonical_json

MANIFEST = "manifest.json"


def format_manifest(contents: Mapping[str, Any]) -> str:
    """Return the text of a manifest with these contents. The field `sum` is always computed."""
    fields = {name: value for name, value in contents.items() if name != "sum"}
    checksum = hashlib.sha256(canonical_json(fields).encode("utf-8")).hexdigest()
    return f"{json.dumps(fields | {'sum': checksum}, ensure_ascii=False, indent=2, sort_keys=True)}\n"


def read_manifest(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return a manifest's fields (None if unreadable), and its problem or ''."""
    try:
        text = content.decode("utf-8")
        manifest = json.loads(text)
    except UnicodeDecodeError as error:
        return None, f"was altered: byte {error.start + 1:,} is not UTF-8, so no file could be checked"
    except ValueError as error:
        return None, f"was altered: the manifest is not JSON ({error}), so no file could be checked"
    if not _has_safe_file_names(manifest):
        return None, "was altered: the manifest does not name its files, so no file could be checked"
    is_intact = format_manifest(manifest) == text
    return manifest, "" if is_intact else "was altered: the manifest does not match its checksum"


def _has_safe_file_names(manifest: Any) -> bool:
    """Return whether a manifest names files, and only files within its folder."""
    files = manifest.get("files") if isinstance(manifest, dict) else None
    return isinstance(files, dict) and all(
        isinstance(entry, dict)
        and name
        and not PurePosixPath(name).is_absolute()
        and ".." not in PurePosixPath(name).parts
        for name, entry in files.items()
    )
