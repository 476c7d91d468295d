"""Freezing and exporting for tests, by a name and options instead of a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.releases.export.export import Exported
from curation.releases.export.export import export as export_release
from curation.releases.freeze.freeze import Frozen
from curation.releases.freeze.freeze import freeze as freeze_release
from curation.releases.requests import ExportRequest, FreezeRequest
from curation.store import COMMAND_LINE, Store


def freeze(store: Store, name: str, *, actor: str = COMMAND_LINE, seal: Any = (), **options: Any) -> Frozen:
    """Freeze what is graded now; `options` are the options of `FreezeRequest`."""
    return freeze_release(store, FreezeRequest(name, seal=tuple(seal), **options), actor=actor)


def export(
    store: Store,
    name: str,
    format: str,
    out: Path,
    actor: str = COMMAND_LINE,
    *,
    parts: Any = (),
    without_grades: Any = (),
    **options: Any,
) -> Exported:
    """Export a release; `options` are the options of `ExportRequest`."""
    splits = {"parts": tuple(parts), "without_grades": tuple(without_grades)}
    return export_release(store, ExportRequest(name, format, **splits, **options), out, actor=actor)
