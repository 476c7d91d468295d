"""The draw of a sample from the distinct queries of the traffic.

Each drawn query is stored with its inclusion probability (`queries.sampling.stored_sample`); the inverse
probability is the weight of the query in estimates for all traffic. By default the sample is stratified by
frequency band with equal shares. The bands have about equal traffic, so equal shares are also proportional to
traffic, except that torso and tail get what a small head cannot use.

The parameters of a draw are stored with the sample as JSON. Rare options are stored only if they are used, so
that the id of a sample stays the same when goldgrade gets new options. A release holds the parameters of its
sample, so the parameters name releases by id, and not by names that belong to the project.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import describe_out_of_bounds
from curation.core.text import pluralize
from curation.ingest.importers.query_tags import check_tags
from curation.people.annotators import require_author
from curation.queries.coverage.stored_map import read_current_map_id
from curation.queries.sampling.designs import Drawing, draw_pps, draw_stratified
from curation.queries.sampling.dimensions import CLUSTER, HEAD, TAG, TORSO, check_dimensions, list_names
from curation.queries.sampling.frame import NO_RELEASES, Frame, ReleasedQueries, read_frame
from curation.queries.sampling.requests import DESIGNS, DrawRequest, check_limits
from curation.queries.sampling.stored_sample import SampleReport, store_sample
from curation.store import COMMAND_LINE, Cursor, Store

_ANY = "SELECT count(*), 1 FROM (FROM traffic LIMIT 1)"
_DISTINCT = "SELECT count(*), count(DISTINCT normalised) FILTER (normalised <> '') FROM traffic"


def draw_sample(
    store: Store,
    request: DrawRequest,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    released: ReleasedQueries = NO_RELEASES,
) -> SampleReport:
    """Draw distinct queries of the traffic, and store the queries as the current sample.

    Parameters
    ----------
    author: name for the audit trail: a lead or the command line.
    released: queries of all releases, for requests that leave out released queries (`releases.release_rows`).

    Raises
    ------
    InputError: the size is below 1, or the design or the limits are impossible.
    RefusedError: there is no traffic, there are fewer distinct queries than the size, traffic or a release
        was added meanwhile, or the author is not a lead.
    """
    check_design(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        refuse_too_few(cursor)
    frame = read_frame(store, request, released, progress=progress)
    if request.size > len(frame.traffic):
        raise _size_refusal(request.size, len(frame.traffic), frame.left_out)
    drawing = _draw_by_design(frame, request)
    parameters = make_parameters(request, frame.map_id)
    return store_drawing(store, frame, drawing, parameters, author)


def check_draw(cursor: Cursor, request: DrawRequest | None) -> None:
    """Reject a draw of a sample that is certain to fail, before the frame is read."""
    refuse_too_few(cursor, request.size if request else 1)
    if request is None:
        return
    check_design(request)
    check_dimensions(request.strata)
    check_tags(cursor, list_names(TAG, request.strata))
    check_limits(request)
    if CLUSTER in request.strata:
        read_current_map_id(cursor)


def refuse_too_few(cursor: Cursor, size: int = 1) -> None:
    """Refuse to draw `size` queries if the traffic has fewer distinct queries, without reading the frame."""
    rows, distinct_queries = cursor.execute(_DISTINCT if size > 1 else _ANY).fetchall()[0]
    population = distinct_queries if rows else 0
    if size > population:
        raise _size_refusal(size, population, {})


def store_drawing(
    store: Store, frame: Frame, drawing: Drawing, parameters: dict[str, Any], author: str
) -> SampleReport:
    """Store the queries drawn from a frame as the current sample."""
    queries = [
        (frame.queries[int(row)].as_py(), frame.strata.get_name(row), int(frame.traffic[row]), probability)
        for row, probability in zip(drawing.rows, drawing.probability.tolist(), strict=True)
    ]
    report = store_sample(store, parameters, drawing.strata, queries, frame.state, author)
    return replace(report, grouped=frame.grouped, left_out=frame.left_out)


def check_design(request: DrawRequest) -> None:
    """Reject an impossible sample size or sampling design; the error lists all problems."""
    problems = describe_out_of_bounds(DrawRequest, {"size": request.size})
    if request.design not in DESIGNS:
        problems.append(f"The design {request.design!r} is unknown; expected one of {', '.join(DESIGNS)}.")
    if request.design == "pps" and (request.allocation or request.quotas):
        problems.append(
            "The design pps draws in proportion to traffic, so it takes no allocation or quota. "
            "Remove these options, or use the design stratified."
        )
    refuse_problems(problems)


def make_parameters(request: DrawRequest, map_id: str | None) -> dict[str, Any]:
    """Return the stored parameters of a draw. `map_id` is the coverage map if its clusters are strata."""
    # Tags no longer use a model; the parameter stays, so that the same draw keeps its id.
    rare_options = {
        "exclude_released": request.exclude_released,
        "model": request.model if list_names(TAG, request.strata) else None,
        "coverage_map": map_id,
    }
    return {
        "size": request.size,
        "seed": request.seed,
        "design": request.design,
        "strata": list(request.strata),
        "allocation": None if request.design == "pps" else request.allocation or "equal",
        "quotas": dict(request.quotas),
        "head": HEAD,
        "torso": TORSO,
        "since": request.since.isoformat() if request.since else None,
        "until": request.until.isoformat() if request.until else None,
        "min_count": request.min_count,
        "exclude_judged": request.exclude_judged,
        "group_spellings": request.group_spellings,
    } | {name: value for name, value in rare_options.items() if value}


def _draw_by_design(frame: Frame, request: DrawRequest) -> Drawing:
    if request.design == "pps":
        return draw_pps(frame.traffic, frame.strata, request.size, request.seed)
    allocation = request.allocation or "equal"
    return draw_stratified(frame.traffic, frame.strata, request.size, allocation, request.quotas)


def _size_refusal(size: int, population: int, reasons: Mapping[str, int]) -> RefusedError:
    """Make the error for a sample size above the number of queries that can be drawn."""
    rows = "; ".join(f"{pluralize(count, 'row')} {reason}" for reason, count in reasons.items())
    if not population and not reasons:
        return RefusedError(
            "There is no traffic to sample from. Import a log of searches.",
            command="`goldgrade import traffic PATH` imports a log.",
        )
    if not population:
        return RefusedError(f"No query of the traffic can be drawn. The draw leaves out {rows}.")
    left_out = f" The draw leaves out {rows}." if rows else ""
    return RefusedError(
        f"You asked for {pluralize(size, 'query', 'queries')}, but the traffic has only "
        f"{population:,} distinct queries.{left_out} Ask for at most {population:,}, or import more traffic."
    )
