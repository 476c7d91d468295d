"""Import, the form: how a file is read, which columns hold which fields, and the options of the import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.uploads import StoredUpload
from curation.guides.guide import current_guide
from curation.ingest.preview import FilePreview
from curation.ingest.readers.fields import FileField, file_fields
from curation.ingest.requests import CorpusRequest, ImportRequest, RunRequest, set_columns
from curation.labeling.presentation.guess_markup import guess_markup
from curation.people.annotators import list_annotators

ImportForm = Form[ImportRequest]
ColumnPicks = dict[str, Any]
FIXED_OPTIONS = {
    "runs": ("name", "skip_unknown", "skip_repeated"),
    "decisions": ("reason", "every_pair"),
    "answers": ("skip_unknown",),
    "nuggets": ("skip_unknown",),
}
"""Kind of file → the options of its import that do not depend on the file."""
LAYOUT_FIELDS = ("path", "source", "format", "encoding", "columns", "no_header")
GRADE = "grade"
"""The field of grades, which may instead be in a column for each person, or be one grade for a whole file."""
NONE = "–"
FIELDS_IN_ROW = 2
BY_COLUMN, COLUMN_OF_EACH, ONE_PERSON, JUDGE = (
    "One column names the annotator",
    "Each person has a column",
    "One person gave all grades",
    "An automatic judge gave all grades",
)


def make_layout_form(kind: type[ImportRequest], file: StoredUpload) -> ImportForm:
    """Make the import form for a file in this format."""
    return Form(kind, key=file.folder.name)


def ask_layout(kind: type[ImportRequest], file: StoredUpload) -> ImportRequest:
    """Ask for the format of the file; return the request for the file in that format."""
    form = make_layout_form(kind, file)
    with st.expander("How the file is read"):
        for column, name in zip(st.columns(3), ("format", "encoding", "no_header"), strict=True):
            with column:
                form.ask(name)
        if form.value("no_header"):
            form.ask("columns")
    return form.request(path=str(file.path), source=file.name)


def ask_documents(file: StoredUpload) -> CorpusRequest:
    """Ask how a folder or an archive of documents is imported; columns are not chosen for its files."""
    form = Form(CorpusRequest, CorpusRequest(markup="file"), file.folder.name)
    form.ask("add")
    return form.request(path=str(file.path), source=file.name)


def show_rows(preview: FilePreview) -> None:
    """Show the file's first rows as read in the chosen format."""
    layout = preview.format if preview.encoding == "utf-8" else f"{preview.format}, {preview.encoding}"
    with st.container(key="rows"):
        rows = "row" if len(preview.rows) == 1 else f"{len(preview.rows)} rows"
        ui.table(f"The first {rows}, read as {layout}", preview.heads, preview.rows)


def ask_request(context: PageContext, request: ImportRequest, preview: FilePreview) -> ImportRequest:
    """Ask for the columns and other options for this kind of file; return the complete import request."""
    request = replace(request, encoding=preview.encoding)
    key, fields = f"{request.what} {request.path}", file_fields(request.record)
    picks: ColumnPicks = {}
    if preview.columns:
        picks = _ask_columns([field for field in fields if not field.rare], preview, key)
        if rare := [field for field in fields if field.rare]:
            with st.expander("Further columns"):
                picks |= _ask_columns(rare, preview, key)
    start, start_key = _choose_start(context, request, preview, picks)
    form = Form(type(request), start, f"{key} {start_key}", {"annotator": _list_names(context)})
    form.ask(*FIXED_OPTIONS.get(request.what, ()))
    other_values: dict[str, Any] = {}
    if request.what == "corpus":
        _ask_corpus(form, preview, picks)
    elif request.what == "traffic":
        _ask_traffic(form, picks)
    elif request.what == "judgments":
        other_values = _ask_judgments(context, form, preview, picks, key)
    other_values |= {name: getattr(request, name) for name in LAYOUT_FIELDS}
    return set_columns(form.request(**other_values), picks)


def _choose_start(
    context: PageContext, request: ImportRequest, preview: FilePreview, picks: ColumnPicks
) -> tuple[ImportRequest, str]:
    """Return the initial values of the form, and the part of its key that depends on them.

    The initial name of a run is the name of its file. The initial markup of texts is the markup found in the
    first rows, or else the markup that the guide states.
    """
    if isinstance(request, RunRequest):
        return replace(request, name=Path(request.source).name.partition(".")[0]), ""
    if not isinstance(request, CorpusRequest) or not picks.get("body"):
        return request, ""
    with context.store.reading() as cursor:
        template = current_guide(cursor).presentation
    guessed = guess_markup(preview.texts_in(picks["body"]))
    markup = template.body if template is not None and guessed == "plain" else guessed
    return replace(request, markup=markup), markup


def _ask_columns(fields: Sequence[FileField], preview: FilePreview, key: str) -> ColumnPicks:
    picks: ColumnPicks = {}
    for field, cell in zip(fields, _make_cells(len(fields)), strict=False):
        with cell:
            picks[field.name] = ask_column(field, preview, key)
    return picks


def _make_cells(count: int) -> list[DeltaGenerator]:
    """Return cells for form fields, in rows; there are at least as many cells as fields."""
    return [cell for _ in range(0, count, FIELDS_IN_ROW) for cell in st.columns(FIELDS_IN_ROW)]


def ask_column(field: FileField, preview: FilePreview, key: str) -> str | list[str]:
    """Ask for a field's column or columns; "" if the file has no column for it."""
    label = f"{field.label} (needed)" if field.required_noun else field.label
    proposed = preview.fields.get(field.name)
    if field.several:
        return st.multiselect(label, preview.columns, default=proposed, key=f"{field.name} {key}")
    choices = [NONE, *preview.columns]
    picked = st.selectbox(label, choices, index=choices.index(proposed or NONE), key=f"{field.name} {key}")
    if picked == NONE and field.required_noun and field.name != GRADE:
        st.html(f'<p class="gs-missing">Choose the column that holds {field.required_noun}.</p>')
    return "" if picked == NONE else picked


def _ask_corpus(form: ImportForm, preview: FilePreview, picks: ColumnPicks) -> None:
    form.ask("add")
    if preview.columns and not picks.get("body"):
        st.warning(
            "No column is chosen as Text, so people would judge documents by the title alone. Choose a "
            "column as Text.",
            icon=":material/warning:",
        )
        form.ask("titles_only")
    elif picks.get("body"):
        form.ask("markup")


def _ask_traffic(form: ImportForm, picks: ColumnPicks) -> None:
    with st.expander("Dates and cleaning"):
        left, middle, right = st.columns(3)
        with left:
            form.ask(*(["date_order"] if picks.get("time") else []), "words", "characters")
        with middle:
            form.ask("repeat_minutes", "personal_data")
        with right:
            form.ask("queries_a_minute", "queries_a_day")
        ui.note("0 turns a rule off.")
        form.ask("known_rows")


def _ask_judgments(
    context: PageContext, form: ImportForm, preview: FilePreview, picks: ColumnPicks, key: str
) -> dict[str, Any]:
    """Ask who gave the judgments; return the options that have no widgets, and correct the chosen columns."""
    other_values: dict[str, Any] = {}
    likely = ONE_PERSON
    if picks.get("annotator"):
        likely = BY_COLUMN
    elif preview.columns and not picks.get("grade"):
        likely = COLUMN_OF_EACH
    ways = [BY_COLUMN, COLUMN_OF_EACH, ONE_PERSON, JUDGE] if preview.columns else [ONE_PERSON, JUDGE]
    how = st.selectbox(
        "Where the file names the annotators", ways, index=ways.index(likely), key=f"how {key}"
    )
    if how != BY_COLUMN:
        picks["annotator"] = ""
    if how == COLUMN_OF_EACH:
        picks["grade"] = ""
        other_values["annotator_columns"] = _ask_people_of_columns(context, preview, key)
    elif how == ONE_PERSON:
        form.ask("annotator")
    elif how == JUDGE:
        form.ask("judge")
    with st.expander("Other scales, unknown names, changed documents, repeated judging"):
        form.ask("grade_map", *(["annotator_map"] if how != JUDGE else []), "grade", "skip_unknown")
        form.ask(
            *(["about", "round"] if how != JUDGE else []), *(["date_order"] if picks.get("time") else [])
        )
    return other_values


def _ask_people_of_columns(context: PageContext, preview: FilePreview, key: str) -> dict[str, str]:
    """Ask which columns hold grades; return column → the person who gave its grades."""
    words = ("agent", "rater", "annot")
    likely = [name for name in preview.columns if any(word in name.lower() for word in words)]
    columns = st.multiselect("Columns with grades", preview.columns, default=likely, key=f"columns of {key}")
    names = _list_names(context)
    people: dict[str, str] = {}
    for column, cell in zip(columns, _make_cells(len(columns)), strict=False):
        label, choices = (
            f"Who gave the grades in “{ui.literal(column)}”",
            list(dict.fromkeys([column, *names])),
        )
        people[column] = cell.selectbox(label, choices, accept_new_options=True, key=f"{column} of {key}")
    return people


def _list_names(context: PageContext) -> list[str]:
    with context.store.reading() as cursor:
        return [annotator.name for annotator in list_annotators(cursor)]
