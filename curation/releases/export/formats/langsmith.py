"""Examples of a LangSmith data set: inputs, reference outputs, metadata and split, an example a line.

https://docs.langchain.com/langsmith/example-data-format
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import ExportFormat, Written, json_line, write_parts

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold


def write_langsmith(folder: Path, gold: Gold) -> Written:
    """The queries of each part."""
    splits = write_parts(folder, gold, ".jsonl", lambda part: map(json_line, _examples(gold, part)))
    return Written({"default": splits})


def _examples(gold: Gold, part: str) -> Iterator[dict[str, Any]]:
    for question in gold.questions(part):
        documents = [{"id": one.document_id, "text": one.text} for one in question.documents]
        yield {
            "inputs": {"question": question.text},
            "outputs": {"answer": question.answer, "documents": documents},
            "metadata": {"query_id": question.query_id},
            "split": part,
        }


LANGSMITH = ExportFormat(
    "langsmith", write_langsmith, readers="LangSmith: examples with inputs and reference outputs"
)
