"""The top-up of the current sample with more queries.

A top-up keeps all earlier queries of the sample. Queries have a fixed random order, and a stratified sample
has the first n queries of each stratum. The first m > n queries are a simple random sample with probability m
/ population, because only the number is chosen (permanent random numbers: Ohlsson 1995). Topping up is valid
only if the frame and the strata are unchanged. If a larger log or a moved frequency band would lose an
earlier query, the top-up is refused, because the query's inclusion probability would differ from the stored
probability.
"""

from __future__ import annotations

from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.stratified_sampling import allocate, compute_weights, describe_impossible_quota
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.queries.sampling import stored_sample
from curation.queries.sampling.designs import Drawing, draw_stratified
from curation.queries.sampling.dimensions import HEAD, TORSO
from curation.queries.sampling.draw import store_drawing
from curation.queries.sampling.frame import NO_RELEASES, Frame, ReleasedQueries, read_frame
from curation.queries.sampling.requests import TopUpRequest
from curation.queries.sampling.stored_sample import SampleReport, read_current_sample, read_sample_texts
from curation.queries.sampling.strata import count_strata
from curation.store import COMMAND_LINE, Cursor, Store


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
    _refuse_without_goal(request)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        earlier = _read_extensible_sample(cursor)
        earlier_queries = read_sample_texts(cursor, earlier.sample_id)
    frame = read_frame(store, stored_sample.restore_request(earlier.parameters), released, earlier, progress)
    sizes = _allocate_top_up(frame, earlier, request)
    total = sum(sizes.values())
    drawing = draw_stratified(frame.traffic, frame.strata, total, quotas=sizes)
    _refuse_loss(frame, drawing, earlier_queries)
    return store_drawing(store, frame, drawing, _make_parameters(earlier, sizes, total), author)


def check_top_up(cursor: Cursor, request: TopUpRequest | None) -> None:
    """Reject a top-up that is certain to fail, before the frame is read."""
    earlier = _read_extensible_sample(cursor)
    if request is not None:
        _refuse_without_goal(request)
        _refuse_smaller_size(sum(stratum.drawn for stratum in earlier.strata), request.size)


def _refuse_without_goal(request: TopUpRequest) -> None:
    """Reject a top-up request without a size and without quotas."""
    if not request.quotas and request.size is None:
        goals = "the size of the whole sample, or quotas such as tail=40"
        raise InputError(f"The top-up has no target; give {goals}.")


def _read_extensible_sample(cursor: Cursor) -> SampleReport:
    """Read the current sample, and reject a sample that cannot be topped up.

    Raises
    ------
    RefusedError: there is no sample, its design draws all queries in one step, or it was drawn with an option
        that no longer exists.
    """
    earlier = read_current_sample(cursor)
    if earlier is None:
        raise RefusedError(
            "There is no sample to top up yet. First draw a sample.",
            command="`goldgrade sample --size N --seed S` draws a sample.",
        )
    design = earlier.parameters["design"]
    if design != "stratified":
        raise RefusedError(
            f"The current sample was drawn with the design {design}, which draws all queries in one step, "
            "so it cannot be topped up. Draw a larger sample."
        )
    bands = (earlier.parameters["head"], earlier.parameters["torso"])
    if bands != (HEAD, TORSO) or "exclude_releases" in earlier.parameters:
        raise RefusedError(
            "The current sample was drawn with an option of an older goldgrade (shares of head and torso, or "
            "leaving out one release), so it cannot be topped up. Draw a new sample."
        )
    return earlier


def _refuse_smaller_size(min_size: int, size: int | None) -> None:
    if size is not None and size < min_size:
        raise InputError(
            f"The sample and its quotas already need {pluralize(min_size, 'query', 'queries')}, which is "
            f"more than the size of {size:,}. A top-up removes no query, so ask for a larger size."
        )


def _allocate_top_up(frame: Frame, earlier: SampleReport, request: TopUpRequest) -> dict[str, int]:
    """Compute each stratum's number of queries after a top-up, which is at least its number of queries
    before."""
    quotas, size = request.quotas, request.size
    names = frame.strata.names
    populations, traffic = count_strata(frame.traffic, frame.strata)
    problems = [describe_impossible_quota(name, quota, names, populations) for name, quota in quotas.items()]
    if any(problems):
        raise InputError([problem for problem in problems if problem])
    drawn = {stratum.name: stratum.drawn for stratum in earlier.strata}
    min_sizes = [
        min(population, max(drawn.get(name, 0), quotas.get(name, 0)))
        for name, population in zip(names, populations, strict=True)
    ]
    _refuse_smaller_size(sum(min_sizes), size)
    capacities = [
        0 if name in quotas else population - min_size
        for name, population, min_size in zip(names, populations, min_sizes, strict=True)
    ]
    additional = 0 if size is None else size - sum(min_sizes)
    if additional > sum(capacities):
        raise InputError(
            f"The requested size needs {pluralize(additional, 'query', 'queries')} beyond the "
            f"{sum(min_sizes):,} of the sample and its quotas, but the other strata have only "
            f"{sum(capacities):,} left."
        )
    weights = compute_weights(str(earlier.parameters["allocation"]), traffic)
    additions = allocate(additional, capacities, weights)
    return {name: sum(counts) for name, *counts in zip(names, min_sizes, additions, strict=True)}


def _refuse_loss(frame: Frame, drawing: Drawing, earlier_queries: set[str]) -> None:
    drawn_queries = {frame.queries[int(row)].as_py() for row in drawing.rows}
    lost = sorted(earlier_queries - drawn_queries)
    if lost:
        examples = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
        earlier_count = pluralize(len(earlier_queries), "query", "queries")
        raise RefusedError(
            f"{len(lost):,} of the {earlier_count} of the current sample would be lost ({examples}): "
            "traffic, tags or releases have changed since it was drawn. Draw a new sample; with the same "
            "seed the new sample keeps most of the earlier queries, and the judgments stay."
        )


def _make_parameters(earlier: SampleReport, sizes: dict[str, int], total: int) -> dict[str, Any]:
    """Return the parameters of the topped-up sample, or the earlier parameters if no query is added."""
    if sizes == {stratum.name: stratum.drawn for stratum in earlier.strata}:
        return earlier.parameters
    return earlier.parameters | {"size": total, "quotas": sizes, "tops_up": earlier.sample_id}
