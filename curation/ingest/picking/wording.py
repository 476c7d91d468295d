"""Sentences about files in the words of a page: what a command calls an option, a page calls by its label."""

from __future__ import annotations

import re

from curation.ingest.picking.kinds import FileKind

LABELS = {
    "--skip-unknown": "Leave out what the project lacks",
    "--known-rows": "Take rows that an earlier log has, too",
    "--skip-repeated": "Keep the best place of a repeated document",
    "--grade-map": "Grades of another scale",
    "--annotator-map": "Names of one person",
    "--annotator-columns": "Columns with grades",
    "--annotator": "Who gave all grades",
    "--grade": "Grade of all judgments, where the file has none",
    "--about": "Text that the file is about",
    "--round": "Name of a further pass by the same people",
    "--judge": "Name of the judge",
    "--name": "Name of the run",
    "--date-order": "Order of day and month",
    "--duration-unit": "Unit of the time it took",
    "--format": "Format",
    "--encoding": "Encoding",
    "--columns": "Names of the columns",
    "--no-header": "The first line is data",
    "--leave": "Leave the texts in the file",
    "--add": "Add to the current corpus",
    "--titles-only": "Judge documents by their title alone",
    "--markup": "The text is written in",
}
"""Option of a command → what the page calls it."""

_OTHERWISE = {
    "Make lines of it first: jq -c '.[]' FILE": "Save it with one JSON object a line.",
    "A folder of BEIR may stay packed for `goldgrade import collection`.": "",
    "pip install python-calamine, or save": "Save",
    "Give them as --columns time,query.": "Write them in “Names of the columns”.",
    "say so with `--encoding latin-1`": "choose the encoding latin-1",
    "try `--encoding utf-16`": "choose the encoding utf-16",
}
_NAMING = re.compile(r"\bname (it|one|the column with their texts) with (?=--)")
_COMMAND = re.compile(r" ?\(`[^`]*`\)")
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")


def on_a_page(sentence: str, kind: FileKind) -> str:
    """A sentence about a file of this kind, without commands and options; it begins with a capital."""
    for said, instead in _OTHERWISE.items():
        sentence = sentence.replace(said, instead)
    sentence = _NAMING.sub(r"choose \1 in ", sentence)
    sentence = _COMMAND.sub("", sentence).replace("`", "")
    fields = {field.option: field.label for field in kind.fields}
    sentence = _OPTION.sub(lambda found: f"“{_label(found[0], fields)}”", sentence)
    return sentence[:1].upper() + sentence[1:]


def _label(option: str, fields: dict[str, str]) -> str:
    return fields.get(option) or LABELS.get(option) or option.lstrip("-").replace("-", " ")
