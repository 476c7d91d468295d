"""Looks by the Ladder: a run gets a figure only where it beats the best one shown by more than noise.

That is how evaluators look at a sealed part. Runs climb one Ladder, files of answers another one; see
`ladder`. What a look was answered once is its answer whenever it is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from curation.errors import InputError, RefusedError
from curation.looks.ladder import NO_LADDER, PartLadder, part_ladder, scored_by
from curation.looks.limits import (
    plausibility,
    refuse_fine_measures,
    refuse_implausible,
    refuse_what_tells_of_single_queries,
    rounded_figures,
    seen_lists,
    seen_pairs,
)
from curation.looks.looking import (
    PlannedLooks,
    ScoredRun,
    SealedLog,
    TakenLook,
    reason_for,
    run_sum_of,
    take_looks,
)
from curation.progress import Progress, silent
from curation.releases.looks import look_id_of
from curation.releases.stored import mark_sentence
from curation.releases.verify import Opened
from curation.scoring.inputs.release import ALL, EvaluatedRelease, read_release
from curation.scoring.inputs.system_runs import ReadingOptions, RunSource, read_run, with_whole_documents
from curation.scoring.metrics.engine import score_rows
from curation.scoring.metrics.measures import Measure, measures_for
from curation.scoring.metrics.qrels import RunRows
from curation.statistics.arrays import Floats
from curation.store import COMMAND_LINE, Store
from curation.text import amount


class LadderFigure(NamedTuple):
    """What a look by the Ladder shows; the value is None where the run is no improvement beyond noise."""

    value: float | None
    n: int
    low: None = None
    high: None = None
    judged: None = None


class LadderAnswer(NamedTuple):
    """The answer to one run.

    Attributes
    ----------
    best: the best figure shown so far, this run's if it improved on it.
    """

    system: str
    source: str
    improved: bool
    best: float


@dataclass(frozen=True)
class LadderLooks:
    """The answers to all runs, in their order.

    Attributes
    ----------
    step: the least that a figure has to gain; figures are shown in such steps.
    looks_in_all: at this Ladder; `bits` is how much its answers can have told of all grades together.
    mark: that the release was frozen against the gate, where it was.
    """

    release: str
    release_id: str
    parts: tuple[str, ...]
    measure: str
    queries: int
    step: float
    answers: tuple[LadderAnswer, ...]
    looks: tuple[TakenLook, ...]
    looks_in_all: int
    bits: float
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """The answer to each run, and which look it was, for people."""
        found = mark_sentence(self.release, self.mark)
        for answer, look in zip(self.answers, self.looks, strict=True):
            if answer.improved:
                sentence = f"{self.measure} {answer.best:.3f}, better than before by more than noise."
            else:
                sentence = f"no improvement beyond noise; the best shown is still {answer.best:.3f}."
            found += [f"{answer.system}: {sentence}", look.sentence]
        parts = ", ".join(self.parts)
        return [
            *found,
            f"{parts}: {amount(self.queries, 'query', 'queries')}, in steps of {self.step:.2f}. Nothing else "
            f"is shown of this look. The Ladder's answers to {amount(self.looks_in_all, 'look')} can have "
            f"told {amount(round(self.bits), 'bit')} of all grades together, and no more.",
        ]


def ladder_looks(
    store: Store,
    release_name: str | Opened,
    runs: Sequence[RunSource],
    part: str | None,
    measures: Sequence[str] | None = None,
    relevant: int | None = None,
    reading: ReadingOptions = ReadingOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> LadderLooks:
    """Climb the Ladder of a sealed part with run files, by the measure of the first look at the part.

    Parameters
    ----------
    measures: by the first of which the Ladder begins; None is the default one, and whatever it began with.

    Raises
    ------
    InputError: the part is not sealed or not one part, or run files cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: there is no reason, the actor may not look, the Ladder is by another measure, lists are
        implausible, or figures would tell of single queries.
    """
    release, ladder = _release_and_ladder(store, release_name, part, measures, relevant)
    measure = ladder.measure or measures_for(release.qrels.scale, measures)[0]
    if measure.kind in NO_LADDER:
        raise InputError(
            f"{measure.name} says nothing about how good a system is: name another measure for the Ladder."
        )
    refuse_fine_measures(release.sealed, [measure])
    why = reason_for(store, release, reason, actor, ladder=True)
    read = [read_run(source, release, reading, progress) for source in runs]
    read = [replace(run, rows=with_whole_documents(run.rows, release, [measure])) for run in read]
    names = [f"{run.name} ({run.source})" for run in read]
    pairs = seen_pairs(store, release)
    plausible = [plausibility(run.rows, release, [measure], pairs) for run in read]
    refuse_implausible(release, names, plausible)
    seen = [seen_lists(run.rows, release, [measure], everything=False) for run in read]
    by = scored_by(measure, release.qrels.relevant)
    scored = [
        ScoredRun(run.name, run.source, own, {by: found.values[:, 0]}, {}, shares)
        for run, own, shares in zip(read, seen, plausible, strict=True)
        for found in [score_rows(run.rows, release.qrels, [measure])]
    ]
    asked = {
        "parts": release.parts,
        "measures": [measure.name],
        "relevant": release.qrels.relevant,
        "ladder": True,
    }

    def refuse(log: SealedLog) -> None:
        _refuse_another_measure(log.ladders[0], release.parts[0], measure, release.qrels.relevant)
        refuse_what_tells_of_single_queries(release, names, seen, log.earlier)

    return climb_with(store, release, measure.name, scored, asked, refuse, why, actor)


def climb_with(
    store: Store,
    release: EvaluatedRelease,
    measure: str,
    scored: Sequence[ScoredRun],
    asked: Mapping[str, Any],
    refuse: Callable[[SealedLog], None],
    reason: str,
    actor: str,
) -> LadderLooks:
    """Take the looks, and answer each: a new one by the Ladder, a repeated one as it was answered.

    Parameters
    ----------
    scored: without figures; these are the answers.
    refuse: stops where the looks so far leave no room for these.

    Raises
    ------
    RefusedError: what `refuse` raises, or the actor may not look.
    """

    def plan(log: SealedLog) -> PlannedLooks[LadderLooks]:
        refuse(log)
        found, answered = _climbed(release, log, measure, scored, asked)
        return PlannedLooks(found, answered, asked)

    found, taken = take_looks(store, release, plan, reason, actor, bool(asked.get("answers")))
    return replace(found, looks=taken)


def _climbed(
    release: EvaluatedRelease,
    log: SealedLog,
    measure: str,
    scored: Sequence[ScoredRun],
    asked: Mapping[str, Any],
) -> tuple[LadderLooks, list[ScoredRun]]:
    """The answers, without which look each was, and the runs with them as figures."""
    [ladder], taken = log.ladders, dict(log.answered)
    answers, answered = [], []
    for run in scored:
        look_id = look_id_of(release.release_id, release.sealed, run_sum_of(run.seen), asked)
        shown = taken.get(look_id)
        if shown is None:
            [values] = run.values.values()
            ladder = ladder.after(None, _by_query(release, values))
            value = ladder.state.shown if ladder.state.improved else None
            figure = rounded_figures(LadderFigure(value, len(ladder.queries or ())))
            taken[look_id] = {measure: figure._asdict()}
        else:
            figure = LadderFigure(shown[measure]["value"], len(ladder.queries or ()))
        best = figure.value if figure.value is not None else round(ladder.state.shown or 0.0, 3)
        answers.append(LadderAnswer(run.system, run.source, figure.value is not None, best))
        answered.append(run._replace(figures={measure: figure}))
    found = LadderLooks(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        measure=measure,
        queries=len(ladder.queries or ()),
        step=ladder.step,
        answers=tuple(answers),
        looks=(),
        looks_in_all=ladder.state.looks,
        bits=round(ladder.bits, 1),
        mark=release.mark,
    )
    return found, answered


def with_ladder_values(
    store: Store,
    release: EvaluatedRelease,
    ladders: Sequence[PartLadder],
    runs: Sequence[RunRows],
    scored: Sequence[ScoredRun],
) -> list[ScoredRun]:
    """The runs of a look at all figures, with values by the measure of each part's Ladder, too."""
    for ladder in ladders:
        if ladder.measure is None or ladder.scored_by is None or ladder.scored_by in scored[0].values:
            continue
        split = release.parts[0] if len(release.parts) == 1 else ALL
        qrels = read_release(store, release.frozen or release.name, split, ladder.relevant).qrels
        scored = [
            run._replace(values={**run.values, ladder.scored_by: found.values[:, 0]})
            for run, rows in zip(scored, runs, strict=True)
            for of_chunks in [with_whole_documents(rows, release, [ladder.measure])]
            for found in [score_rows(of_chunks, qrels, [ladder.measure])]
        ]
    return list(scored)


def _by_query(release: EvaluatedRelease, values: Floats) -> dict[str, float | None]:
    known = zip(release.qrels.query_ids, values.tolist(), strict=True)
    return {name: None if np.isnan(value) else value for name, value in known}


def refuse_parts_without_ladder(release: EvaluatedRelease) -> None:
    """Stop where it is not one sealed part that is looked at.

    Raises
    ------
    InputError: it is another part, or several.
    """
    if release.sealed != release.parts or len(release.parts) != 1:
        raise InputError(
            f"The Ladder is for one sealed part, and of {', '.join(release.parts)} not all are, or they are "
            "several. Name one.",
            command="--part does.",
        )


def _release_and_ladder(
    store: Store, name: str | Opened, part: str | None, measures: Sequence[str] | None, relevant: int | None
) -> tuple[EvaluatedRelease, PartLadder]:
    """The part and its Ladder, by the threshold that it began with."""
    release = read_release(store, name, part, relevant)
    refuse_parts_without_ladder(release)
    with store.reading() as cursor:
        ladder = part_ladder(cursor, release.release_id, release.parts[0], release.qrels.query_ids)
    if ladder.measure is None:
        return release, ladder
    named = None if measures is None else measures_for(release.qrels.scale, measures)[0]
    _refuse_another_measure(ladder, release.parts[0], named, relevant)
    if release.qrels.relevant != ladder.relevant:
        release = read_release(store, name, part, ladder.relevant)
    return release, ladder


def _refuse_another_measure(
    ladder: PartLadder, part: str, measure: Measure | None, relevant: int | None
) -> None:
    """Stop where a Ladder began by another measure or threshold than these; None is whichever it is."""
    if ladder.measure is None or ladder.first is None:
        return
    other = measure is not None and measure != ladder.measure
    if other or (relevant not in (None, ladder.relevant) and ladder.measure.binary):
        first = ladder.first
        raise RefusedError(
            f"The Ladder of {part} is by {ladder.scored_by}, as its first look was "
            f"({first.system}, by {first.looked_by} on {first.looked_at:%Y-%m-%d}): by another measure the "
            "figures would begin again. Ask for that one.",
            command=f"--measures {ladder.measure.name} does.",
        )
