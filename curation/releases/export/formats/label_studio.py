"""Tasks of Label Studio: a judged pair each, with its grade and evidence as an annotation; config.xml is the
interface. Offsets are code points, as in Label Studio.

https://labelstud.io/guide/tasks#Basic-Label-Studio-JSON-format
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    json_array,
    write_lines,
    write_parts,
)

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource


EVIDENCE = "Evidence"
_LABELS = f'<Labels name="evidence" toName="document"><Label value="{EVIDENCE}"/></Labels>'


def write_label_studio(folder: Path, gold: ExportSource) -> Written:
    """The tasks of each part, and the interface."""
    write_lines(folder / "config.xml", _interface(gold))
    splits = write_parts(folder, gold, ".json", lambda part: json_array(_tasks(gold, part)))
    return Written({"default": splits})


def _interface(gold: ExportSource) -> Iterator[str]:
    yield '<View><Header value="$query"/><Header size="5" value="$title"/>'
    yield '<Text name="document" value="$text"/><Choices name="grade" toName="document" required="true">'
    for grade, name in gold.scale.items():
        yield f'<Choice value="{grade}" hint={quoteattr(name)}/>'
    yield f"</Choices>{_LABELS if 'evidence' in gold.about_grades else ''}</View>"


def _tasks(gold: ExportSource, part: str) -> Iterator[dict[str, Any]]:
    texts = gold.documents.of({row.document_id for row in gold.judged(part)})
    for row in gold.judged(part):
        document, grade = texts[row.document_id], {"choices": [str(row.grade)]}
        pair = {"query_id": row.query_id, "query": row.text, "document_id": row.document_id}
        result = {"from_name": "grade", "to_name": "document", "type": "choices", "value": grade}
        marks = [
            {"from_name": "evidence", "to_name": "document", "type": "labels", "value": _region(**one)}
            for one in row.evidence or ()
        ]
        yield {
            "data": {**pair, "title": document.title, "text": document.body},
            "annotations": [{"result": [result, *marks]}],
        }


def _region(start: int, end: int, quote: str) -> dict[str, Any]:
    return {"start": start, "end": end, "text": quote, "labels": [EVIDENCE]}


LABEL_STUDIO = ExportFormat(
    "label-studio", write_label_studio, readers="Label Studio: judged pairs as tasks, with the interface"
)
