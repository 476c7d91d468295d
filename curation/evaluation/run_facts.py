"""Facts about a run that a report shows besides its measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.text import pluralize
from curation.evaluation.figures.abstention import AbstentionFigures, measure_abstention
from curation.evaluation.scoring.chunk_measures import UNKNOWN, RunChunks, count_read_words
from curation.evaluation.scoring.measure_names import CONTEXT, WITHIN, Measure
from curation.evaluation.scoring.rankings import TieCounts
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_chunks import ChunkCounts
from curation.evaluation.scoring.run_scores import RunScores
from curation.evaluation.scoring.system_runs import SystemRun


class RunFacts(NamedTuple):
    """Facts about a run file for the evaluated queries; see `SystemRun` and `TieCounts`.

    Attributes
    ----------
    missing: the number of evaluated queries without a document; they score 0.
    refusal: figures on unanswerable queries.
    chunks: the counts of a run of chunks; None for a run of documents.
    remarks: sentences on columns and chunks.
    """

    source: str
    places: int
    missing: int
    unknown_documents: int
    against_scores: int
    ties: TieCounts
    left_out: dict[str, int]
    refusal: AbstentionFigures
    chunks: ChunkCounts | None = None
    remarks: tuple[str, ...] = ()


def describe_run(run: SystemRun, scores: RunScores, release: EvaluatedRelease, seed: int) -> RunFacts:
    """Describe a run and its file, as far as they concern the evaluated queries."""
    return RunFacts(
        source=run.source,
        places=run.places,
        missing=int((scores.returned == 0).sum()),
        unknown_documents=run.unknown_documents,
        against_scores=run.against_scores,
        ties=scores.ties,
        left_out=run.left_out,
        refusal=measure_abstention(run.rows, release.qrels, release.facets["tag"], seed),
        chunks=run.chunks,
        remarks=tuple(_write_remarks(run, scores.measures)),
    )


def _write_remarks(run: SystemRun, measures: Sequence[Measure]) -> Iterator[str]:
    """Yield remarks on a run that a reader needs besides its measures."""
    if run.unread:
        yield run.unread
    if run.chunks:
        yield from run.chunks.sentences()
    chunks = run.rows.chunks
    if chunks is None:
        return
    for measure in measures:
        if measure.kind == WITHIN:
            yield from _describe_short_lists(chunks, measure)
    unknown = np.unique(chunks.query[chunks.words == UNKNOWN])
    if len(unknown) and any(measure.of_chunks for measure in measures):
        yield (
            f"{pluralize(len(unknown), 'query has', 'queries have')} a chunk with an unknown number of "
            "words, because the document or the place is unknown. An unknown chunk ends the list of "
            f"{WITHIN}, makes evidence_precision and evidence_iou 0, and leaves the query out of {CONTEXT} "
            "and of the curve, if these figures use the chunk."
        )


def _describe_short_lists(chunks: RunChunks, measure: Measure) -> Iterator[str]:
    """Yield a remark with the mean number of words if the result lists have fewer words than a measure's word
    budget."""
    budget = measure.depth or 1
    words = np.bincount(chunks.query, count_read_words(chunks, budget))
    list_words = words[np.unique(chunks.query)]
    short_lists = int((list_words < budget).sum())
    if short_lists:
        yield (
            f"{pluralize(short_lists, 'list has', 'lists have')} fewer words than {measure.name} may "
            f"read. Over all lists the measure reads {list_words.mean():,.0f} words on average."
        )
