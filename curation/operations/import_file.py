"""An import of a file, by its kind, or its rehearsal: the same call, on a project or one that keeps nothing.

Errors of an import name options of the command line; a page says them in its own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple, cast

from curation.core.digests import to_json_value
from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.core.operation import Operation, options_of, read_request, written
from curation.core.progress import Progress, silent
from curation.evaluation.llm_judges.imported import JudgeImport, import_judge
from curation.guides.guide import AS_BEFORE, BodyKind, PresentationTemplate, current_guide
from curation.guides.guide_text import with_presentation
from curation.ingest.import_outcome import ImportOutcome
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.external_corpus import link_corpus
from curation.ingest.importers.nuggets import import_nuggets
from curation.ingest.importers.query_import import QueryImport, import_queries
from curation.ingest.importers.query_items import QueryItemsImport
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.run_import import RunImport, import_run
from curation.ingest.importers.traffic.log_folder import import_log_folder
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.preview import SAMPLED_ROWS, preview_file
from curation.ingest.readers.fields import (
    CorpusFields,
    DecisionFields,
    JudgmentFields,
    NuggetFields,
    QueryFields,
    ReferenceFields,
    RunFields,
    TrafficFields,
    file_fields,
)
from curation.ingest.readers.values import parse_annotator_map, parse_grade_map
from curation.ingest.requests import (
    MARKUPS,
    REQUESTS,
    AnswersRequest,
    CorpusRequest,
    DecisionsRequest,
    ImportRequest,
    JudgmentsRequest,
    NuggetsRequest,
    QueriesRequest,
    RunRequest,
    TrafficRequest,
)
from curation.labeling.consensus.adjudication import Decided, decide_many
from curation.labeling.imported import JudgmentImport, import_judgments
from curation.labeling.presentation.markup import markup_of
from curation.labeling.rounds.guide_in_force import KEEP, put_in_force
from curation.labeling.rounds.transfer import withdraw_outside
from curation.people.annotators import require_author
from curation.store import Rehearsal, Store
from curation.store.documents import first_documents

MAX_PROBLEMS = 1_000
"""Problems that a dry run keeps."""
_PLACE = re.compile(r"((?:line|row|entry) [\d,]+): (.*)", re.DOTALL)
_VERBS = ("Is ", "Are ", "Holds ", "Cannot ")
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
_COLUMN = re.compile(r"--map (\w+)(?:=COLUMN)?")
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")


CHECK, IMPORT = "check file", "import"
Parameters = Mapping[str, Any]


def _import_corpus(store: Store, request: CorpusRequest, progress: Progress, author: str) -> CorpusImport:
    """Import documents, and have the guide show their text as what it is written in."""
    markup = request.markup
    if markup not in (None, *MARKUPS):
        raise InputError(f"--markup is {markup!r}; expected one of {', '.join(MARKUPS)}.")
    fields = request.columns_of(CorpusFields, titles_only=request.titles_only)
    if request.in_place:
        if request.add:
            raise InputError("--in-place takes a whole corpus, and no --add. Put the files into one folder.")
        imported = link_corpus(
            store, request.path, fields, request.layout, progress, author, withdraw_outside
        )
        with store.reading() as cursor:
            seen = markup_of(document.body for document in first_documents(cursor, SAMPLED_ROWS))
    else:
        imported = import_corpus(
            *(store, request.file, fields, request.layout),
            add=request.add,
            progress=progress,
            author=author,
            withdraw=withdraw_outside,
        )
        seen = markup_of(preview_file(request).texts_in(imported.fields.body))
    shown = tuple(field for field in AS_BEFORE.fields if getattr(imported.fields, field.field))
    before = PresentationTemplate(fields=shown)
    return replace(imported, shown=_show_as(store, cast("BodyKind | None", markup), seen, before, author))


def _show_as(
    store: Store, asked: BodyKind | None, seen: BodyKind, before: PresentationTemplate, author: str
) -> str:
    """Have the guide draw the text of documents as asked, or as seen where it says nothing of documents.

    `before` is what it shows of them where it says nothing.

    Returns what changes, or what may be wrong, as a sentence; '' where all is as it should be.
    """
    with store.reading() as cursor:
        guide = current_guide(cursor)
    presentation = guide.presentation
    kind: BodyKind = asked or (seen if presentation is None else presentation.body)
    if kind != (presentation or PresentationTemplate()).body:
        changed = with_presentation(guide, (presentation or before).model_copy(update={"body": kind}))
        done = put_in_force(store, changed, author, KEEP, f"The text of the corpus is {MARKUPS[kind]}.")
        kept = f" Open rounds keep their guide: {', '.join(done.kept)}." if done.kept else ""
        return f"The guide shows documents as {MARKUPS[kind]}.{kept}"
    if asked is None and kind != seen:
        seems = f"The text looks like {MARKUPS[seen]}, and the guide shows it as {kind}."
        return f"{seems} Say --markup {seen} if that is wrong."
    return ""


def _import_judgments(
    store: Store, request: JudgmentsRequest, progress: Progress, author: str
) -> JudgmentImport | JudgeImport:
    """Judgments of people, or of the option `judge`, which is not a person."""
    fields = request.columns_of(
        JudgmentFields,
        date_order=request.date_order,
        annotator_map=parse_annotator_map(request.annotator_map or ""),
        annotator_columns=dict(request.annotator_columns or {}),
        annotator_name=request.annotator or None,
        grade_given=request.grade,
    )
    written = (request.grade_map or "").strip()
    common: dict[str, Any] = {
        "grade_map": parse_grade_map(written) if written else None,
        "skip_unknown": request.skip_unknown,
        "progress": progress,
        "author": author,
    }
    if request.judge is not None:
        return import_judge(store, request.file, request.judge, fields, request.layout, **common)
    common |= {"about": request.about, "round_name": request.round}
    return import_judgments(store, request.file, fields, request.layout, **common)


def _import_decisions(store: Store, request: DecisionsRequest, progress: Progress, author: str) -> Decided:
    fields = request.columns_of(DecisionFields)
    lines = read_decision_lines(request.file, fields, request.reason, request.layout, progress)
    return decide_many(store, lines, author, request.every_pair, request.file)


def _import_queries(store: Store, request: QueriesRequest, progress: Progress, author: str) -> QueryImport:
    fields = request.columns_of(QueryFields)
    return import_queries(store, request.file, fields, request.layout, progress, author, withdraw_outside)


def _import_answers(
    store: Store, request: AnswersRequest, progress: Progress, author: str
) -> QueryItemsImport:
    fields, skip = request.columns_of(ReferenceFields), request.skip_unknown
    return import_answers(store, request.file, fields, request.layout, skip, progress, author)


def _import_nuggets(
    store: Store, request: NuggetsRequest, progress: Progress, author: str
) -> QueryItemsImport:
    fields, skip = request.columns_of(NuggetFields), request.skip_unknown
    return import_nuggets(store, request.file, fields, request.layout, skip, progress, author)


def _import_run(store: Store, request: RunRequest, progress: Progress, author: str) -> RunImport:
    return import_run(
        store,
        request.file,
        request.name,
        request.columns_of(RunFields),
        request.layout,
        skip_unknown=request.skip_unknown,
        skip_repeated=request.skip_repeated,
        progress=progress,
        author=author,
    )


def _import_traffic(store: Store, request: TrafficRequest, progress: Progress, author: str) -> TrafficImport:
    """Import a log, be it a file or a folder."""
    fields = request.columns_of(TrafficFields, date_order=request.date_order)
    import_log = import_log_folder if request.file.is_dir() else import_traffic
    return import_log(store, request.file, fields, request.layout, progress, request.rules, author)


class DryRun(NamedTuple):
    """What an import would do, or why it would be refused.

    Attributes
    ----------
    outcome: None if it would be refused.
    problems: the first ones, each its place, such as "line 3", or '', and what is wrong.
    more: how many others there are.
    way_out: what to do about them, a sentence a line.
    """

    outcome: ImportOutcome | None
    problems: list[tuple[str, str]]
    more: int = 0
    way_out: str = ""

    @property
    def sentences(self) -> list[str]:
        """What the import would do, in one sentence."""
        return [self.outcome.sentence if self.outcome else "The file cannot be imported as it is."]

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> DryRun:
        """A dry run as `to_json_value` has written it."""
        outcome = written["outcome"]
        problems = [(place, sentence) for place, sentence in written["problems"]]
        return cls(outcome and ImportOutcome(**outcome), problems, written["more"], written["way_out"])


def import_file(store: Store, request: ImportRequest, progress: Progress, by: str) -> Any:
    """Import what is asked for, in one transaction; errors name options of the command line.

    The result is what the import of the kind returns; each has an `outcome`.

    Raises
    ------
    InputError: the file, or what is asked, cannot be taken.
    NotFoundError, RefusedError: as the import of the kind says.
    """
    return WORK[request.what](store, request, progress, by)


def carry_out(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> ImportOutcome:
    """Import what is asked for, in one transaction, for the lead of that name.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    InputError: the file, or what is asked, cannot be taken. It names the file as the person did.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        outcome: ImportOutcome = import_file(store, request, progress, by).outcome
    except (InputError, RefusedError) as error:
        dry = refused(error, request)
        name = Path(request.source).name
        sentences = [
            f"{name}, {place}: {sentence}" if place else sentence for place, sentence in dry.problems
        ]
        raise InputError(sentences, way_out=dry.way_out) from error
    return _for_a_page(outcome, request)


def dry_run(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> DryRun:
    """Carry an import out and undo it; what would refuse it is reported, line by line.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        outcome = import_file(Rehearsal(store), request, progress, by).outcome
    except (InputError, NotFoundError, RefusedError) as error:
        return refused(error, request)
    return DryRun(_for_a_page(outcome, request), [])


def refused(error: CurationError, request: ImportRequest) -> DryRun:
    """The problems of an error, in words of a page."""
    if not isinstance(error, InputError):
        return DryRun(None, [("", on_a_page(error.found, request))])
    problems = []
    for problem in error.problems[:MAX_PROBLEMS]:
        placed = _PLACE.match(problem)
        place, sentence = placed.groups() if placed else ("", problem)
        sentence = on_a_page(sentence, request)
        if not place and sentence.startswith(_VERBS):
            sentence = f"{Path(request.source).name} {sentence[:1].lower()}{sentence[1:]}"
        problems.append((place, sentence))
    more = len(error.problems) - len(problems)
    ways_out = [on_a_page(line, request) for line in error.way_out.splitlines()]
    return DryRun(None, problems, more, "\n".join(ways_out))


def on_a_page(sentence: str, request: ImportRequest) -> str:
    """A sentence about a file that is to be imported, without commands and options; it begins with a
    capital.
    """
    for words, instead in _OTHERWISE.items():
        sentence = sentence.replace(words, instead)
    sentence = _NAMING.sub(r"choose \1 in ", sentence)
    sentence = _COMMAND.sub("", sentence).replace("`", "")
    fields = {field.name: field.label for field in file_fields(request.record)}
    sentence = _COLUMN.sub(lambda match: f"“{fields.get(match[1], match[1])}”", sentence)
    labels = {option.spelling: option.label for option in options_of(type(request))}
    sentence = _OPTION.sub(
        lambda match: f"“{labels.get(match[0], match[0][2:].replace('-', ' '))}”", sentence
    )
    return sentence[:1].upper() + sentence[1:]


def _for_a_page(outcome: ImportOutcome, request: ImportRequest) -> ImportOutcome:
    return outcome._replace(remarks=[on_a_page(remark, request) for remark in outcome.remarks])


def parameters_of(request: ImportRequest, **others: str) -> dict[str, Any]:
    """The parameters of a job that checks or imports what is asked for."""
    return {"what": request.what, "request": written(request), **others}


def _request(parameters: Parameters) -> ImportRequest:
    return read_request(REQUESTS[parameters["what"]], parameters["request"])


def _check(store: Store, parameters: Parameters, progress: Progress, author: str) -> DryRun:
    """Rehearse an import; what it finds is in the file `result`."""
    rehearsal = dry_run(store, _request(parameters), author, progress)
    write_findings(Path(parameters["result"]), rehearsal)
    return rehearsal


def _import(store: Store, parameters: Parameters, progress: Progress, author: str) -> ImportOutcome:
    """Import a file; what was uploaded is removed whatever comes of it."""
    try:
        return carry_out(store, _request(parameters), author, progress)
    finally:
        if parameters["folder"]:
            rmtree(parameters["folder"], ignore_errors=True)


def write_findings(path: Path, rehearsal: DryRun) -> None:
    """Write a dry run for `read_findings`: whole, or not at all."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(to_json_value(rehearsal)), encoding="utf-8")
    new.replace(path)


def read_findings(path: Path) -> DryRun | None:
    """The dry run in a file, or None without one yet."""
    try:
        return DryRun.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


WORK: dict[str, Callable[[Store, Any, Progress, str], Any]] = {
    "corpus": _import_corpus,
    "traffic": _import_traffic,
    "queries": _import_queries,
    "runs": _import_run,
    "judgments": _import_judgments,
    "decisions": _import_decisions,
    "answers": _import_answers,
    "nuggets": _import_nuggets,
}
"""Kind of file → its import."""
OPERATIONS = {
    CHECK: Operation(
        dict[str, Any], _check, doing="a file is being checked", kept="Nothing was changed: check it again."
    ),
    IMPORT: Operation(
        dict[str, Any],
        _import,
        doing="a file is being imported",
        kept="Nothing was imported: import it again.",
        stage="import",
    ),
}
