"""Topping a sample up: more queries where some are missing, and none of the earlier ones lost.

Queries have a fixed random order (`queries.sampling.frame`), and a stratum of n queries holds its first n.
So the first m of them, m > n, are the earlier ones and m - n more, and all of them together are a simple
random sample of m with probability m / population: the numbers of strata were chosen, not the queries
(permanent random numbers: Ohlsson 1995). Asking for a larger sample with the same seed does nearly that, but
the shares of a larger sample are rounded again and a stratum may get one query fewer than before; here no
number falls.

That is all true only while the queries that can be drawn and their strata are the same. If an earlier query
would be lost, because the log has grown or a band has moved, topping up is refused: keeping it all the same
would give it another probability than the one that is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.allocation import allocate, impossible
from curation.core.text import amount
from curation.people.annotators import require_author
from curation.queries.sampling.designs import Drawing, draw_stratified, sizes, stratum_weights
from curation.queries.sampling.frame.frame import Dimensions, Frame, read_frame
from curation.queries.sampling.frame.limits import NO_RELEASES, ReleasedQueries
from curation.queries.sampling.sample import SampleReport, store_drawing
from curation.queries.sampling.sample_plan import limits_of
from curation.queries.sampling.stored_sample import (
    StoredSample,
    queries_of,
    read_current,
)
from curation.retrieval import DEFAULT_MODEL
from curation.store import COMMAND_LINE, Cursor, Store


def top_up(
    store: Store,
    quotas: Mapping[str, int] | None = None,
    size: int | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    released: ReleasedQueries = NO_RELEASES,
) -> SampleReport:
    """Draw more queries for the current sample; the result becomes the current one.

    Parameters
    ----------
    quotas: stratum → number that it shall have at least.
    size: of the whole sample. What the quotas leave of it goes to the strata without one, by the sample's
        allocation; None draws what the quotas need.
    author: who asked, for the audit trail: a lead or the command line.
    released: the queries of all releases, for samples whose limits leave them out (`releases.release_rows`).

    Raises
    ------
    InputError: neither is given, a quota is impossible, or the size is less than what is there and asked for.
    RefusedError: there is no sample, it cannot be topped up, an earlier query would be lost, or the author is
        no lead.
    """
    quotas = quotas or {}
    refuse_nothing_asked(quotas, size)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        earlier = sample_to_top_up(cursor)
        held = queries_of(cursor, earlier.sample_id)
    asked = earlier.parameters
    limits = limits_of(asked)
    model, map_id = asked.get("model", DEFAULT_MODEL), asked.get("coverage_map")
    dimensions = Dimensions(asked["strata"], asked["head"], asked["torso"], model, map_id)
    frame = read_frame(store, earlier.seed, limits, dimensions, released, earlier.sample_id, progress)
    numbers = _numbers(frame, earlier, quotas, size)
    total = sum(numbers.values())
    drawing = draw_stratified(frame.traffic, frame.strata, total, quotas=numbers)
    _refuse_loss(frame, drawing, held)
    return store_drawing(store, frame, drawing, _parameters(earlier, numbers, total), limits, [], author)


def refuse_nothing_asked(quotas: Mapping[str, int], size: int | None) -> None:
    """Raise an InputError where a top-up has nothing to reach."""
    if not quotas and size is None:
        raise InputError(
            "Nothing to top up to was given; expected a size of the whole sample, or quotas such as tail=40."
        )


def sample_to_top_up(cursor: Cursor) -> StoredSample:
    """The current sample.

    Raises
    ------
    RefusedError: there is none, or its design draws all queries at once.
    """
    earlier = read_current(cursor)
    if earlier is None:
        raise RefusedError(
            "There is no sample to top up yet. Draw one first.",
            command="`goldgrade sample --size N --seed S` does.",
        )
    design = earlier.parameters["design"]
    if design != "stratified":
        raise RefusedError(
            f"The current sample was drawn with the design {design}, which draws all of its queries at once: "
            "it cannot be topped up. Draw a larger one."
        )
    return earlier


def refuse_taking_away(earlier: StoredSample, size: int | None) -> None:
    """Raise an InputError where a size of the whole sample is below what the sample has."""
    _refuse_rest(sum(stratum.drawn for stratum in earlier.strata), size)


def _refuse_rest(least: int, size: int | None) -> None:
    if size is not None and size < least:
        raise InputError(
            f"The sample and its quotas make {amount(least, 'query', 'queries')}, and a size of {size:,} was "
            "asked for. A top-up takes nothing away: ask for more."
        )


def _numbers(
    frame: Frame, earlier: StoredSample, quotas: Mapping[str, int], size: int | None
) -> dict[str, int]:
    """How many each stratum gets: never fewer than it had."""
    names = frame.strata.names
    populations, traffic = sizes(frame.traffic, frame.strata)
    problems = [impossible(name, quota, names, populations) for name, quota in quotas.items()]
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
    known = earlier.parameters.get("variances")
    variances = [known.get(name, 0.0) for name in names] if known else None
    weights = stratum_weights(earlier.parameters["allocation"], populations, traffic, variances)
    more = allocate(rest, free, weights)
    return {name: number + extra for name, number, extra in zip(names, least, more, strict=True)}


def _refuse_loss(frame: Frame, drawing: Drawing, held: set[str]) -> None:
    drawn = {frame.queries[int(row)].as_py() for row in drawing.rows}
    lost = sorted(held - drawn)
    if lost:
        shown = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
        raise RefusedError(
            f"{len(lost):,} of the {amount(len(held), 'query', 'queries')} of the current sample would "
            f"be lost ({shown}): "
            "traffic, tags or releases have changed since it was drawn. Draw a new sample instead; with the "
            "same seed it keeps most of the earlier queries, and what was judged stays judged."
        )


def _parameters(earlier: StoredSample, numbers: dict[str, int], total: int) -> dict[str, Any]:
    """Those of the earlier sample where nothing was missing: it is the same sample then."""
    if numbers == {stratum.name: stratum.drawn for stratum in earlier.strata}:
        return earlier.parameters
    return earlier.parameters | {"size": total, "quotas": numbers, "tops_up": earlier.sample_id}
