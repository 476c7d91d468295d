"""What is known to fail before a job starts: the checks that the work itself makes first, without a process.

A job that must fail costs a process and seconds of waiting for one sentence. So a page asks here before it
offers a button, and a start is refused here. Only what takes milliseconds is looked at: the work still
refuses the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from curation.errors import CurationError
from curation.steps import NAMES, step_of
from curation.store import Cursor, Store

Parameters = Mapping[str, Any]


def problem(store: Store, kind: str, parameters: Parameters | None = None) -> str | None:
    """Why a job of this kind would fail, in words for a page; None where nothing is known against it.

    Parameters
    ----------
    parameters: as `Jobs.start` takes them; None is whatever may be asked for.
    """
    try:
        with store.reading() as cursor:
            refuse(cursor, kind, parameters)
    except CurationError as error:
        return error.found
    return None


def refuse(cursor: Cursor, kind: str, parameters: Parameters | None) -> None:
    """Raise what the work would raise, as far as it is known at once.

    Raises
    ------
    CurationError: of whatever class the work raises.
    """
    if kind in NAMES:
        step_of(kind).refuse(cursor, parameters)
    elif kind in CHECKS:
        CHECKS[kind](cursor, parameters)


def _plan_relabeling(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.relabeling.plan.plan import refuse_open_work
    from curation.relabeling.staleness.calendar import present_quarter, read_work

    refuse_open_work(read_work(cursor), present_quarter(cursor, None))


def _freeze(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.errors import RefusedError
    from curation.releases.freeze.freeze import check_name
    from curation.releases.stored import list_releases

    if parameters is None:
        return
    name = parameters["name"]
    check_name(name)
    if name in [row.name for row in list_releases(cursor)]:
        raise RefusedError(
            f"There is a release {name} already. A release never changes: choose another name."
        )


def _split(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.retrieval.embeddings import refuse_without_model

    if parameters is not None and parameters["rules"]["paraphrase"] is not None:
        refuse_without_model(cursor, parameters["rules"]["model"])


CHECKS: dict[str, Callable[[Cursor, Parameters | None], None]] = {
    "plan re-labeling": _plan_relabeling,
    "freeze": _freeze,
    "split preview": _split,
    "split": _split,
}
"""Kind of job → what raises its refusals; a kind without one is refused by its work alone."""
