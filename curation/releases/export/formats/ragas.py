"""Samples of Ragas, as `EvaluationDataset.from_jsonl` reads them: questions, reference answers, documents.

https://docs.ragas.io/en/stable/references/evaluation_schema/
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import ExportFormat, Written, json_line, write_parts

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_ragas(folder: Path, gold: Gold) -> Written:
    """The queries of each part."""
    splits = write_parts(folder, gold, ".jsonl", lambda part: map(json_line, _samples(gold, part)))
    return Written({"default": splits})


def _samples(gold: Gold, part: str) -> Iterator[dict[str, Any]]:
    for question in gold.questions(part):
        yield {
            "user_input": question.text,
            "reference": question.answer,
            "reference_contexts": [document.text for document in question.documents],
            "reference_context_ids": [document.document_id for document in question.documents],
        }


RAGAS = ExportFormat("ragas", write_ragas, readers="Ragas: questions with reference answers and contexts")
