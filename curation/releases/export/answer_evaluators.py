"""The export formats ragas, deepeval and langsmith: questions with reference answers, for evaluating answers.

- Ragas: `EvaluationDataset.from_jsonl` (https://docs.ragas.io/en/stable/references/evaluation_schema/).
- DeepEval: `EvaluationDataset.add_goldens_from_json_file` (https://deepeval.com/docs/evaluation-datasets).
- LangSmith: examples with inputs, reference outputs, metadata and split, one on each line
  (https://docs.langchain.com/langsmith/example-data-format).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import json_array, json_line, write_parts

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource
    from curation.store import Document

Query = Mapping[str, Any]


def _make_format(
    name: str,
    readers: str,
    make_record: Callable[[Query, str | None, Sequence[Document]], dict[str, Any]],
    ending: str = ".jsonl",
) -> ExportFormat:
    """Make an export format that writes a .json or .jsonl file for each part, with one object per
    question."""

    def write(folder: Path, source: ExportSource) -> Written:
        def lines(part: str) -> Iterable[str]:
            objects = (make_record(*question) for question in source.iterate_questions(part))
            return json_array(objects) if ending == ".json" else map(json_line, objects)

        return Written({"default": write_parts(folder, source, ending, lines)})

    return ExportFormat(name, write, readers=readers)


def _to_sample(query: Query, answer: str | None, documents: Sequence[Document]) -> dict[str, Any]:
    return {
        "user_input": query["text"],
        "reference": answer,
        "reference_contexts": [document.text for document in documents],
        "reference_context_ids": [document.document_id for document in documents],
    }


def _to_golden(query: Query, answer: str | None, documents: Sequence[Document]) -> dict[str, Any]:
    ids = [document.document_id for document in documents]
    return {
        "input": query["text"],
        "expected_output": answer,
        "context": [document.text for document in documents],
        "additional_metadata": {"query_id": query["query_id"], "document_ids": ids},
    }


def _to_example(query: Query, answer: str | None, documents: Sequence[Document]) -> dict[str, Any]:
    texts = [{"id": document.document_id, "text": document.text} for document in documents]
    return {
        "inputs": {"question": query["text"]},
        "outputs": {"answer": answer, "documents": texts},
        "metadata": {"query_id": query["query_id"]},
        "split": query["part"],
    }


RAGAS = _make_format("ragas", "Ragas: questions with reference answers and contexts", _to_sample)
DEEPEVAL = _make_format("deepeval", "DeepEval: goldens with expected output and context", _to_golden, ".json")
LANGSMITH = _make_format("langsmith", "LangSmith: examples with inputs and reference outputs", _to_example)
