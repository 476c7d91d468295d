"""Goldens of DeepEval, as `EvaluationDataset.add_goldens_from_json_file` reads them.

https://deepeval.com/docs/evaluation-datasets
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import ExportFormat, Written, json_array, write_parts

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_deepeval(folder: Path, gold: Gold) -> Written:
    """The queries of each part."""
    splits = write_parts(folder, gold, ".json", lambda part: json_array(_goldens(gold, part)))
    return Written({"default": splits})


def _goldens(gold: Gold, part: str) -> Iterator[dict[str, Any]]:
    for question in gold.questions(part):
        ids = [document.document_id for document in question.documents]
        yield {
            "input": question.text,
            "expected_output": question.answer,
            "context": [document.text for document in question.documents],
            "additional_metadata": {"query_id": question.query_id, "document_ids": ids},
        }


DEEPEVAL = ExportFormat(
    "deepeval", write_deepeval, readers="DeepEval: goldens with expected output and context"
)
