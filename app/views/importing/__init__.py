"""Import: the page on which a lead chooses a file, checks it and imports it."""

from __future__ import annotations

from contextlib import nullcontext
from html import escape
from typing import Literal

import streamlit as st

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.next_stage import show_action_link
from app.page_context import PageContext, read_context
from app.uploads import find_stored_upload
from app.views.importing import dry_run, file_step, import_form
from curation.core.errors import CurationError
from curation.ingest.holdings import Holding, read_holdings
from curation.ingest.preview import guess_kind, preview_file
from curation.ingest.readers.formats import DOCUMENT_FILES, FileLayout, find_corpus_file
from curation.ingest.requests import REQUESTS, CorpusRequest, ImportRequest, QueriesRequest
from curation.operations.import_jobs import CHECK, IMPORT
from curation.operations.start import is_new
from curation.operations.workflow.stage import Action
from curation.store import Annotator

_KIND_IN_ADDRESS = "kind in the address"
MAIN_KINDS = ("corpus", "traffic", "queries")
"""The kinds of files that a new project needs; the others are behind `OTHER_KINDS`."""
OTHER_KINDS = "other"
_FIRST_ROUND, _HOME = Action("Open the first round", "home", ""), Action("Continue on Home", "home", "")
_BUILD_POOL = Action("Build a pool", "queries", "", {"part": "Pool"})
_SEE_QUERIES = Action("See the queries", "queries", "", {"part": "All queries"})
NEXT_ACTIONS = {
    "corpus": Action("Import traffic", "import", "", {"kind": "traffic"}),
    "traffic": Action("Draw a sample", "queries", "", {"part": "Sample"}),
    "queries": _BUILD_POOL,
    "runs": _BUILD_POOL,
    "judgments": Action("See the agreement", "agreement", ""),
    "decisions": Action("See the disputed pairs", "adjudicate", ""),
    "answers": _SEE_QUERIES,
    "nuggets": _SEE_QUERIES,
}
"""Kind of file → the next action after the import of this kind of file."""


def show(annotator: Annotator) -> None:
    ui.purpose("Choose a file and check it. You see what the import would do before anything is imported.")
    context = read_context(annotator, (CHECK, IMPORT))
    with context.store.reading() as cursor:
        holdings = read_holdings(cursor)
    file = find_stored_upload(context.store.path, annotator.name)
    if file is None or _is_importing(context):
        _show_holdings(holdings)
    if _is_importing(context):
        if file is not None:
            ui.note(
                f"Your file {file.name} is uploaded. You can import it when the current import has finished."
            )
        return
    kind = _ask_kind(holdings)
    if file is None:
        _show_last_import(context)
        file_step.ask_file(context, kind)
        if kind is QueriesRequest:
            file_step.ask_queries(context)
        return
    file_step.show_file(context, file)
    if kind is CorpusRequest and find_corpus_file(file.path, FileLayout())[1].format == DOCUMENT_FILES:
        documents = import_form.ask_documents(file)
        dry_run.show(context, file, documents, dry_run.ask(context, file, documents, is_automatic=True))
        return
    request = import_form.ask_layout(kind, file)
    try:
        preview = preview_file(request)
    except CurationError as error:
        dry_run.show_unreadable(error, file, request)
        _hint_at_other_kind(request)
        return
    _hint_at_other_kind(request)
    left, right = st.columns([3, 2], gap="large")
    with left:
        import_form.show_rows(preview)
    with right:
        request = import_form.ask_request(context, request, preview)
        findings = dry_run.ask(context, file, request)
    dry_run.show(context, file, request, findings)


PAGE = AppPage(10, "Import", "import", LEADS, show, menu=DATA)


def _is_importing(context: PageContext) -> bool:
    """Return whether an import is running; the page then offers no second import."""
    return context.is_running(context.jobs.get(IMPORT))


def _show_holdings(holdings: list[Holding]) -> None:
    """Show how many records of each kind the project has, and the last import of each kind."""
    items = ""
    for holding in filter(lambda holding: holding.number, holdings):
        title, unit = escape(REQUESTS[holding.what].title), escape(holding.unit)
        records = f"<b>{holding.number:,}</b> {unit}{_describe_last_import(holding)}"
        items += f"<div><dt>{title}</dt><dd>{records}</dd></div>"
    if items:
        st.html(f'<dl class="gs-holdings">{items}</dl>')


def _describe_last_import(holding: Holding) -> str:
    if holding.at is None:
        return ""
    source = f'<bdi dir="auto">{escape(holding.source)}</bdi>, ' if holding.source else ""
    return f"<small>{source}{escape(holding.by or '')}, {holding.at:%d %b %Y}</small>"


def _ask_kind(holdings: list[Holding]) -> type[ImportRequest]:
    first_missing = next((holding.what for holding in holdings if not holding.number), holdings[0].what)
    _follow_address(first_missing)
    what = st.segmented_control(
        "What is in the file",
        [*MAIN_KINDS, OTHER_KINDS],
        required=True,
        format_func=lambda name: "Something else" if name == OTHER_KINDS else REQUESTS[name].title,
        key="kind",
    )
    if what == OTHER_KINDS:
        others = [name for name in REQUESTS if name not in MAIN_KINDS]
        st.session_state.setdefault("other kind", others[0])
        what = st.segmented_control(
            "Which", others, required=True, format_func=lambda name: REQUESTS[name].title, key="other kind"
        )
    kind = REQUESTS[what or holdings[0].what]
    st.query_params["kind"] = st.session_state[_KIND_IN_ADDRESS] = kind.what  # for a reload
    holding = next(holding for holding in holdings if holding.what == kind.what)
    ui.note(f"{kind.description} The project has {holding.number:,} {holding.unit}.")
    return kind


def _follow_address(default: str) -> None:
    """Choose the kind of file that the address names; links use the kinds' ids, and controls use their
    titles."""
    name, last_what = st.query_params.get("kind", ""), st.session_state.get(_KIND_IN_ADDRESS)
    what = next((what for what, kind in REQUESTS.items() if name in (what, kind.title.casefold())), None)
    if name and what is None:
        st.info(
            f"The address names “{ui.literal(name)}”, which is not a kind of file. Choose a kind from "
            "this list."
        )
    if what is None or (what == last_what and "kind" in st.session_state):
        what = default if "kind" not in st.session_state else None
    if what is not None:
        st.session_state["kind"] = what if what in MAIN_KINDS else OTHER_KINDS
        if what not in MAIN_KINDS:
            st.session_state["other kind"] = what


def _hint_at_other_kind(request: ImportRequest) -> None:
    likely = guess_kind(request)
    if likely is not None and likely != request.what:
        st.info(
            "This looks like a different kind of file. If it is, choose Something else › "
            f"{REQUESTS[likely].title} above."
        )


def _show_last_import(context: PageContext) -> None:
    """Show the result of the last import, and links to the next actions; in a new project, the first link is
    to Home."""
    context.show_result(IMPORT)
    job = context.jobs.get(IMPORT)
    if job is None or job.outcome != "done":
        return
    what = job.parameters["what"]
    action = NEXT_ACTIONS[what]
    with context.store.reading() as cursor:
        leads_home = what in MAIN_KINDS and is_new(cursor)
    if leads_home:
        with st.container(key="first-stage"):
            show_action_link(_FIRST_ROUND if context.find_problem("start") is None else _HOME)
    if action.page == PAGE.address:  # a link to the current page would not choose the kind of file
        kind = {"kind": action.parameters["kind"]}
        emphasis: Literal["primary", "secondary"] = "secondary" if leads_home else "primary"
        st.button(action.label, type=emphasis, on_click=st.session_state.update, args=(kind,))
    else:
        with nullcontext() if leads_home else st.container(key="first-stage"):
            show_action_link(action)
    if what == "corpus":
        show_action_link(
            Action("See how documents are shown", "settings", "", {"part": "Guide", "show": "Document"})
        )
