"""Triplets (anchor, positive, negative) for sentence-transformers; `training_rows` has the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import ExportFormat
from curation.releases.export.formats.files import Written
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


TRIPLETS = ExportFormat("triplets", write_triplets, sealed_by_default=False)
