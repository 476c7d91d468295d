"""The draw: which distinct queries of the traffic will be judged, and how likely each was to be drawn.

The queries that can be drawn and their random order are `sampling.frame.frame`'s, the designs
`sampling.designs`'. What is drawn is stored with each query's inclusion probability
(`sampling.stored_sample`); its inverse weights an estimate to all traffic. By default the sample is
stratified by frequency band, and each band gets an equal share. The bands carry about equal traffic, so this
is also the allocation proportional to traffic, except that the other bands get what a small head cannot use.

Topping a sample up: more queries where some are missing, and none of the earlier ones lost.

Queries have a fixed random order (`sampling.frame`), and a stratum of n queries holds its first n. So the
first m of them, m > n, are the earlier ones and m - n more, and all of them together are a simple random
sample of m with probability m / population: the numbers of strata were chosen, not the queries (permanent
random numbers: Ohlsson 1995). Asking for a larger sample with the same seed does nearly that, but the shares
of a larger sample are rounded again and a stratum may get one query fewer than before; here no number falls.

That is all true only while the queries that can be drawn and their strata are the same. If an earlier query
would be lost, because the log has grown or a band has moved, topping up is refused: keeping it all the same
would give it another probability than the one that is stored.

What a draw is asked for, and how that is written down with the sample.

Parameters are plain JSON. Rare options are stored only where they were used, so that a sample keeps its id
when goldset gets another option. Releases and runs are stored by id: a name belongs to the project, and a
sample's parameters become part of a release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import floor
from typing import Any

from curation.errors import InputError, RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.retrieval import DEFAULT_MODEL
from curation.sampling.designs import (
    TAG,
    Drawing,
    Stratum,
    draw_pps,
    draw_stratified,
    names_after,
    sizes,
    stratum_weights,
)
from curation.sampling.frame.frame import Dimensions, Frame, read_frame
from curation.sampling.frame.limits import NO_RELEASES, Limits, ReleasedQueries
from curation.sampling.request import DESIGNS, DrawRequest, SamplingPlan
from curation.sampling.stored_sample import (
    DrawnQuery,
    StoredSample,
    about_strata,
    queries_of,
    read_current,
    store_sample,
)
from curation.sampling.variances import (
    WITHOUT_NEYMAN,
    FigureSpread,
    Variances,
    variance_warnings,
    variances_of,
)
from curation.statistics.allocation import allocate, impossible
from curation.step import out_of_bounds
from curation.store import COMMAND_LINE, Cursor, Store
from curation.text import amount


def read_quotas(asked: Sequence[str], size: int | None = None) -> dict[str, int]:
    """Stratum → number, of texts such as `head=50`, or `head=30%` of a sample of `size`, rounded.

    Raises
    ------
    InputError: texts that are no quotas, strata that are named twice, or a share where there is no size.
    """
    parts = [text.rpartition("=") for text in asked]
    numbers = [_quota(number.strip(), size) for _, _, number in parts]
    problems = [
        f"the quota {text!r} is no STRATUM=N or STRATUM=N%; expected for instance head=50 or head=30%"
        for text, (name, _, _), number in zip(asked, parts, numbers, strict=True)
        if not name.strip() or number is None
    ]
    problems += [
        f"the quota {text!r} is a share, and there is no size; expected a number, or the size of the sample"
        for text, number in zip(asked, numbers, strict=True)
        if number == NO_SIZE
    ]
    names = [name.strip() for name, _, _ in parts]
    problems += [f"{name!r} has two quotas" for name in sorted(set(names)) if names.count(name) > 1]
    refuse_problems(problems)
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


NO_SIZE = -1
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)


def _quota(text: str, size: int | None) -> int | None:
    """The number that a quota says; `NO_SIZE` for a share of nothing, None for what is none."""
    if text.isascii() and text.isdecimal():
        return int(text)
    share = _SHARE.fullmatch(text)
    if share is None or Fraction(share[1]) > 100:
        return None
    return NO_SIZE if size is None else floor(Fraction(share[1]) * size / 100 + Fraction(1, 2))


def check_plan(size: int, plan: SamplingPlan, spread: FigureSpread | None) -> None:
    """Raise an InputError with everything that is impossible; `spread` goes with neyman alone."""
    problems = out_of_bounds(DrawRequest, {"size": size})
    if plan.design not in DESIGNS:
        problems.append(f"{plan.design!r} is no design; expected one of {', '.join(DESIGNS)}.")
    if plan.design == "pps" and (plan.allocation or plan.quotas):
        problems.append(
            "The design pps gives each stratum what its traffic makes likely, and takes no allocation or "
            "quota. Leave these out, or draw with the design stratified."
        )
    if plan.allocation == "neyman" and not spread:
        problems.append(
            "The allocation neyman needs to know how much figures vary in each stratum. Name a release to "
            "learn from, one that was sampled by the same strata."
        )
    if plan.allocation != "neyman" and spread:
        problems.append(WITHOUT_NEYMAN)
    refuse_problems(problems)


def parameters_of(
    size: int,
    seed: int,
    plan: SamplingPlan,
    limits: Limits,
    releases: Sequence[str],
    model: str,
    map_id: str | None = None,
) -> dict[str, Any]:
    """What is stored of a draw; `releases` are the ids of those that the limits leave out by name, and
    `map_id` is that of the coverage map whose clusters are strata."""
    # No tag uses a model any more; it stays, so that the same draw has the same id as before.
    used = {
        "exclude_released": limits.exclude_released,
        "exclude_releases": list(releases),
        "model": model if names_after(TAG, plan.strata) else None,
        "coverage_map": map_id,
    }
    return {
        "size": size,
        "seed": seed,
        "design": plan.design,
        "strata": list(plan.strata),
        "allocation": None if plan.design == "pps" else plan.allocation or "equal",
        "quotas": dict(plan.quotas),
        "head": plan.head,
        "torso": plan.torso,
        "since": limits.since.isoformat() if limits.since else None,
        "until": limits.until.isoformat() if limits.until else None,
        "min_count": limits.min_count,
        "exclude_judged": limits.exclude_judged,
        "group_spellings": limits.group_spellings,
    } | {name: value for name, value in used.items() if value}


def limits_of(parameters: Mapping[str, Any]) -> Limits:
    """The limits that a stored sample was drawn within."""
    since, until = (
        datetime.fromisoformat(parameters[end]) if parameters[end] else None for end in ("since", "until")
    )
    return Limits(
        *(since, until, parameters["min_count"], parameters["exclude_judged"], parameters["group_spellings"]),
        exclude_released=parameters.get("exclude_released", False),
        exclude_releases=tuple(parameters.get("exclude_releases", ())),
    )


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
    released: the queries of all releases, for samples whose limits leave them out (`releases.stored`).

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
            command="`goldset sample --size N --seed S` does.",
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
    released: the queries of all releases, for limits that leave them out (`releases.stored`).
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
    variances = variances_of(spread, frame.traffic, frame.strata) if spread else None
    drawing = _draw(frame, size, seed, plan, variances)
    parameters = parameters_of(size, seed, plan, limits, frame.releases, model, frame.map_id)
    notes: list[str] = []
    if spread and variances:
        parameters |= _neyman_parameters(spread, variances, frame.strata.names)
        notes = variance_warnings(spread, variances)
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


_ANY = "SELECT count(*), 1 FROM (FROM traffic LIMIT 1)"
_DISTINCT = "SELECT count(*), count(DISTINCT normalised) FILTER (normalised <> '') FROM traffic"


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
    kept = store_sample(store, parameters, drawing.strata, drawn, limits, frame.state, author)
    warnings = [*notes, *about_strata(drawing.strata), *kept.warnings]
    return SampleReport(
        *(kept.sample_id, parameters["size"], parameters["seed"], drawing.strata, kept.added, kept.known),
        *(frame.grouped, frame.left_out, warnings, parameters),
    )


def _draw(frame: Frame, size: int, seed: int, plan: SamplingPlan, variances: Variances | None) -> Drawing:
    if plan.design == "pps":
        return draw_pps(frame.traffic, frame.strata, size, seed)
    values = variances.values if variances else None
    return draw_stratified(frame.traffic, frame.strata, size, plan.allocation or "equal", plan.quotas, values)


def _neyman_parameters(spread: FigureSpread, variances: Variances, names: tuple[str, ...]) -> dict[str, Any]:
    """What Neyman's allocation rested on, for the sample's parameters."""
    return {
        "from_release": spread.release_id,
        "run": spread.run_id,
        "figure": spread.figure,
        "variances": dict(zip(names, variances.values, strict=True)),
        "pooled_variance": variances.pooled,
    }


def _too_few(size: int, population: int, reasons: Mapping[str, int]) -> RefusedError:
    left_out = "; ".join(f"{amount(count, 'row')} {reason}" for reason, count in reasons.items())
    if not population and not reasons:
        return RefusedError(
            "There is no traffic to sample from. Import a log of what people searched for.",
            command="`goldset import traffic PATH` does.",
        )
    if not population:
        return RefusedError(f"No query of the traffic can be drawn. Left out were {left_out}.")
    narrowed = f" Left out were {left_out}." if left_out else ""
    return RefusedError(
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for.{narrowed} "
        f"Ask for at most {population:,}, or import more traffic."
    )
