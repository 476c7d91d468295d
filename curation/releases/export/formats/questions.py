"""Questions with their reference answers and documents, as tools that evaluate answers read them.

- Ragas: `EvaluationDataset.from_jsonl` (https://docs.ragas.io/en/stable/references/evaluation_schema/).
- DeepEval: `EvaluationDataset.add_goldens_from_json_file` (https://deepeval.com/docs/evaluation-datasets).
- LangSmith: examples with inputs, reference outputs, metadata and split, one a line
  (https://docs.langchain.com/langsmith/example-data-format).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    json_array,
    json_line,
    write_parts,
)

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource, Question


def _format(
    name: str, readers: str, of_question: Callable[[Question, str], dict[str, Any]], ending: str = ".jsonl"
) -> ExportFormat:
    """A format with an object for each question of a part: an array where files end in .json."""

    def write(folder: Path, gold: ExportSource) -> Written:
        def lines(part: str) -> Iterable[str]:
            objects = (of_question(question, part) for question in gold.questions(part))
            return json_array(objects) if ending == ".json" else map(json_line, objects)

        return Written({"default": write_parts(folder, gold, ending, lines)})

    return ExportFormat(name, write, readers=readers)


def _sample(question: Question, part: str) -> dict[str, Any]:
    return {
        "user_input": question.text,
        "reference": question.answer,
        "reference_contexts": [document.text for document in question.documents],
        "reference_context_ids": [document.document_id for document in question.documents],
    }


def _golden(question: Question, part: str) -> dict[str, Any]:
    ids = [document.document_id for document in question.documents]
    return {
        "input": question.text,
        "expected_output": question.answer,
        "context": [document.text for document in question.documents],
        "additional_metadata": {"query_id": question.query_id, "document_ids": ids},
    }


def _example(question: Question, part: str) -> dict[str, Any]:
    documents = [{"id": document.document_id, "text": document.text} for document in question.documents]
    return {
        "inputs": {"question": question.text},
        "outputs": {"answer": question.answer, "documents": documents},
        "metadata": {"query_id": question.query_id},
        "split": part,
    }


RAGAS = _format("ragas", "Ragas: questions with reference answers and contexts", _sample)
DEEPEVAL = _format("deepeval", "DeepEval: goldens with expected output and context", _golden, ".json")
LANGSMITH = _format("langsmith", "LangSmith: examples with inputs and reference outputs", _example)
