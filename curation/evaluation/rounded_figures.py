"""Rounded figures: what evaluators see of systems on a sealed part.

They see the headline measure of each system, rounded to a step: its standard error, rounded up to one digit,
and never less than what two queries can change. So no figure shows the value of one query alone.
docs/evaluation-method.md says what several figures together can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats
from curation.core.text import pluralize
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.measure_names import CHUNK_MEASURES, DEFAULT_MEASURES, measures_for
from curation.evaluation.scoring.release import MIN_QUERIES, EvaluatedRelease, read_release
from curation.evaluation.scoring.run_scores import score_rows
from curation.evaluation.scoring.system_runs import ReadingOptions, RunSource, read_run, with_whole_documents
from curation.evaluation.sealed_access import check_access, log_figures, refusals_logged, sealed_request
from curation.releases.gate_override import gate_override_sentences
from curation.releases.sealed_log import SealedCount
from curation.releases.verify import FrozenRelease
from curation.store import COMMAND_LINE, Store

ScoreSystems = Callable[[EvaluatedRelease], tuple[str, Sequence[str], Sequence[Floats]]]
"""A measure, and of each system the name of its file and the values of Q queries by the measure."""
TOO_FEW_QUERIES = f"fewer than {MIN_QUERIES} queries have a value"


class RoundedFigure(NamedTuple):
    """The rounded mean of a system.

    Attributes
    ----------
    value, step: None if fewer than ten queries have a value.
    n: queries with a value.
    source: the name of the system's file.
    """

    value: float | None
    step: float | None
    n: int
    system: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """The figure for people."""
        if self.value is None or self.step is None:
            return f"no figure: {TOO_FEW_QUERIES}"
        places = decimals(self.step)
        queries = pluralize(self.n, "query", "queries")
        return f"{self.value:.{places}f} (rounded to {self.step:.{places}f}, {queries})"


@dataclass(frozen=True)
class HeadlineEvaluation:
    """What an evaluator sees of systems on a sealed part; `mark`: it was frozen against the gate."""

    release: str
    release_id: str
    part: str
    measure: str
    rows: tuple[RoundedFigure, ...]
    sealed_count: SealedCount
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """All of it for people."""
        figures = [f"{row.system}: {self.measure} {row.text}." for row in self.rows]
        return [*gate_override_sentences(self.release, self.mark), *figures, self.sealed_count.sentence]


def rounded_figure(values: Floats) -> RoundedFigure:
    """The mean of the queries that have a value, rounded.

    Parameters
    ----------
    values: shape (Q,), between 0 and 1; NaN where a query has none.
    """
    known = values[~np.isnan(values)]
    n = len(known)
    if n < MIN_QUERIES:
        return RoundedFigure(None, None, n)
    step = _one_digit(max(float(known.std(ddof=1)) / sqrt(n), 2 / n))
    value = min(1.0, round(float(known.mean()) / step) * step)
    return RoundedFigure(round(value, decimals(step)), step, n)


def decimals(step: float) -> int:
    """How many decimals a step of one digit has."""
    return max(0, -floor(log10(step)))


def _one_digit(error: float) -> float:
    """The error rounded up to one digit."""
    places = -floor(log10(error))
    scale = 10.0**places
    return round(ceil(error * scale - 1e-9) / scale, places)


def headline_of_runs(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[RunSource],
    request: EvaluateRequest,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    reading: ReadingOptions = ReadingOptions(),
) -> HeadlineEvaluation:
    """Score run files on a sealed part, for an evaluator.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `headline_of`, or run files cannot be taken.
    """

    def score(release: EvaluatedRelease) -> tuple[str, Sequence[str], Sequence[Floats]]:
        read = [read_run(source, release, reading, progress) for source in runs]
        chunks = any(run.chunks for run in read) and release.qrels.evidence is not None
        measure = measures_for(release.qrels.scale, None, CHUNK_MEASURES if chunks else DEFAULT_MEASURES)[0]
        rows = [with_whole_documents(run.rows, release, [measure]) for run in read]
        values = [score_rows(row, release.qrels, [measure]).values[:, 0] for row in rows]
        return measure.name, [run.source for run in read], values

    return headline_of(store, release_name, runs, request, actor, score)


def headline_of(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[RunSource],
    request: EvaluateRequest,
    actor: str,
    score: ScoreSystems,
    of_answers: bool = False,
) -> HeadlineEvaluation:
    """The rounded figure of each system on a sealed part, once the log has it.

    Raises
    ------
    InputError: the part is not sealed.
    NotFoundError: there is no such release.
    RefusedError: as `check_access`.
    """
    names = [source.name for source in sources]
    sealed = sealed_request(store, release_name, request.part, names, request.reason, actor, of_answers)
    if sealed is None:
        raise InputError("Rounded figures are for sealed parts, and this part is not sealed.")
    with refusals_logged(store, sealed):
        check_access(store, sealed, all_figures=False)
        release = read_release(store, sealed.release, request.part)
        measure, files, values = score(release)
        rows = [
            rounded_figure(value)._replace(system=name, source=file)
            for name, file, value in zip(names, files, values, strict=True)
        ]
        count = log_figures(store, sealed, [{measure: row} for row in rows])
        [part] = sealed.sealed
        about = (release.name, release.release_id, part, measure)
        return HeadlineEvaluation(*about, tuple(rows), count, release.mark)
