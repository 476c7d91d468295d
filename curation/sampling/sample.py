"""The draw: which distinct queries of the traffic will be judged, and how likely each was to be drawn.

The queries that can be drawn and their random order are `sampling.frame`'s, the designs
`sampling.designs`'. What is drawn is stored with each query's probability (`sampling.stored`), by whose
inverse an estimate over all traffic can weigh. Unless asked otherwise, the sample is stratified by frequency
band, and each band gets an equal share: as the bands carry about equal traffic, that is at the same time the
allocation proportional to traffic, with what a small head cannot use going to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curation.errors import RefusedError
from curation.labeling.annotators import require_author
from curation.progress import Progress, silent
from curation.retrieval import DEFAULT_MODEL
from curation.sampling.cautions import about_strata
from curation.sampling.designs import Drawing, Stratum, draw_pps, draw_stratified
from curation.sampling.frame import Dimensions, Frame, Limits, read_frame
from curation.sampling.plan import Plan, check_plan, parameters_of
from curation.sampling.stored import DrawnQuery, keep_sample
from curation.sampling.variances import Spread, Variances, cautions, read_spread, variances_of
from curation.store import Store
from curation.store.settings import COMMAND_LINE


@dataclass(frozen=True)
class SampleReport:
    """A sample that is now the current one.

    Attributes
    ----------
    added: queries that the project did not know before.
    drawn_before: this very sample was stored already; nothing was added.
    grouped: queries that count as another's spelling; their traffic is in its stratum's.
    left_out: reason → number of logged rows that could not be drawn from.
    warnings: what the numbers will not be able to say.
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
    plan: Plan | None = None,
    limits: Limits | None = None,
    progress: Progress = silent,
    model: str = DEFAULT_MODEL,
    author: str = COMMAND_LINE,
) -> SampleReport:
    """Draw `size` distinct queries of the traffic, store them and make them the current sample.

    Parameters
    ----------
    model: embedding model of the tags that need one.
    author: who asked, for the audit trail: a lead or the command line.

    Raises
    ------
    InputError: a size below 1, or a plan or limits that make no sense.
    NotFoundError: a release or run that the project does not have.
    RefusedError: there is no traffic, fewer distinct queries than asked for, a release that says nothing
        about these strata, traffic arrived meanwhile, or the author is no lead.
    """
    plan, limits = plan or Plan(), limits or Limits()
    check_plan(size, plan)
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    spread = read_spread(store, plan.from_release, plan.run) if plan.from_release else None
    dimensions = Dimensions(plan.strata, plan.head, plan.torso, model)
    frame = read_frame(store, seed, limits, dimensions, progress=progress)
    if size > len(frame.traffic):
        raise RefusedError(_too_few(size, frame))
    variances = variances_of(spread, frame.traffic, frame.strata) if spread else None
    drawing = _draw(frame, size, seed, plan, variances)
    parameters = parameters_of(size, seed, plan, limits, frame.releases, model)
    notes = []
    if spread and variances:
        parameters |= _told(spread, variances, frame.strata.names)
        notes = cautions(spread, variances)
    return keep_drawing(store, frame, drawing, parameters, limits, notes, author)


def keep_drawing(
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
    kept = keep_sample(store, parameters, drawing.strata, drawn, limits, frame.state, author)
    warnings = [*notes, *about_strata(drawing.strata), *kept.warnings]
    return SampleReport(
        *(kept.sample_id, parameters["size"], parameters["seed"], drawing.strata, kept.added, kept.known),
        *(frame.grouped, frame.left_out, warnings, parameters),
    )


def _draw(frame: Frame, size: int, seed: int, plan: Plan, variances: Variances | None) -> Drawing:
    if plan.design == "pps":
        return draw_pps(frame.traffic, frame.strata, size, seed)
    values = variances.values if variances else None
    return draw_stratified(frame.traffic, frame.strata, size, plan.allocation or "equal", plan.quotas, values)


def _told(spread: Spread, variances: Variances, names: tuple[str, ...]) -> dict[str, Any]:
    """What Neyman's allocation rested on, for the sample's parameters."""
    return {
        "from_release": spread.release_id,
        "run": spread.run_id,
        "figure": spread.figure,
        "variances": dict(zip(names, variances.values, strict=True)),
        "pooled_variance": variances.pooled,
    }


def _too_few(size: int, frame: Frame) -> str:
    population = len(frame.traffic)
    left_out = "; ".join(f"{count:,} rows {reason}" for reason, count in frame.left_out.items())
    if not population and not frame.left_out:
        return "There is no traffic to sample from. Bring a log in with `goldset import traffic`."
    if not population:
        return f"No query of the traffic can be drawn. Left out were {left_out}."
    narrowed = f" Left out were {left_out}." if left_out else ""
    return (
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for.{narrowed} "
        f"Ask for at most {population:,}, or import more traffic."
    )
