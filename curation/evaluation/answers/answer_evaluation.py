"""An evaluation of answers: its options, its systems, and what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.evaluation.answers.answer_files import (
    AnswerFields,
)
from curation.evaluation.answers.grades import AnswerGrades
from curation.evaluation.figures.means import Figure
from curation.evaluation.figures.strata import StratumFigures
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.scoring.inputs.run_chunks import ChunkPlace
from curation.ingest.readers.formats import FileLayout
from curation.releases.sealed_evaluations import SealedCount


class AnswerOptions(NamedTuple):
    """What is asked for besides release and files.

    Attributes
    ----------
    split: a part or 'all'; None is all parts that are not sealed.
    by: facets whose values get figures of their own.
    grades: what people graded answers for, such as 'correctness' → their grades.
    judge: whose grades of support people's correct, on parts that are not sealed.
    relevant: least grade of a document whose evidence citations are to hold; None is above the lowest.
    mapped: an index's own names of the chunks that answers cite.
    """

    split: str | None = None
    by: Sequence[str] = ("stratum",)
    grades: Mapping[str, AnswerGrades] = {}
    layout: FileLayout = FileLayout()
    seed: int = 0
    fields: AnswerFields = AnswerFields()
    relevant: int | None = None
    mapped: Mapping[str, ChunkPlace] = {}
    judge: str | None = None


@dataclass(frozen=True)
class AnsweringSystem:
    """A system's answers.

    Attributes
    ----------
    overall: exact_match, f1, of citations, and what people graded → figure.
    strata: facet → value → figures.
    answered, missing: queries with something to compare with that the system answered, and did not: these
        count 0.
    empty: of those answered, with nothing.
    refused: unanswerable queries (tagged so, without references): the share of all of them with an empty
        answer. One without a row is not known to be silence, so it counts 0.
    unsent: how many of these have no row in the file; None where fewer than ten are sealed.
    ungraded: what people grade → answers that nobody graded.
    left_out: reason → rows of the file.
    per_query: measure → value of each of `AnswerEvaluation.query_ids`; None of a sealed part.
    """

    name: str
    source: str
    overall: Mapping[str, Figure]
    strata: Mapping[str, Mapping[str, StratumFigures[Figure]]]
    answered: int
    missing: int
    empty: int
    refused: Figure
    unsent: int | None
    ungraded: Mapping[str, int]
    left_out: Mapping[str, int]
    per_query: Mapping[str, tuple[float | None, ...]] | None


@dataclass(frozen=True)
class AnswerEvaluation:
    """What systems answer on parts of a release.

    Attributes
    ----------
    queries: evaluated; `with_references` have reference answers, or nuggets where support was graded, or
        evidence where answers cite; `unanswerable` are tagged so and have none.
    query_ids: None where a sealed part was evaluated.
    sealed_count: how often its sealed parts were evaluated; None where none is sealed.
    mark: that the release was frozen against the gate, where it was.
    judged: scores of nuggets by a judge that people's grades correct.
    """

    release: str
    release_id: str
    parts: tuple[str, ...]
    sealed: tuple[str, ...]
    queries: int
    with_references: int
    unanswerable: int
    systems: tuple[AnsweringSystem, ...]
    query_ids: tuple[str, ...] | None
    sealed_count: SealedCount | None
    seed: int
    mark: str | None = None
    judged: JudgedEvaluation | None = None
