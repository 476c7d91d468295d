"""The draw of a sample from the distinct queries of the traffic, and the top-up of the current sample.

Each drawn query is stored with its inclusion probability (`queries.sampling.stored_sample`); the inverse
probability is the weight of the query in estimates for all traffic. By default the sample is stratified by
frequency band with equal shares. The bands have about equal traffic, so equal shares are also proportional to
traffic, except that torso and tail get what a small head cannot use.

The parameters of a draw are stored with the sample as JSON. Rare options are stored only if they are used, so
that the id of a sample stays the same when goldgrade gets new options. A release holds the parameters of its
sample, so the parameters name releases by id, and not by names that belong to the project.

A top-up keeps all earlier queries of the sample. Queries have a fixed random order, and a stratified sample
has the first n queries of each stratum. The first m > n queries are a simple random sample with probability m
/ population, because only the number is chosen (permanent random numbers: Ohlsson 1995). Topping up is valid
only if the frame and the strata are unchanged. If a larger log or a moved frequency band would lose an
earlier query, the top-up is refused, because the query's inclusion probability would differ from the stored
probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import describe_out_of_bounds
from curation.core.statistics.stratified_sampling import allocate, compute_weights, describe_impossible_quota
from curation.core.text import pluralize
from curation.ingest.importers.query_tags import check_tags
from curation.people.annotators import require_author
from curation.queries.coverage.stored_map import read_current_map_id
from curation.queries.requests import DESIGNS, DrawRequest, TopUpRequest, check_limits
from curation.queries.sampling.designs import (
    CLUSTER,
    HEAD,
    TAG,
    TORSO,
    Drawing,
    check_dimensions,
    draw_pps,
    draw_stratified,
    names_after,
    sizes,
)
from curation.queries.sampling.frame import NO_RELEASES, Frame, ReleasedQueries, read_frame
from curation.queries.sampling.stored_sample import (
    SampleReport,
    queries_of,
    read_current,
    request_of,
    store_sample,
)
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
        was added meanwhile, or the author is no lead.
    """
    check_plan(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        refuse_too_few(cursor)
    frame = read_frame(store, request, released, progress=progress)
    if request.size > len(frame.traffic):
        raise _too_few(request.size, len(frame.traffic), frame.left_out)
    drawing = _draw_from(frame, request)
    parameters = parameters_of(request, frame.map_id)
    return store_drawing(store, frame, drawing, parameters, author)


def check_draw(cursor: Cursor, request: DrawRequest | None) -> None:
    """Refuse a draw that would fail, as far as this is known without reading the frame."""
    refuse_too_few(cursor, request.size if request else 1)
    if request is None:
        return
    check_plan(request)
    check_dimensions(request.strata)
    check_tags(cursor, names_after(TAG, request.strata))
    check_limits(request)
    if CLUSTER in request.strata:
        read_current_map_id(cursor)


def refuse_too_few(cursor: Cursor, size: int = 1) -> None:
    """Refuse a traffic with fewer distinct queries than `size`, without reading the frame."""
    rows, distinct = cursor.execute(_DISTINCT if size > 1 else _ANY).fetchall()[0]
    population = distinct if rows else 0
    if size > population:
        raise _too_few(size, population, {})


def store_drawing(
    store: Store, frame: Frame, drawing: Drawing, parameters: dict[str, Any], author: str
) -> SampleReport:
    """Store the queries drawn from a frame as the current sample."""
    drawn = [
        (frame.queries[int(row)].as_py(), frame.strata.name_of(row), int(frame.traffic[row]), chance)
        for row, chance in zip(drawing.rows, drawing.probability.tolist(), strict=True)
    ]
    report = store_sample(store, parameters, drawing.strata, drawn, frame.state, author)
    return replace(report, grouped=frame.grouped, left_out=frame.left_out)


def _draw_from(frame: Frame, request: DrawRequest) -> Drawing:
    if request.design == "pps":
        return draw_pps(frame.traffic, frame.strata, request.size, request.seed)
    allocation = request.allocation or "equal"
    return draw_stratified(frame.traffic, frame.strata, request.size, allocation, request.quotas)


def _too_few(size: int, population: int, reasons: Mapping[str, int]) -> RefusedError:
    left_out = "; ".join(f"{pluralize(count, 'row')} {reason}" for reason, count in reasons.items())
    if not population and not reasons:
        return RefusedError(
            "There is no traffic to sample from. Import a log of what people searched for.",
            command="`goldgrade import traffic PATH` imports a log.",
        )
    if not population:
        return RefusedError(f"No query of the traffic can be drawn. Left out were {left_out}.")
    narrowed = f" Left out were {left_out}." if left_out else ""
    return RefusedError(
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for.{narrowed} "
        f"Ask for at most {population:,}, or import more traffic."
    )


def check_plan(request: DrawRequest) -> None:
    """Refuse a size or design that is impossible; the error lists all problems."""
    problems = describe_out_of_bounds(DrawRequest, {"size": request.size})
    if request.design not in DESIGNS:
        problems.append(f"The design {request.design!r} is unknown; expected one of {', '.join(DESIGNS)}.")
    if request.design == "pps" and (request.allocation or request.quotas):
        problems.append(
            "The design pps draws in proportion to traffic, and takes no allocation or quota. Leave "
            "both out, or draw with the design stratified."
        )
    refuse_problems(problems)


def parameters_of(request: DrawRequest, map_id: str | None) -> dict[str, Any]:
    """Return the stored parameters of a draw. `map_id` is the coverage map if its clusters are strata."""
    # Tags use no model any more; the parameter stays, so that the same draw keeps its id.
    used = {
        "exclude_released": request.exclude_released,
        "model": request.model if names_after(TAG, request.strata) else None,
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
    } | {name: value for name, value in used.items() if value}


def top_up(
    store: Store,
    request: TopUpRequest,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    released: ReleasedQueries = NO_RELEASES,
) -> SampleReport:
    """Draw more queries for the current sample, and make the result the current sample.

    Parameters
    ----------
    author: name for the audit trail: a lead or the command line.
    released: queries of all releases, for samples that leave out released queries (`releases.release_rows`).

    Raises
    ------
    InputError: the request has neither size nor quotas, a quota is impossible, or the size is too small.
    RefusedError: there is no sample, the sample cannot be topped up or would lose a query, or the author is
        no lead.
    """
    _refuse_nothing_asked(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        earlier = _sample_to_top_up(cursor)
        earlier_queries = queries_of(cursor, earlier.sample_id)
    frame = read_frame(store, request_of(earlier.parameters), released, earlier, progress)
    numbers = _allocate_top_up(frame, earlier, request)
    total = sum(numbers.values())
    drawing = draw_stratified(frame.traffic, frame.strata, total, quotas=numbers)
    _refuse_loss(frame, drawing, earlier_queries)
    return store_drawing(store, frame, drawing, _top_up_parameters(earlier, numbers, total), author)


def check_top_up(cursor: Cursor, request: TopUpRequest | None) -> None:
    """Refuse a top-up that would fail, as far as this is known without reading the frame."""
    earlier = _sample_to_top_up(cursor)
    if request is not None:
        _refuse_nothing_asked(request)
        _refuse_rest(sum(stratum.drawn for stratum in earlier.strata), request.size)


def _refuse_nothing_asked(request: TopUpRequest) -> None:
    """Refuse a top-up without a size and without quotas."""
    if not request.quotas and request.size is None:
        raise InputError(
            "The top-up has no goal; expected a size of the whole sample, or quotas such as tail=40."
        )


def _sample_to_top_up(cursor: Cursor) -> SampleReport:
    """Read the current sample, and refuse a sample that cannot be topped up.

    Raises
    ------
    RefusedError: there is no sample, its design draws all queries at once, or it was drawn with an option
        that no longer exists.
    """
    earlier = read_current(cursor)
    if earlier is None:
        raise RefusedError(
            "There is no sample to top up yet. Draw one first.",
            command="`goldgrade sample --size N --seed S` draws a sample.",
        )
    design = earlier.parameters["design"]
    if design != "stratified":
        raise RefusedError(
            f"The current sample was drawn with the design {design}, which draws all queries at once, so it "
            "cannot be topped up. Draw a larger sample."
        )
    bands = (earlier.parameters["head"], earlier.parameters["torso"])
    if bands != (HEAD, TORSO) or "exclude_releases" in earlier.parameters:
        raise RefusedError(
            "The current sample was drawn with an option of an older goldgrade (shares of head and torso, or "
            "leaving out one release), so it cannot be topped up. Draw a new sample."
        )
    return earlier


def _refuse_rest(least: int, size: int | None) -> None:
    if size is not None and size < least:
        raise InputError(
            f"The sample and its quotas make {pluralize(least, 'query', 'queries')}, and a size of {size:,} "
            "was asked for. A top-up removes no query. Ask for a larger size."
        )


def _allocate_top_up(frame: Frame, earlier: SampleReport, request: TopUpRequest) -> dict[str, int]:
    """Compute the number of queries of each stratum after a top-up, at least the number before."""
    quotas, size = request.quotas, request.size
    names = frame.strata.names
    populations, traffic = sizes(frame.traffic, frame.strata)
    problems = [describe_impossible_quota(name, quota, names, populations) for name, quota in quotas.items()]
    if any(problems):
        raise InputError([problem for problem in problems if problem])
    had = {stratum.name: stratum.drawn for stratum in earlier.strata}
    least = [
        min(population, max(had.get(name, 0), quotas.get(name, 0)))
        for name, population in zip(names, populations, strict=True)
    ]
    rest = 0 if size is None else size - sum(least)
    free = [
        0 if name in quotas else population - number
        for name, population, number in zip(names, populations, least, strict=True)
    ]
    _refuse_rest(sum(least), size)
    if rest > sum(free):
        raise InputError(
            f"{rest:,} more queries were asked for than the {sum(least):,} of the sample and its quotas, "
            f"and the other strata have {sum(free):,} left."
        )
    weights = compute_weights(earlier.parameters["allocation"], traffic)
    more = allocate(rest, free, weights)
    return {name: number + extra for name, number, extra in zip(names, least, more, strict=True)}


def _refuse_loss(frame: Frame, drawing: Drawing, earlier: set[str]) -> None:
    drawn = {frame.queries[int(row)].as_py() for row in drawing.rows}
    lost = sorted(earlier - drawn)
    if lost:
        shown = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
        raise RefusedError(
            f"{len(lost):,} of the {pluralize(len(earlier), 'query', 'queries')} of the current sample would "
            f"be lost ({shown}): traffic, tags or releases have changed since it was drawn. Draw a new "
            "sample; with the same seed it keeps most of the earlier queries, and judgments stay."
        )


def _top_up_parameters(earlier: SampleReport, numbers: dict[str, int], total: int) -> dict[str, Any]:
    """Return the parameters of the topped-up sample, or the earlier parameters if no query is added."""
    if numbers == {stratum.name: stratum.drawn for stratum in earlier.strata}:
        return earlier.parameters
    return earlier.parameters | {"size": total, "quotas": numbers, "tops_up": earlier.sample_id}
