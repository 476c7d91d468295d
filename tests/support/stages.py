"""The stages of a project's workflow, read and made in one call."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from curation.operations.workflow.project_workflow import SlowFigures, build_stages, read_state
from curation.operations.workflow.stage import Stage
from curation.store import Store


def read_stages(
    store: Store,
    figures: SlowFigures | None = None,
    running: Collection[str] | None = None,
    now: datetime | None = None,
) -> list[Stage]:
    return build_stages(read_state(store, now), figures, running)
