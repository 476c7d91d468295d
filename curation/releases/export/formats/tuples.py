"""Triplets (anchor, positive, negative) and n-tuples (anchor, positive, negative_1 … negative_n) for
sentence-transformers; `training_rows` has the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import ExportFormat, Written
from curation.releases.export.formats.training_rows import TrainingExample, UsableQuery, write_examples

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_triplets(folder: Path, gold: Gold) -> Written:
    """Each relevant document with each of the best hard negatives, at most as many as are asked for."""
    most = gold.options.negatives

    def examples(query: UsableQuery) -> Iterator[TrainingExample]:
        for positive in query.positives:
            for negative in query.negatives[:most]:
                yield TrainingExample(query.query_id, positive, (negative,))

    return write_examples(folder, gold, examples, least=1)


TRIPLETS = ExportFormat(
    "triplets",
    write_triplets,
    sealed_by_default=False,
    readers="Training of embedding models: query, relevant document, hard negative",
)


def write_ntuples(folder: Path, gold: Gold) -> Written:
    """Each relevant document with the best hard negatives, exactly as many as are asked for."""
    exactly = gold.options.negatives

    def examples(query: UsableQuery) -> Iterator[TrainingExample]:
        for positive in query.positives:
            yield TrainingExample(query.query_id, positive, tuple(query.negatives[:exactly]))

    return write_examples(folder, gold, examples, least=exactly)


NTUPLES = ExportFormat(
    "ntuples",
    write_ntuples,
    sealed_by_default=False,
    readers="Training of embedding models: query, relevant document, several hard negatives",
)
