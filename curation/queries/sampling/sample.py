"""The draw: which distinct queries of the traffic will be judged, and how likely each was to be drawn.

The queries that can be drawn and their random order are `queries.sampling.frame.frame`'s, the designs
`queries.sampling.designs`'. What is drawn is stored with each query's inclusion probability
(`queries.sampling.stored_sample`); its inverse weights an estimate to all traffic. By default the sample is
stratified by frequency band, and each band gets an equal share. The bands carry about equal traffic, so this
is also the allocation proportional to traffic, except that the other bands get what a small head cannot use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.people.annotators import require_author
from curation.queries.sampling.designs import Drawing, Stratum, draw_pps, draw_stratified
from curation.queries.sampling.frame.frame import Dimensions, Frame, read_frame
from curation.queries.sampling.frame.limits import NO_RELEASES, Limits, ReleasedQueries
from curation.queries.sampling.request import SamplingPlan
from curation.queries.sampling.sample_plan import check_plan, parameters_of
from curation.queries.sampling.stored_sample import (
    DrawnQuery,
    about_strata,
    store_sample,
)
from curation.queries.sampling.variances import (
    FigureSpread,
    variance_warnings,
    variances_of,
)
from curation.retrieval import DEFAULT_MODEL
from curation.store import COMMAND_LINE, Cursor, Store

_ANY = "SELECT count(*), 1 FROM (FROM traffic LIMIT 1)"
_DISTINCT = "SELECT count(*), count(DISTINCT normalised) FILTER (normalised <> '') FROM traffic"


@dataclass(frozen=True)
class SampleReport:
    """A sample that is now the current one.

    Attributes
    ----------
    added: queries that the project did not know before.
    drawn_before: this very sample was stored already; nothing was added.
    grouped: queries that count as another's spelling; their traffic is in its stratum's.
    left_out: reason → number of logged rows that could not be drawn from.
    warnings: what the sample cannot show.
    parameters: what the draw was asked for, as it is stored.
    """

    sample_id: str
    size: int
    seed: int
    strata: list[Stratum]
    added: int
    drawn_before: bool
    grouped: int
    left_out: dict[str, int]
    warnings: list[str]
    parameters: dict[str, Any]


def draw_sample(
    store: Store,
    size: int,
    seed: int,
    plan: SamplingPlan | None = None,
    limits: Limits | None = None,
    progress: Progress = silent,
    model: str = DEFAULT_MODEL,
    author: str = COMMAND_LINE,
    released: ReleasedQueries = NO_RELEASES,
    spread: FigureSpread | None = None,
) -> SampleReport:
    """Draw `size` distinct queries of the traffic, store them and make them the current sample.

    Parameters
    ----------
    model: embedding model of the coverage map, if that was made with it.
    author: who asked, for the audit trail: a lead or the command line.
    released: the queries of all releases, for limits that leave them out (`releases.release_rows`).
    spread: how a figure varies in a release, for the allocation neyman (`releases.spread`).

    Raises
    ------
    InputError: a size below 1, or an impossible plan or limits.
    NotFoundError: the limits name a release that the project does not have.
    RefusedError: there is no traffic, fewer distinct queries than asked for, the spread has none of these
        strata, traffic or a release was added meanwhile, or the author is no lead.
    """
    plan, limits = plan or SamplingPlan(), limits or Limits()
    check_plan(size, plan, spread)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        refuse_too_few(cursor)
    dimensions = Dimensions(plan.strata, plan.head, plan.torso, model)
    frame = read_frame(store, seed, limits, dimensions, released, progress=progress)
    if size > len(frame.traffic):
        raise _too_few(size, len(frame.traffic), frame.left_out)
    variances, pooled = variances_of(spread, frame.traffic, frame.strata) if spread else (None, [])
    drawing = _draw(frame, size, seed, plan, variances)
    parameters = parameters_of(size, seed, plan, limits, frame.releases, model, frame.map_id)
    notes: list[str] = []
    if spread and variances:
        parameters |= {
            **{"from_release": spread.release_id, "run": spread.run_id, "figure": spread.figure},
            "variances": dict(zip(frame.strata.names, variances, strict=True)),
            "pooled_variance": pooled,
        }
        notes = variance_warnings(spread, pooled)
    return store_drawing(store, frame, drawing, parameters, limits, notes, author)


def refuse_too_few(cursor: Cursor, size: int = 1) -> None:
    """Refuse what no limits can make possible, without reading the frame.

    Raises
    ------
    RefusedError: there is no traffic, or there are fewer distinct queries than `size`.
    """
    rows, distinct = cursor.execute(_DISTINCT if size > 1 else _ANY).fetchall()[0]
    population = distinct if rows else 0
    if size > population:
        raise _too_few(size, population, {})


def store_drawing(
    store: Store,
    frame: Frame,
    drawing: Drawing,
    parameters: dict[str, Any],
    limits: Limits,
    notes: list[str],
    author: str,
) -> SampleReport:
    """Make what was drawn from a frame the current sample; `notes` come before the other warnings."""
    drawn = [
        DrawnQuery(
            frame.queries[int(row)].as_py(), frame.strata.name_of(row), int(frame.traffic[row]), chance
        )
        for row, chance in zip(drawing.rows, drawing.probability.tolist(), strict=True)
    ]
    sample_id, added, about = store_sample(
        store, parameters, drawing.strata, drawn, limits, frame.state, author
    )
    warnings = [*notes, *about_strata(drawing.strata), *about]
    return SampleReport(
        *(sample_id, parameters["size"], parameters["seed"], drawing.strata, added or 0, added is None),
        *(frame.grouped, frame.left_out, warnings, parameters),
    )


def _draw(
    frame: Frame, size: int, seed: int, plan: SamplingPlan, variances: Sequence[float] | None
) -> Drawing:
    if plan.design == "pps":
        return draw_pps(frame.traffic, frame.strata, size, seed)
    return draw_stratified(
        frame.traffic, frame.strata, size, plan.allocation or "equal", plan.quotas, variances
    )


def _too_few(size: int, population: int, reasons: Mapping[str, int]) -> RefusedError:
    left_out = "; ".join(f"{amount(count, 'row')} {reason}" for reason, count in reasons.items())
    if not population and not reasons:
        return RefusedError(
            "There is no traffic to sample from. Import a log of what people searched for.",
            command="`goldgrade import traffic PATH` does.",
        )
    if not population:
        return RefusedError(f"No query of the traffic can be drawn. Left out were {left_out}.")
    narrowed = f" Left out were {left_out}." if left_out else ""
    return RefusedError(
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for.{narrowed} "
        f"Ask for at most {population:,}, or import more traffic."
    )
