"""The import of any kind of file, which `goldgrade import` and the page Import start with a request.

Errors of these functions name options of the command line; `operations.import_wording` rewrites them for the
page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from curation.core.errors import InputError
from curation.core.progress import Progress
from curation.evaluation.llm_judges.judge_import import JudgeImport, import_judge
from curation.guides.guide import DEFAULT_PRESENTATION, BodyKind, PresentationTemplate, current_guide
from curation.guides.guide_editing import replace_presentation
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.external_corpus import link_corpus
from curation.ingest.importers.nuggets import import_nuggets
from curation.ingest.importers.query_import import QueryImport, import_queries
from curation.ingest.importers.query_items import QueryItemsImport
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.run_import import RunImport, import_run
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.option_maps import parse_annotator_map, parse_grade_map
from curation.ingest.preview import SAMPLED_ROWS, preview_file
from curation.ingest.readers.formats import DOCUMENT_FILES
from curation.ingest.request_options import MARKUPS
from curation.ingest.requests import (
    AnswersRequest,
    CorpusRequest,
    DecisionsRequest,
    ImportRequest,
    JudgmentsRequest,
    QueriesRequest,
    RunRequest,
    TrafficRequest,
)
from curation.labeling.consensus.adjudication import DecisionImport, import_decisions
from curation.labeling.imported import JudgmentImport, import_judgments
from curation.labeling.presentation.guess_markup import guess_markup
from curation.labeling.rounds.items import withdraw_outside
from curation.labeling.rounds.use_guide import KEEP, use_guide
from curation.store import Store
from curation.store.documents import first_documents


def import_file(store: Store, request: ImportRequest, progress: Progress, by: str) -> Any:
    """Import a file in one transaction; errors name options of the command line.

    The result is the record of the kind's import, which has an `outcome`.

    Raises
    ------
    InputError: the file or an option of the request cannot be taken.
    NotFoundError, RefusedError: see the import of the kind.
    """
    return IMPORTERS[request.what](store, request, progress, by)


def _import_corpus(store: Store, request: CorpusRequest, progress: Progress, by: str) -> CorpusImport:
    """Import documents, and set the markup in which the guide shows their text."""
    markup = request.markup
    if markup not in (None, *MARKUPS):
        raise InputError(f"--markup is {markup!r}; expected one of {', '.join(MARKUPS)}.")
    fields = request.columns_of(titles_only=request.titles_only)
    if request.in_place:
        if request.add:
            raise InputError(
                "--in-place cannot be combined with --add. Put all files of the corpus into one folder."
            )
        path, layout = request.path, request.layout
        imported = link_corpus(store, path, fields, layout, progress, by, withdraw_outside)
        with store.reading() as cursor:
            text_markup = guess_markup(document.body for document in first_documents(cursor, SAMPLED_ROWS))
    else:
        imported = import_corpus(
            *(store, request.file, fields, request.layout),
            add=request.add,
            progress=progress,
            author=by,
            withdraw=withdraw_outside,
        )
        preview = preview_file(request)
        is_folder = preview.format == DOCUMENT_FILES
        text_markup = "file" if is_folder else guess_markup(preview.texts_in(imported.fields.body))
    shown = tuple(field for field in DEFAULT_PRESENTATION.fields if getattr(imported.fields, field.field))
    template = PresentationTemplate(fields=shown)
    requested = cast("BodyKind | None", markup)
    return replace(imported, shown=_set_markup(store, requested, text_markup, template, by))


def _set_markup(
    store: Store, markup: BodyKind | None, text_markup: BodyKind, template: PresentationTemplate, by: str
) -> str:
    """Change the guide so that it shows documents in the requested markup, or in their text's markup.

    Returns a sentence on the change or on a doubt; '' without either.

    Parameters
    ----------
    markup: the requested markup; None keeps the markup of a guide that has a presentation.
    text_markup: the markup that the text looks like.
    template: the presentation of a guide that has none yet.
    """
    guide = store.read(current_guide)
    presentation = guide.presentation
    new_markup: BodyKind = markup or (text_markup if presentation is None else presentation.body)
    if new_markup != (presentation or PresentationTemplate()).body:
        new_presentation = (presentation or template).model_copy(update={"body": new_markup})
        changed = replace_presentation(guide, new_presentation)
        change = use_guide(store, changed, by, KEEP, f"The text of the corpus is {MARKUPS[new_markup]}.")
        remark = f" Open rounds keep their guide: {', '.join(change.kept)}." if change.kept else ""
        words = f"documents as {MARKUPS[new_markup]}"
        if new_markup == "file":
            words = "each document in the markup of its file"
        return f"The guide now shows {words}.{remark}"
    if markup is None and new_markup != text_markup:
        doubt = f"The text looks like {MARKUPS[text_markup]}, but the guide shows it as {new_markup}."
        return f"{doubt} If the guide is wrong, use --markup {text_markup}."
    return ""


def _import_judgments(
    store: Store, request: JudgmentsRequest, progress: Progress, by: str
) -> JudgmentImport | JudgeImport:
    """Import people's judgments, or the grades of the judge named in the request."""
    fields = request.columns_of(
        date_order=request.date_order,
        annotator_map=parse_annotator_map(request.annotator_map or ""),
        annotator_columns=dict(request.annotator_columns or {}),
        annotator_name=request.annotator or None,
        grade_given=request.grade,
    )
    grade_map = (request.grade_map or "").strip()
    options: dict[str, Any] = {"skip_unknown": request.skip_unknown, "progress": progress, "author": by}
    options["grade_map"] = parse_grade_map(grade_map) if grade_map else None
    if request.judge is not None:
        return import_judge(store, request.file, request.judge, fields, request.layout, **options)
    options |= {"about": request.about, "round_name": request.round}
    return import_judgments(store, request.file, fields, request.layout, **options)


def _import_decisions(store: Store, request: DecisionsRequest, progress: Progress, by: str) -> DecisionImport:
    columns = request.columns_of()
    lines = read_decision_lines(request.file, columns, request.reason, request.layout, progress)
    return import_decisions(store, lines, by, request.every_pair, request.file)


def _import_queries(store: Store, request: QueriesRequest, progress: Progress, by: str) -> QueryImport:
    columns = request.columns_of()
    return import_queries(store, request.file, columns, request.layout, progress, by, withdraw_outside)


def _import_answers(store: Store, request: AnswersRequest, progress: Progress, by: str) -> QueryItemsImport:
    """Import reference answers or nuggets."""
    run: Callable[..., QueryItemsImport] = import_nuggets if request.what == "nuggets" else import_answers
    columns = request.columns_of()
    return run(store, request.file, columns, request.layout, request.skip_unknown, progress, by)


def _import_run(store: Store, request: RunRequest, progress: Progress, by: str) -> RunImport:
    return import_run(
        *(store, request.file, request.name, request.columns_of(), request.layout),
        skip_unknown=request.skip_unknown,
        skip_repeated=request.skip_repeated,
        progress=progress,
        author=by,
    )


def _import_traffic(store: Store, request: TrafficRequest, progress: Progress, by: str) -> TrafficImport:
    columns = request.columns_of(date_order=request.date_order)
    return import_traffic(store, request.file, columns, request.layout, progress, request.rules, by)


IMPORTERS: dict[str, Callable[[Store, Any, Progress, str], Any]] = {
    "corpus": _import_corpus,
    "traffic": _import_traffic,
    "queries": _import_queries,
    "runs": _import_run,
    "judgments": _import_judgments,
    "decisions": _import_decisions,
    "answers": _import_answers,
    "nuggets": _import_answers,
}
"""The import of each kind of file."""
