"""The export format label-studio: each judged pair as a task, with grade and evidence as an annotation.

config.xml is the interface (https://labelstud.io/guide/tasks#Basic-Label-Studio-JSON-format). Offsets of
evidence count Unicode code points.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import json_array, write_lines, write_parts

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

READERS = "Label Studio: judged pairs as tasks, with the interface"
EVIDENCE = "Evidence"
_LABELS = f'<Labels name="evidence" toName="document"><Label value="{EVIDENCE}"/></Labels>'


def write_label_studio(folder: Path, source: ExportSource) -> Written:
    """Write the Label Studio tasks of each part, and the file of the labeling interface."""
    write_lines(folder / "config.xml", _write_interface(source))
    splits = write_parts(folder, source, ".json", lambda part: json_array(_make_tasks(source, part)))
    return Written({"default": splits})


def _write_interface(source: ExportSource) -> Iterator[str]:
    yield '<View><Header value="$query"/><Header size="5" value="$title"/>'
    yield '<Text name="document" value="$text"/><Choices name="grade" toName="document" required="true">'
    for grade, name in source.scale.items():
        yield f'<Choice value="{grade}" hint={quoteattr(name)}/>'
    yield f"</Choices>{_LABELS if 'evidence' in source.extra_columns else ''}</View>"


def _make_tasks(source: ExportSource, part: str) -> Iterator[dict[str, Any]]:
    documents = source.read_documents({row.document_id for row in source.iterate_grades(part)})
    for row in source.iterate_grades(part):
        document = documents[row.document_id]
        grade = {"choices": [str(row.grade)]}
        pair = {"query_id": row.query_id, "query": row.text, "document_id": row.document_id}
        result = {"from_name": "grade", "to_name": "document", "type": "choices", "value": grade}
        marks = [
            {"from_name": "evidence", "to_name": "document", "type": "labels", "value": _make_region(**span)}
            for span in row.evidence or ()
        ]
        yield {
            "data": {**pair, "title": document.title, "text": document.body},
            "annotations": [{"result": [result, *marks]}],
        }


def _make_region(start: int, end: int, quote: str) -> dict[str, Any]:
    return {"start": start, "end": end, "text": quote, "labels": [EVIDENCE]}


LABEL_STUDIO = ExportFormat("label-studio", write_label_studio, readers=READERS)
