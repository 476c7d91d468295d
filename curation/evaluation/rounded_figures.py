"""Rounded results: what evaluators can see of systems' results on a sealed part.

Evaluators see the headline measure of each system, rounded to a step: the standard error, rounded up to one
digit, and at least the change that two queries can make. So no result shows the value of a single query.
docs/evaluation-method.md describes how much several results together can reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats
from curation.core.text import pluralize
from curation.evaluation import sealed_access
from curation.evaluation.prepare_evaluation import PreparedEvaluation
from curation.evaluation.scoring.release import MIN_QUERIES, EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.releases.gate_override import warn_of_override
from curation.releases.sealed_log import SealedCount

TOO_FEW_QUERIES = f"fewer than {MIN_QUERIES} queries have a value"


class RoundedFigure(NamedTuple):
    """The rounded mean of a system on a sealed part.

    Attributes
    ----------
    value, step: the figure and the step of rounding; None if fewer than ten queries have a value.
    n: the number of queries with a value.
    source: the name of the system's file.
    """

    value: float | None
    step: float | None
    n: int
    system: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """Return the rounded mean in words, with its step and its number of queries."""
        if self.value is None or self.step is None:
            return f"no figure: {TOO_FEW_QUERIES}"
        places = count_decimals(self.step)
        queries = pluralize(self.n, "query", "queries")
        return f"{self.value:.{places}f} (rounded to {self.step:.{places}f}, {queries})"


@dataclass(frozen=True)
class HeadlineEvaluation:
    """Systems' rounded results on a sealed part.

    Attributes
    ----------
    rows: the figure of each system.
    mark: the mark of a release that was frozen despite the gate; None for other releases.
    """

    release: str
    release_id: str
    part: str
    measure: str
    rows: tuple[RoundedFigure, ...]
    sealed_count: SealedCount
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """Return all results in sentences, with the number of sealed evaluations."""
        figures = [f"{row.system}: {self.measure} {row.text}." for row in self.rows]
        return [*warn_of_override(self.release, self.mark), *figures, self.sealed_count.sentence]


ScoreSystems = Callable[[EvaluatedRelease], tuple[str, list[RoundedFigure]]]
"""A function that scores systems by the headline measure; it returns the measure and each system's result."""


def round_mean(values: Floats, system: str = "", source: str = "") -> RoundedFigure:
    """Compute the mean over the queries that have a value, and round the mean to its standard error.

    Parameters
    ----------
    values: shape (Q,), between 0 and 1; NaN where a query has no value.
    system, source: the names of the system and of its file.
    """
    query_values = values[~np.isnan(values)]
    n = len(query_values)
    if n < MIN_QUERIES:
        return RoundedFigure(None, None, n, system, source)
    step = _round_up_to_one_digit(max(float(query_values.std(ddof=1)) / sqrt(n), 2 / n))
    value = min(1.0, round(float(query_values.mean()) / step) * step)
    return RoundedFigure(round(value, count_decimals(step)), step, n, system, source)


def count_decimals(step: float) -> int:
    """Count the decimals of a one-digit rounding step."""
    return max(0, -floor(log10(step)))


def _round_up_to_one_digit(error: float) -> float:
    """Round a standard error up to one significant digit."""
    decimals = -floor(log10(error))
    scale = 10.0**decimals
    return round(ceil(error * scale - 1e-9) / scale, decimals)


def evaluate_headline(
    prepared: PreparedEvaluation, files: Sequence[SystemFile], score: ScoreSystems, of_answers: bool = False
) -> HeadlineEvaluation:
    """Compute and log the rounded result of each system on a sealed part.

    Raises
    ------
    InputError: the part is not sealed.
    NotFoundError: no release has this name.
    RefusedError: as for `check_access`.
    """
    store, request, author = prepared.store, prepared.request, prepared.author
    names = [file.name for file in files]
    sealed = sealed_access.make_sealed_request(store, prepared.release, request, names, author, of_answers)
    if sealed is None:
        raise InputError("Rounded figures are only for sealed parts, and this part is not sealed.")
    with sealed_access.log_refusals(store, sealed):
        sealed_access.check_access(store, sealed, all_figures=False)
        release = read_release(store, sealed.release, request.part, synthetic=False)
        measure, rows = score(release)
        [part] = sealed.sealed
        return HeadlineEvaluation(
            release=release.name,
            release_id=release.release_id,
            part=part,
            measure=measure,
            rows=tuple(rows),
            sealed_count=sealed_access.log_figures(store, sealed, [{measure: row} for row in rows]),
            mark=release.mark,
        )
