"""Import: files become the project's documents, traffic, queries, runs, judgments and decisions."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.next_step import step_link
from app.page_context import PageContext, read_context
from app.uploads import held_file
from app.views.importing import file_step, reading, verdict
from curation.core.errors import CurationError
from curation.ingest.picking.file_preview import preview_file, seems_to_be
from curation.ingest.picking.held import HeldKind, held_kinds
from curation.ingest.picking.kinds import FILE_KINDS, FileKind
from curation.ingest.picking.request import ImportRequest
from curation.operations.importing.in_background import CHECK, IMPORT
from curation.operations.workflow import Action
from curation.store import Annotator

_IN_ADDRESS = "kind in the address"


def show(annotator: Annotator) -> None:
    ui.lead("Choose a file and check it: nothing is imported before you have seen what it would do.")
    context = read_context(annotator, (CHECK, IMPORT))
    with context.store.reading() as cursor:
        holdings = held_kinds(cursor)
    file = held_file(context.store.path, annotator.name)
    if file is None or _is_importing(context):
        _show_holdings(holdings)
    if _is_importing(context):
        if file is not None:
            ui.quiet(f"Your file {file.name} is kept: you can import it once this import has ended.")
        return
    kind = _choose(holdings)
    if file is None:
        _show_last(context)
        file_step.show(context, kind)
        return
    file_step.show_held(context, file)
    asked = ImportRequest(kind.name, str(file.path), file.name, **reading.ask_layout(file))
    try:
        found = preview_file(asked)
    except CurationError as error:
        verdict.show_unreadable(error, file, asked)
        _hint(asked, kind)
        return
    _hint(asked, kind)
    left, right = st.columns([3, 2], gap="large")
    with left:
        reading.show_rows(found)
    with right:
        asked = reading.ask_fields(context, asked, found, kind)
        dry_run = verdict.ask(context, file, asked)
    verdict.show(context, file, asked, dry_run)


PAGE = AppPage(10, "Import", "import", LEADS, show, group=DATA)


def _is_importing(context: PageContext) -> bool:
    """Whether an import is at work: one thing at a time."""
    return context.is_running(context.jobs.get(IMPORT))


def _show_holdings(holdings: list[HeldKind]) -> None:
    lines = "".join(
        f"<div><dt>{escape(FILE_KINDS[holding.what].title)}</dt><dd><b>{holding.number:,}</b> "
        f"{escape(holding.unit)}"
        f"{_since(holding)}</dd></div>"
        for holding in holdings
    )
    st.html(f'<dl class="gs-holdings">{lines}</dl>')


def _since(held_kind: HeldKind) -> str:
    if held_kind.at is None:
        return ""
    source = f'<bdi dir="auto">{escape(held_kind.source)}</bdi>, ' if held_kind.source else ""
    return f"<small>{source}{escape(held_kind.by or '')}, {held_kind.at:%d %b %Y}</small>"


def _choose(holdings: list[HeldKind]) -> FileKind:
    _follow_address(next((holding.what for holding in holdings if not holding.number), holdings[0].what))
    chosen = st.segmented_control(
        "What is in the file",
        list(FILE_KINDS),
        required=True,
        format_func=lambda name: FILE_KINDS[name].title,
        key="kind",
    )
    kind = FILE_KINDS[chosen or holdings[0].what]
    st.query_params["kind"] = st.session_state[_IN_ADDRESS] = kind.name  # so that a reload stays here
    held = next(holding for holding in holdings if holding.what == kind.name)
    ui.quiet(f"{kind.about} The project has {held.number:,} {held.unit}.")
    return kind


def _follow_address(otherwise: str) -> None:
    """Choose the kind that a link names. A control bound to the address would know kinds by their titles."""
    given, before = st.query_params.get("kind", ""), st.session_state.get(_IN_ADDRESS)
    asked = next((name for name, kind in FILE_KINDS.items() if given in (name, kind.title.casefold())), None)
    if given and asked is None:
        st.info(f"There is no kind of file “{ui.plain(given)}”. Choose one of these.")
    if asked and (asked != before or "kind" not in st.session_state):
        st.session_state["kind"] = asked
    elif "kind" not in st.session_state:
        st.session_state["kind"] = otherwise


def _hint(asked: ImportRequest, kind: FileKind) -> None:
    other = seems_to_be(asked)
    if other is not None and other != kind.name:
        title = FILE_KINDS[other].title
        st.info(f"This looks like a file of another kind. Choose {title} above if it is one.")


def _show_last(context: PageContext) -> None:
    """How the last import ended, and what comes next."""
    context.ending(IMPORT)
    job = context.jobs.get(IMPORT)
    if job is not None and job.outcome == "done":
        onward = FILE_KINDS[job.parameters["request"]["what"]].next
        label, page, parameters = onward
        if page == PAGE.address:  # a link to the page that is shown already does not choose there
            st.button(label, type="primary", on_click=_choose_kind, args=(parameters["kind"],))
        else:
            with st.container(key="first-step"):
                step_link(Action(label, page, "", parameters))
        if onward is FILE_KINDS["corpus"].next:
            step_link(Action("See how documents are shown", "guide", "", {"show": "Document"}))


def _choose_kind(name: str) -> None:
    st.session_state["kind"] = name
