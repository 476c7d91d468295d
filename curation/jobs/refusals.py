"""What is known to fail before a job starts: the checks that the work itself makes first, without a process.

A job that must fail costs a process and seconds of waiting for one sentence. So a page asks here before it
offers a button, and a start is refused here. Only what takes milliseconds is looked at: the work still
refuses the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from curation.errors import CurationError
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
    if kind in CHECKS:
        CHECKS[kind](cursor, parameters)


def _sample(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.coverage.stored_map import map_in_force
    from curation.sampling.frame.limits import Limits, check_limits
    from curation.sampling.plan import SamplingPlan, check_plan
    from curation.sampling.sample import refuse_too_few
    from curation.sampling.strata import CLUSTER, check_dimensions

    refuse_too_few(cursor, parameters["size"] if parameters else 1)
    if parameters is None:
        return
    asked = dict(parameters["plan"])
    learns = asked.pop("from_release", None), asked.pop("run", None)
    plan = SamplingPlan(**asked)
    if not any(learns):
        check_plan(parameters["size"], plan, None)
    check_dimensions(plan.strata)
    times = {end: time and datetime.fromisoformat(time) for end, time in _window(parameters).items()}
    check_limits(Limits(**{**parameters["limits"], **times}))
    if CLUSTER in plan.strata:
        map_in_force(cursor)


def _window(parameters: Parameters) -> dict[str, str | None]:
    return {end: parameters["limits"][end] for end in ("since", "until")}


def _top_up(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.sampling.top_up import refuse_nothing_asked, refuse_taking_away, sample_to_top_up

    earlier = sample_to_top_up(cursor)
    if parameters is not None:
        refuse_nothing_asked(parameters["quotas"], parameters["size"])
        refuse_taking_away(earlier, parameters["size"])


def _tags(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.retrieval.embeddings import DEFAULT_MODEL, refuse_without_model
    from curation.sampling.tags.find_tags import queries_to_tag
    from curation.store import get_setting

    queries_to_tag(cursor)
    if parameters and parameters.get("dense", True) and get_setting(cursor, "corpus") is not None:
        refuse_without_model(cursor, parameters.get("model", DEFAULT_MODEL))


def _pool(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.pooling.pool import checked_request, queries_to_pool
    from curation.retrieval import DEFAULT_MODEL, RUN_PREFIX
    from curation.retrieval.embeddings import refuse_without_model
    from curation.sources.runs import find_run

    queries_to_pool(cursor)
    if parameters is None:
        return
    names, _ = checked_request(**{name: one for name, one in parameters.items() if name not in NOT_CHECKED})
    for name in names:
        if name.startswith(RUN_PREFIX):
            find_run(cursor, name.removeprefix(RUN_PREFIX))
    if not {"dense", "hybrid"}.isdisjoint(names):
        refuse_without_model(cursor, parameters.get("model", DEFAULT_MODEL))


NOT_CHECKED = frozenset({"seed", "model", "stemmer", "without"})
"""Parameters of a pool that `checked_request` does not look at."""


def _coverage(cursor: Cursor, parameters: Parameters | None) -> None:
    from curation.coverage.coverage_map import MapSettings
    from curation.retrieval.embeddings import refuse_without_model
    from curation.store.documents import current_snapshot

    current_snapshot(cursor)
    if parameters is not None:
        settings = MapSettings(**parameters)
        settings.parameters()
        refuse_without_model(cursor, settings.model)


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
    "sample": _sample,
    "top up": _top_up,
    "tags": _tags,
    "pool": _pool,
    "coverage": _coverage,
    "plan re-labeling": _plan_relabeling,
    "freeze": _freeze,
    "split preview": _split,
    "split": _split,
}
"""Kind of job → what raises its refusals; a kind without one is refused by its work alone."""
