"""Import, the form: the format of the file, the first rows, the columns for the fields, and other options."""

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
from app.uploads import HeldFile
from curation.guides.guide import current_guide
from curation.ingest.preview import FilePreview
from curation.ingest.readers.fields import FileField, file_fields
from curation.ingest.requests import CorpusRequest, ImportRequest, RunRequest, with_columns
from curation.labeling.presentation.markup import guess_markup
from curation.people.annotators import list_annotators

ImportForm = Form[ImportRequest]
ColumnPicks = dict[str, Any]
ASKED = {
    "runs": ("name", "skip_unknown", "skip_repeated"),
    "decisions": ("reason", "every_pair"),
    "answers": ("skip_unknown",),
    "nuggets": ("skip_unknown",),
}
"""Kind of file → the options of its import that do not depend on the file."""
NONE = "–"
AT_ONCE = 2
"""The number of form fields side by side."""
EACH, COLUMNS, ONE, JUDGE = (
    "A column says who",
    "A column for each person",
    "One person gave all",
    "A judge that is not a person",
)


def layout_form(kind: type[ImportRequest], file: HeldFile) -> ImportForm:
    """Make the import form for a file of this format."""
    return Form(kind, key=file.folder.name)


def ask_layout(kind: type[ImportRequest], file: HeldFile) -> ImportRequest:
    """Ask for the format of the file; return the request for the file in that format."""
    form = layout_form(kind, file)
    with st.expander("How the file is read"):
        for column, name in zip(st.columns(3), ("format", "encoding", "no_header"), strict=True):
            with column:
                form.ask(name)
        if form.value("no_header"):
            form.ask("columns")
    return form.request(path=str(file.path), source=file.name)


def show_rows(preview: FilePreview) -> None:
    """Show the first rows of the file as the chosen format reads them."""
    read = preview.format if preview.encoding == "utf-8" else f"{preview.format}, {preview.encoding}"
    with st.container(key="rows"):
        rows = "row" if len(preview.rows) == 1 else f"{len(preview.rows)} rows"
        ui.table(f"The first {rows}, read as {read}", preview.heads, preview.rows)


def ask_request(context: PageContext, asked: ImportRequest, preview: FilePreview) -> ImportRequest:
    """Ask for the columns and the other options of this kind of file; return the complete import request."""
    asked = replace(asked, encoding=preview.encoding)
    key, fields = f"{asked.what} {asked.path}", file_fields(asked.record)
    picks: ColumnPicks = {}
    if preview.columns:
        picks = _pick_all([field for field in fields if not field.rare], preview, key)
        if rare := [field for field in fields if field.rare]:
            with st.expander("Further columns"):
                picks |= _pick_all(rare, preview, key)
    start, more = _start(context, asked, preview, picks)
    form = Form(type(asked), start, f"{key} {more}", {"annotator": _names(context)})
    form.ask(*ASKED.get(asked.what, ()))
    by_hand: dict[str, Any] = {}
    if asked.what == "corpus":
        _ask_corpus(form, preview, picks)
    elif asked.what == "traffic":
        _ask_traffic(form, picks)
    elif asked.what == "judgments":
        by_hand = _ask_judgments(context, form, preview, picks, key)
    layout = {name: getattr(asked, name) for name in ("format", "encoding", "columns", "no_header")}
    request = form.request(path=asked.path, source=asked.source, **layout, **by_hand)
    return with_columns(request, picks)


def _start(
    context: PageContext, asked: ImportRequest, preview: FilePreview, picks: ColumnPicks
) -> tuple[ImportRequest, str]:
    """Return the initial values of the form, and the part of the form's key that depends on these values.

    The initial name of a run is the name of its file. The initial markup of texts is the markup found in the
    first rows, or else the markup that the guide states.
    """
    if isinstance(asked, RunRequest):
        return replace(asked, name=Path(asked.source).name.partition(".")[0]), ""
    if not isinstance(asked, CorpusRequest) or not picks.get("body"):
        return asked, ""
    with context.store.reading() as cursor:
        shown = current_guide(cursor).presentation
    seen = guess_markup(preview.texts_in(picks["body"]))
    likely = shown.body if shown is not None and seen == "plain" else seen
    return replace(asked, markup=likely), likely


def _pick_all(fields: Sequence[FileField], preview: FilePreview, key: str) -> ColumnPicks:
    picks: ColumnPicks = {}
    for field, place in zip(fields, _places(len(fields)), strict=False):
        with place:
            picks[field.name] = _pick(field, preview, key)
    return picks


def _places(number: int) -> list[DeltaGenerator]:
    """Return placeholders for form fields in rows, at least as many as there are fields."""
    return [place for _ in range(0, number, AT_ONCE) for place in st.columns(AT_ONCE)]


def _pick(field: FileField, preview: FilePreview, key: str) -> str | list[str]:
    label = f"{field.label} (needed)" if field.needed else field.label
    proposed = preview.fields.get(field.name)
    if field.several:
        return st.multiselect(label, preview.columns, default=proposed, key=f"{field.name} {key}")
    choices = [NONE, *preview.columns]
    picked = st.selectbox(label, choices, index=choices.index(proposed or NONE), key=f"{field.name} {key}")
    return "" if picked == NONE else picked


def _ask_corpus(form: ImportForm, preview: FilePreview, picks: ColumnPicks) -> None:
    form.ask("add")
    if preview.columns and not picks.get("body"):
        st.warning(
            "No column holds the text, so people would judge documents by their titles alone. Choose a "
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
        ui.quiet("0 switches a rule off.")
        form.ask("known_rows")


def _ask_judgments(
    context: PageContext, form: ImportForm, preview: FilePreview, picks: ColumnPicks, key: str
) -> dict[str, Any]:
    """Ask who gave the judgments; return the options that the form has no widgets for, and correct the chosen
    columns.
    """
    by_hand: dict[str, Any] = {}
    usual = EACH if picks.get("annotator") else COLUMNS if preview.columns and not picks.get("grade") else ONE
    ways = [EACH, COLUMNS, ONE, JUDGE] if preview.columns else [ONE, JUDGE]
    how = st.selectbox("How the file says who judged", ways, index=ways.index(usual), key=f"how {key}")
    if how != EACH:
        picks["annotator"] = ""
    if how == COLUMNS:
        picks["grade"] = ""
        by_hand["annotator_columns"] = _people_of_columns(context, preview, key)
    elif how == ONE:
        form.ask("annotator")
    elif how == JUDGE:
        form.ask("judge")
    with st.expander("Other scales, unknown names, changed documents, another pass"):
        form.ask("grade_map", *(["annotator_map"] if how != JUDGE else []), "grade", "skip_unknown")
        form.ask(
            *(["about", "round"] if how != JUDGE else []), *(["date_order"] if picks.get("time") else [])
        )
    return by_hand


def _people_of_columns(context: PageContext, preview: FilePreview, key: str) -> dict[str, str]:
    """Ask which columns hold grades; return column → the person who gave the grades in the column."""
    likely = [
        name for name in preview.columns if any(word in name.lower() for word in ("agent", "rater", "annot"))
    ]
    columns = st.multiselect("Columns with grades", preview.columns, default=likely, key=f"columns of {key}")
    names = _names(context)
    whose: dict[str, str] = {}
    for column, place in zip(columns, _places(len(columns)), strict=False):
        label, people = f"Who gave the grades in “{ui.plain(column)}”", list(dict.fromkeys([column, *names]))
        whose[column] = place.selectbox(label, people, accept_new_options=True, key=f"{column} of {key}")
    return whose


def _names(context: PageContext) -> list[str]:
    with context.store.reading() as cursor:
        return [annotator.name for annotator in list_annotators(cursor)]
