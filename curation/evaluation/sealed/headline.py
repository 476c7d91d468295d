"""What evaluators see of sealed parts: the headline measure of each system, rounded to its standard error.

A figure is rounded to a step: its standard error, rounded up to one digit, and never less than what two
queries can change. So no figure shows the value of one query alone. What several figures together can tell,
docs/evaluation-method.md says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats
from curation.core.text import amount
from curation.evaluation.scoring.inputs.facets import LEAST
from curation.evaluation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.evaluation.scoring.inputs.system_runs import ReadingOptions, read_run, with_whole_documents
from curation.evaluation.scoring.metrics.measures import CHUNK_MEASURES, DEFAULT_MEASURES, measures_for
from curation.evaluation.scoring.metrics.run_scores import score_rows
from curation.evaluation.sealed.access import (
    SealedRequest,
    check_access,
    log_figures,
    refusals_logged,
    sealed_request,
)
from curation.releases.release_rows import mark_sentence
from curation.releases.sealed_evaluations import SealedCount
from curation.releases.verify import FrozenRelease
from curation.store import COMMAND_LINE, Store

FEW = f"fewer than {LEAST} queries have a value"


class RoundedFigure(NamedTuple):
    """A rounded mean.

    Attributes
    ----------
    value, step: None where fewer than ten queries have a value.
    n: queries with a value.
    """

    value: float | None
    step: float | None
    n: int

    @property
    def text(self) -> str:
        """The figure for people."""
        if self.value is None or self.step is None:
            return f"no figure: {FEW}"
        places = decimals(self.step)
        queries = amount(self.n, "query", "queries")
        return f"{self.value:.{places}f} (rounded to {self.step:.{places}f}, {queries})"


class HeadlineRow(NamedTuple):
    """A system with its figure."""

    system: str
    source: str
    figure: RoundedFigure


@dataclass(frozen=True)
class HeadlineEvaluation:
    """What an evaluator sees of systems on a sealed part; `mark` is that of the release, if any."""

    release: str
    release_id: str
    part: str
    measure: str
    rows: tuple[HeadlineRow, ...]
    sealed_count: SealedCount
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """All of it for people."""
        figures = [f"{row.system}: {self.measure} {row.figure.text}." for row in self.rows]
        return [*mark_sentence(self.release, self.mark), *figures, self.sealed_count.sentence]


def rounded_figure(values: Floats) -> RoundedFigure:
    """The mean of the queries that have a value, rounded.

    Parameters
    ----------
    values: shape (Q,), between 0 and 1; NaN where a query has none.
    """
    known = values[~np.isnan(values)]
    n = len(known)
    if n < LEAST:
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
    part: str,
    reading: ReadingOptions = ReadingOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> HeadlineEvaluation:
    """Score run files on a sealed part, for an evaluator.

    Raises
    ------
    InputError: the part is not sealed, or run files cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: as `check_access`.
    """
    names = [source.name for source in runs]
    request = required_request(sealed_request(store, release_name, part, names, reason, actor))
    with refusals_logged(store, request):
        check_access(store, request, all_figures=False)
        release = read_release(store, request.release, part)
        read = [read_run(source, release, reading, progress) for source in runs]
        chunks = any(run.chunks for run in read) and release.qrels.evidence is not None
        measure = measures_for(release.qrels.scale, None, CHUNK_MEASURES if chunks else DEFAULT_MEASURES)[0]
        rows = [with_whole_documents(run.rows, release, [measure]) for run in read]
        values = [score_rows(row, release.qrels, [measure]).values[:, 0] for row in rows]
        sources = [run.source for run in read]
        return logged_headline(store, request, release, measure.name, sources, values)


def required_request(request: SealedRequest | None) -> SealedRequest:
    """The request of an evaluator.

    Raises
    ------
    InputError: it is about no sealed part.
    """
    if request is None:
        raise InputError("Rounded figures are those of a sealed part, and this part is not sealed.")
    return request


def logged_headline(
    store: Store,
    request: SealedRequest,
    release: EvaluatedRelease,
    measure: str,
    sources: Sequence[str],
    values: Sequence[Floats],
) -> HeadlineEvaluation:
    """The rounded figures of all systems, once the log has them."""
    figures = [rounded_figure(value) for value in values]
    count = log_figures(store, request, [{measure: figure} for figure in figures])
    rows = map(HeadlineRow, request.systems, sources, figures)
    [part] = request.sealed
    return HeadlineEvaluation(
        release.name, release.release_id, part, measure, tuple(rows), count, release.mark
    )
