"""Taking a look: who may score runs on sealed parts, and what is stored before figures are handed out.

What a look may show goes by the looks before it: by how its lists differ from theirs, and by how far the
Ladder was climbed. So it is planned on the log of one moment, and stored if the log is still that one; else
it is planned again. Looks at the same moment get the answers that they would have got one after the other.

How far the best of many looks at a sealed part may flatter.

A look scores a system on the part's Q queries. Its figure is off from what all queries would give, by about
sd / √Q. Who keeps the best of n looks keeps what was lucky, too. Three statements, each for figures that
are means over queries whose standard deviation is sd:

    expected  on average the best of n systems chosen beforehand flatters by no more than
              n φ(Φ⁻¹(1 − 1/n)) · sd / √Q, however the systems resemble each other: the mean of the largest of
              n normal variables cannot be more (T. L. Lai and H. Robbins (1976), Maximally dependent random
              variables, Proceedings of the National Academy of Sciences 73)
    at_most   with 95 % none of n systems chosen beforehand flatters by more than Φ⁻¹(1 − 0.05/n) · sd / √Q
              (Bonferroni)
    adaptive  on average a system that is built from the answers of n looks flatters by no more than
              √(2 n ln m) · sd / √Q, where each answer was one of m: the bias is at most σ √(2 I), and the
              answers hold no more information I than n ln m (D. Russo and J. Zou (2020), How much does your
              data exploration overfit?, IEEE Transactions on Information Theory 66)

The means of queries are taken as normal. The first two hold for looks that do not react to each other. People
look, change something and look again, so their truth is between the first and the last. An attack that
combines what each answer gave away reaches about √(2n/π) · sd / √Q: see docs/evaluation-method.md.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import exp, log, pi, sqrt
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from curation.door import sealed_parts
from curation.errors import InputError, RefusedError
from curation.looks.ladder import PartLadder, part_ladder
from curation.looks.limits import DECIMALS, EarlierRun, Plausibility, SeenLists, overlap, rounded_figures
from curation.people.annotators import EVALUATING, require_annotators, require_author
from curation.releases.looks import (
    LookList,
    LookQuery,
    NumberedLook,
    SealedLook,
    add_look,
    count_looks,
    family_of,
    look_id_of,
    look_lists,
    looks,
)
from curation.releases.verify import Opened, opened
from curation.scoring.inputs.release import LEAST, EvaluatedRelease, parts_of
from curation.store import COMMAND_LINE, Cursor, Store, utc_now
from curation.store.retry import write_if_unchanged
from curation.text import amount, canonical_json, digest

ANSWERS = 1001
"""How many answers a figure between 0 and 1 with three decimals has."""


class Flattery(NamedTuple):
    """How far figures of a sealed part may be above the truth; units of the measure.

    Attributes
    ----------
    looks: n. queries: Q. sd: of the measure over queries.
    standard_error: sd / √Q, of a single look.
    expected, at_most, adaptive: see the module.
    """

    looks: int
    queries: int
    sd: float
    standard_error: float
    expected: float
    at_most: float
    adaptive: float


def flattery(looks: int, queries: int, sd: float, answers: int = ANSWERS, figures: int = 1) -> Flattery:
    """The bounds after so many looks.

    Parameters
    ----------
    sd: standard deviation over queries, of the measure whose best figure is kept.
    answers: how many values each shown figure can have.
    figures: how many figures a look shows, such as one for each measure and stratum.

    Raises
    ------
    InputError: there is no look, no query or no answer, or the sd is negative.
    """
    if min(looks, queries, figures) < 1 or answers < 2 or not sd >= 0:
        raise InputError(
            f"{amount(looks, 'look')} at {amount(queries, 'query', 'queries')}, "
            f"{amount(figures, 'figure')} of {amount(answers, 'answer')}, sd {sd:g}: "
            "expected at least one look, query and figure, two answers, and an sd of 0 or more."
        )
    error = sd / sqrt(queries)
    return Flattery(
        looks,
        queries,
        sd,
        error,
        expected=error * largest_mean(looks),
        at_most=error * float(-ndtri(0.05 / looks)),
        adaptive=error * sqrt(2 * looks * figures * log(answers)),
    )


def largest_mean(looks: int) -> float:
    """The largest mean that the maximum of n standard normal variables can have: n φ(Φ⁻¹(1 − 1/n))."""
    if looks == 1:
        return 0.0
    place = float(ndtri(1 / looks))
    return looks * exp(-(place**2) / 2) / sqrt(2 * pi)


Shown = TypeVar("Shown")
BUSY = (
    "Others looked at the same sealed part while this was scored, five times over. Nothing was shown or "
    "stored: ask again."
)


class TakenLook(NamedTuple):
    """Which look at sealed parts the scoring of a run was.

    Attributes
    ----------
    number, of_family: from 1, among all looks at these parts, and among those of the same system family.
    repeated: the same run was asked the same before, so this is no other look.
    flattery: how far the best of so many looks may flatter by the first measure; None where too few queries
        have a value, no figure was shown, or the look was by the Ladder.
    """

    system: str
    source: str
    parts: tuple[str, ...]
    number: int
    of_family: int
    repeated: bool
    looked_by: str
    looked_at: str
    reason: str
    flattery: Flattery | None

    @property
    def sentence(self) -> str:
        """Which look it is, for people."""
        place = f"look {self.number} at {', '.join(self.parts)}, {self.of_family} of {family_of(self.system)}"
        if self.repeated:
            before = f"shown to {self.looked_by} on {self.looked_at} UTC"
            return f"{self.system}: as {before} ({place}), so no new look."
        return f"{self.system}: {place}."


class ShownFigure(Protocol):
    """What a look stores of a figure, with `judged` where it has that."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def n(self) -> int: ...


class ScoredRun(NamedTuple):
    """A run, or a file of answers, on sealed parts, with what its look stores.

    Attributes
    ----------
    values: measure → of each query of the release, shape (Q,); NaN where it has none. The first one is the
        look's first measure, another one the Ladder's.
    plausible: None of answers.
    """

    system: str
    source: str
    seen: SeenLists
    values: Mapping[str, NDArray[np.float64]]
    figures: Mapping[str, ShownFigure]
    plausible: Plausibility | None = None


def by_ladder(store: Store, release_name: str | Opened, split: str | None, actor: str) -> bool:
    """Whether somebody's look is by the Ladder unless a lead takes it: an evaluator's, at a sealed part.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release.
    RefusedError: it is not as it was frozen.
    """
    if split is None or actor == COMMAND_LINE:
        return False
    release = opened(store, release_name)
    if not set(parts_of(release, split)) & set(sealed_parts(release.header)):
        return False
    with store.reading() as cursor:
        return require_annotators(cursor, [actor])[0].role == "evaluator"


def reason_for(
    store: Store, release: EvaluatedRelease, reason: str | None, actor: str, ladder: bool = False
) -> str:
    """The reason of somebody who may look: at all figures leads alone, by the Ladder evaluators, too.

    Raises
    ------
    NotFoundError: the project does not know the actor.
    RefusedError: there is no reason, or the actor may not look.
    """
    with store.reading() as cursor:
        require_author(cursor, actor, *EVALUATING)
        evaluator = actor != COMMAND_LINE and require_annotators(cursor, [actor])[0].role == "evaluator"
    if evaluator and not ladder:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed. {actor} is evaluator: "
            "all figures of it are for leads, for they tell of single grades. Evaluators climb the Ladder.",
            command="--ladder does.",
        )
    if reason is None or not reason.strip():
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed. Who scores a run or "
            "answers on it says why, which is logged with name and time.",
            command='--reason "why" does.',
        )
    return reason.strip()


class SealedLog(NamedTuple):
    """The looks at a release's sealed parts, as they are at one moment.

    Attributes
    ----------
    earlier: the runs, or the answers, that were scored on one of these parts; of equal ones the first.
    ladders: one for each sealed part. answered: look id → the figures of looks by the Ladder.
    """

    earlier: Sequence[EarlierRun]
    ladders: Sequence[PartLadder]
    answered: Mapping[str, Mapping[str, Any]]


class PlannedLooks(NamedTuple, Generic[Shown]):
    """What would be shown, the runs it is of, and what tells the look apart from another at the same runs."""

    shown: Shown
    runs: Sequence[ScoredRun]
    asked: Mapping[str, Any]


def sealed_log(cursor: Cursor, release: EvaluatedRelease, answers: bool = False) -> SealedLog:
    """The looks at runs, or at answers, so far."""
    taken = looks(cursor, release.release_id)
    found = [one for one in taken if set(one.parts) & set(release.sealed) and one.of_answers == answers]
    rows = look_lists(cursor, [one.look_id for one in found])
    seen: dict[str, defaultdict[str, dict[str, int]]] = {one.look_id: defaultdict(dict) for one in found}
    for row in rows:
        seen[row.look_id][row.seen][row.query_id] = row.list_sum
    distinct = {one.run_sum: one for one in reversed(found)}
    return SealedLog(
        [EarlierRun(one.system, seen[one.look_id]) for one in reversed(distinct.values())],
        [
            part_ladder(cursor, release.release_id, part, _ids(release, part), answers)
            for part in release.sealed
        ],
        {one.look_id: one.shown for one in found if one.by_ladder},
    )


def _ids(release: EvaluatedRelease, part: str) -> list[str]:
    inside = release.facets["part"].values[part].tolist()
    return [name for name, own in zip(release.qrels.query_ids, inside, strict=True) if own]


def run_sum_of(seen: SeenLists) -> str:
    """The hash of all that a look sees of a run."""
    return digest("run", sorted((what, sorted(sums.items())) for what, sums in seen.items()))


def take_looks(
    store: Store,
    release: EvaluatedRelease,
    plan: Callable[[SealedLog], PlannedLooks[Shown]],
    reason: str,
    actor: str,
    answers: bool = False,
    busy: str | None = None,
) -> tuple[Shown, tuple[TakenLook, ...]]:
    """Plan looks and store them, all or none; what was planned may be shown afterwards.

    Parameters
    ----------
    plan: from the log; asked again where somebody else took a look meanwhile.
    busy: what is said where that was so five times; None plans once more while all others wait.

    Raises
    ------
    RefusedError: what `plan` raises, or the actor may not look.
    """
    taken: list[NumberedLook] = []

    def planned(log: SealedLog) -> tuple[PlannedLooks[Shown], list[SealedLook]]:
        found, earlier, stored = plan(log), list(log.earlier), []
        for run in found.runs:
            shared = overlap(release, run.seen, earlier)
            stored.append(_look(release, run, found.asked, reason, actor, shared))
            earlier.append(EarlierRun(run.system, run.seen))
        return found, stored

    def write(cursor: Cursor, plans: tuple[PlannedLooks[Shown], list[SealedLook]]) -> None:
        require_author(cursor, actor, *EVALUATING)
        for run, look in zip(plans[0].runs, plans[1], strict=True):
            rows = _queries(release, run, look.look_id), _lists(run, look.look_id)
            taken.append(add_look(cursor, look, *rows))

    found, _ = write_if_unchanged(
        store,
        fingerprint=lambda cursor: count_looks(cursor, release.release_id),
        read=lambda cursor: sealed_log(cursor, release, answers),
        plan=planned,
        write=write,
        busy=busy,
    )
    return found.shown, tuple(_taken(run, one) for run, one in zip(found.runs, taken, strict=True))


def _look(
    release: EvaluatedRelease,
    run: ScoredRun,
    asked: Mapping[str, Any],
    reason: str,
    actor: str,
    shared: float,
) -> SealedLook:
    run_sum = run_sum_of(run.seen)
    shown = {
        name: {field: getattr(figure, field, None) for field in ("value", "low", "high", "n", "judged")}
        for name, figure in run.figures.items()
    }
    return SealedLook(
        look_id=look_id_of(release.release_id, release.sealed, run_sum, asked),
        release_id=release.release_id,
        name=release.name,
        parts=list(release.sealed),
        system=run.system,
        run_sum=run_sum,
        asked=canonical_json(asked),
        figures=json.dumps(shown),
        reason=reason,
        looked_by=actor,
        looked_at=utc_now(),
        unknown=run.plausible and run.plausible.unknown,
        unseen=run.plausible and run.plausible.unseen,
        overlap=shared,
    )


def _queries(release: EvaluatedRelease, run: ScoredRun, look_id: str) -> list[LookQuery]:
    ids, sealed = release.qrels.query_ids, np.flatnonzero(release.sealed_queries).tolist()
    return [
        LookQuery(look_id, ids[place], None if np.isnan(values[place]) else float(values[place]), measure)
        for measure, values in run.values.items()
        for place in sealed
    ]


def _lists(run: ScoredRun, look_id: str) -> list[LookList]:
    return [
        LookList(look_id, seen, query_id, list_sum)
        for seen, sums in run.seen.items()
        for query_id, list_sum in sums.items()
    ]


def _taken(run: ScoredRun, one: NumberedLook) -> TakenLook:
    look = one.look
    return TakenLook(
        system=run.system,
        source=run.source,
        parts=tuple(look.parts),
        number=one.number,
        of_family=one.of_family,
        repeated=one.repeated,
        looked_by=look.looked_by,
        looked_at=f"{look.looked_at:%Y-%m-%d %H:%M}",
        reason=look.reason,
        flattery=None if look.by_ladder else _flattery(run, one.number),
    )


def _flattery(run: ScoredRun, number: int) -> Flattery | None:
    """How far the best of so many looks may flatter; its sd is a figure of the sealed part, and as coarse."""
    values = next(iter(run.values.values()))
    known = values[~np.isnan(values)]
    if len(known) < LEAST or next(iter(run.figures.values())).value is None:
        return None
    sd = round(float(known.std(ddof=1)), DECIMALS)
    return rounded_figures(flattery(number, len(known), sd))
