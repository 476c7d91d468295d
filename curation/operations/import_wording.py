"""The wording of imports on a page: sentences without command-line options or commands.

Errors and outcomes of `operations.import_file` name options of the command line; a page names the labels of
its fields instead.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import CurationError, InputError
from curation.core.request import list_options
from curation.ingest.outcome import ImportOutcome
from curation.ingest.readers.fields import file_fields
from curation.ingest.requests import ImportRequest

MAX_PROBLEMS = 1_000
"""The number of problems that a dry run keeps."""
_LOCATION = re.compile(r"((?:line|row|entry) [\d,]+): (.*)", re.DOTALL)
_VERBS = ("Is ", "Are ", "Has ", "Holds ", "Contains ", "Cannot ")
_REPLACEMENTS = {
    "First write one object on each line: jq -c '.[]' FILE": "Save the file with one object on each line.",
    "`goldgrade import collection` also reads a packed BEIR folder.": "",
    "pip install python-calamine, or save": "Save",
    "Name columns, as in --columns time,query.": "Write the names in “Names of the columns”.",
    "say so with `--encoding latin-1`": "choose the encoding latin-1",
    "try `--encoding utf-16`": "choose the encoding utf-16",
}
_NAME_WITH = re.compile(r"\bname (it|one|the column with their texts) with (?=--)")
_COMMAND = re.compile(r" ?\(`[^`]*`\)")
_COLUMN = re.compile(r"--map (\w+)(?:=COLUMN)?")
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")


class DryRun(NamedTuple):
    """The outcome of an import's dry run, or the problems for which the import would be refused.

    Attributes
    ----------
    outcome: None if the import would be refused.
    problems: the first problems, each with its location in the file, such as "line 3" or '', and a
        sentence.
    more: number of further problems.
    way_out: sentences on how to solve the problems, one on each line.
    """

    outcome: ImportOutcome | None
    problems: list[tuple[str, str]]
    more: int = 0
    way_out: str = ""

    @property
    def sentences(self) -> list[str]:
        """Return the outcome of the dry run in one sentence."""
        return [self.outcome.sentence if self.outcome else "The file cannot be imported unchanged."]


def describe_refusal(error: CurationError, request: ImportRequest) -> DryRun:
    """Report an error's problems in the words of a page."""
    if not isinstance(error, InputError):
        return DryRun(None, [("", reword(error.found, request))])
    problems = []
    for problem in error.problems[:MAX_PROBLEMS]:
        match = _LOCATION.match(problem)
        location, sentence = match.groups() if match else ("", problem)
        sentence = reword(sentence, request)
        if not location and sentence.startswith(_VERBS):
            sentence = f"{Path(request.source).name} {sentence[:1].lower()}{sentence[1:]}"
        problems.append((location, sentence))
    more = len(error.problems) - len(problems)
    ways_out = [reword(line, request) for line in error.way_out.splitlines()]
    return DryRun(None, problems, more, "\n".join(ways_out))


def reword(text: str, request: ImportRequest) -> str:
    """Rewrite a sentence on an import for a page: without commands, with the labels of options and fields."""
    for words, page_words in _REPLACEMENTS.items():
        text = text.replace(words, page_words)
    text = _NAME_WITH.sub(r"choose \1 in ", text)
    text = _COMMAND.sub("", text).replace("`", "")
    fields = {field.name: field.label for field in file_fields(request.record)}
    text = _COLUMN.sub(lambda match: f"“{fields.get(match[1], match[1])}”", text)
    labels = {option.spelling: option.label for option in list_options(type(request))}
    text = _OPTION.sub(lambda match: f"“{labels.get(match[0], match[0][2:].replace('-', ' '))}”", text)
    return text[:1].upper() + text[1:]


def reword_outcome(outcome: ImportOutcome, request: ImportRequest) -> ImportOutcome:
    """Rewrite the remarks of an import's outcome in the words of a page."""
    return outcome._replace(remarks=[reword(remark, request) for remark in outcome.remarks])
