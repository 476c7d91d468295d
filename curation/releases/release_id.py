"""The id of a release: a hash of its content, so that the same labels have the same id on every machine.

    release_id = SHA-256 (all 64 hex digits) of the canonical JSON of [[part, sha256], …], ordered by part

A part is canonical JSON lines (`store.release_parts`). The last digits of floats differ between machines, so
parts have floats at six significant digits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from curation.core.digests import canonical_json


def release_id_of(sums: Mapping[str, str]) -> str:
    """Compute the id of a release from part → SHA-256."""
    return hashlib.sha256(canonical_json(sorted(sums.items())).encode("utf-8")).hexdigest()


def rounded(value: Any) -> Any:
    """Round all floats of a value to six significant digits; further digits differ between machines."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value
