"""Looks by the Ladder: a run gets a figure only where it beats the best one shown by more than noise.

The state is not stored: all looks at the same parts by the same measure are climbed again, in their order. A
look that had all its figures counts as well, for what it showed is known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.evaluation.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.inputs.system_runs import ReadingOptions, RunSource, read_run
from curation.evaluation.metrics.measures import Measure, measures_for
from curation.evaluation.metrics.scores import score_rows
from curation.evaluation.sealed.disclosure import list_sums, refuse_what_tells_of_single_queries
from curation.evaluation.sealed.ladder import LadderState, climb
from curation.evaluation.sealed.looking import ScoredRun, TakenLook, earlier_runs, reason_for, take_looks
from curation.evaluation.sealed.precision import refuse_fine_measures, rounded_figures
from curation.progress import Progress, silent
from curation.releases.looks import LookQuery, look_queries, looks
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
    """The answers to all runs, in their order."""

    release: str
    release_id: str
    parts: tuple[str, ...]
    measure: str
    queries: int
    answers: tuple[LadderAnswer, ...]
    looks: tuple[TakenLook, ...]

    @property
    def sentences(self) -> list[str]:
        """The answer to each run, and which look it was, for people."""
        found = []
        for answer, look in zip(self.answers, self.looks, strict=True):
            if answer.improved:
                told = f"{self.measure} {answer.best:.3f}, better than before by more than noise."
            else:
                told = f"no improvement beyond noise; the best shown is still {answer.best:.3f}."
            found += [f"{answer.system}: {told}", look.sentence]
        parts = ", ".join(self.parts)
        return [
            *found,
            f"{parts}: {amount(self.queries, 'query', 'queries')}. Nothing else is shown of this look.",
        ]


def ladder_looks(
    store: Store,
    release_name: str,
    runs: Sequence[RunSource],
    part: str | None,
    measures: Sequence[str] | None = None,
    relevant: int | None = None,
    reading: ReadingOptions = ReadingOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> LadderLooks:
    """Climb the Ladder of a sealed part with run files, by the first measure.

    Raises
    ------
    InputError: the part is not sealed, or run files cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: there is no reason, the actor may not look, or figures would tell of single queries.
    """
    release = read_release(store, release_name, part, relevant)
    if release.sealed != release.parts:
        raise InputError(
            f"The Ladder is for sealed parts, and of {', '.join(release.parts)} not all are. Name one.",
            command="--split does.",
        )
    measure = measures_for(release.qrels.scale, measures)[0]
    refuse_fine_measures(release.sealed, [measure])
    why = reason_for(store, release, reason, actor)
    read = [read_run(source, release, reading, progress) for source in runs]
    sums = [list_sums(run.rows, release) for run in read]
    names = [f"{run.name} ({run.source})" for run in read]
    refuse_what_tells_of_single_queries(release, names, sums, earlier_runs(store, release))
    scores = [score_rows(run.rows, release.qrels, [measure]) for run in read]
    known = ~np.isnan(scores[0].values[:, 0])
    state = _state(store, release, measure, known)
    answers, scored = [], []
    for run, own, found in zip(read, sums, scores, strict=True):
        state = climb(state, found.values[known, 0])
        answer = rounded_figures(LadderAnswer(run.name, run.source, state.improved, state.shown or 0.0))
        answers.append(answer)
        figure = LadderFigure(answer.best if answer.improved else None, int(known.sum()))
        scored.append(ScoredRun(run.name, run.source, own, found.values[:, 0], {measure.name: figure}))
    asked = {
        "parts": release.parts,
        "measures": [measure.name],
        "relevant": release.qrels.relevant,
        "ladder": True,
    }
    taken = take_looks(store, release, scored, asked, why, actor)
    return LadderLooks(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        measure=measure.name,
        queries=int(known.sum()),
        answers=tuple(answers),
        looks=taken,
    )


def _state(store: Store, release: EvaluatedRelease, measure: Measure, known: np.ndarray) -> LadderState:
    """The state after all earlier looks at these parts by this measure."""
    with store.reading() as cursor:
        found = [
            one
            for one in looks(cursor, release.release_id)
            if one.parts == list(release.parts)
            and not one.of_answers
            and _first(one.asked) == (measure.name, release.qrels.relevant)
        ]
        rows = look_queries(cursor, [one.look_id for one in found])
    values: dict[str, dict[str, LookQuery]] = {one.look_id: {} for one in found}
    for row in rows:
        values[row.look_id][row.query_id] = row
    ids = [name for name, has in zip(release.qrels.query_ids, known.tolist(), strict=True) if has]
    state = LadderState()
    for one in found:
        own = values[one.look_id]
        state = climb(state, np.array([own[name].value or 0.0 for name in ids]))
    return state


def _first(asked: str) -> tuple[str, int]:
    values = json.loads(asked)
    return values["measures"][0], values["relevant"]
