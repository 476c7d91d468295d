"""Import: a page to import documents, query logs, queries, runs, judgments, decisions and answers from
files.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.next_stage import stage_link
from app.page_context import PageContext, read_context
from app.uploads import held_file
from app.views.importing import file_step, import_form, verdict
from curation.core.errors import CurationError
from curation.ingest.holdings import Holding, read_holdings
from curation.ingest.preview import preview_file, seems_to_be
from curation.ingest.requests import REQUESTS, ImportRequest
from curation.operations.import_jobs import CHECK, IMPORT
from curation.operations.workflow.stage import Action
from curation.store import Annotator

_IN_ADDRESS = "kind in the address"
ABOUT = {
    "corpus": "The documents that searches find, such as products, pages and articles; one document a line.",
    "traffic": "A log of people's searches: a query a line, with the time or the number of searches.",
    "queries": "Queries that people will judge, in addition to the queries of the sample.",
    "runs": "The ranked lists of a search system, from which a pool can take documents.",
    "judgments": "Relevance grades from outside the project, given by people or by an automatic judge.",
    "decisions": "Final grades of disputed pairs that a reviewer decided outside the project.",
    "answers": "Reference answers to queries. If a query has several answers, each answer is correct.",
    "nuggets": "Facts (nuggets) that a good answer to a query contains, each marked as vital or okay.",
}
"""Kind of file → a sentence that explains this kind of file to people who do not know it."""
_POOL = Action("Build a pool", "queries", "", {"part": "Pool"})
_QUERIES = Action("See the queries", "queries", "", {"part": "All queries"})
ONWARD = {
    "corpus": Action("Import traffic", "import", "", {"kind": "traffic"}),
    "traffic": Action("Draw a sample", "queries", "", {"part": "Sample"}),
    "queries": _POOL,
    "runs": _POOL,
    "judgments": Action("See the agreement", "agreement", ""),
    "decisions": Action("See the disputed pairs", "adjudicate", ""),
    "answers": _QUERIES,
    "nuggets": _QUERIES,
}
"""Kind of file → the next action after the import of this kind of file."""


def show(annotator: Annotator) -> None:
    ui.lead("Choose a file and check it. You see the effect of an import before anything is imported.")
    context = read_context(annotator, (CHECK, IMPORT))
    with context.store.reading() as cursor:
        holdings = read_holdings(cursor)
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
    asked = import_form.ask_layout(kind, file)
    try:
        preview = preview_file(asked)
    except CurationError as error:
        verdict.show_unreadable(error, file, asked)
        _hint(asked)
        return
    _hint(asked)
    left, right = st.columns([3, 2], gap="large")
    with left:
        import_form.show_rows(preview)
    with right:
        asked = import_form.ask_request(context, asked, preview)
        dry_run = verdict.ask(context, file, asked)
    verdict.show(context, file, asked, dry_run)


PAGE = AppPage(10, "Import", "import", LEADS, show, group=DATA)


def _is_importing(context: PageContext) -> bool:
    """Return whether an import is running; the page then offers no second import."""
    return context.is_running(context.jobs.get(IMPORT))


def _show_holdings(holdings: list[Holding]) -> None:
    lines = "".join(
        f"<div><dt>{escape(REQUESTS[holding.what].title)}</dt><dd><b>{holding.number:,}</b> "
        f"{escape(holding.unit)}"
        f"{_since(holding)}</dd></div>"
        for holding in holdings
    )
    st.html(f'<dl class="gs-holdings">{lines}</dl>')


def _since(holding: Holding) -> str:
    if holding.at is None:
        return ""
    source = f'<bdi dir="auto">{escape(holding.source)}</bdi>, ' if holding.source else ""
    return f"<small>{source}{escape(holding.by or '')}, {holding.at:%d %b %Y}</small>"


def _choose(holdings: list[Holding]) -> type[ImportRequest]:
    _follow_address(next((holding.what for holding in holdings if not holding.number), holdings[0].what))
    chosen = st.segmented_control(
        "What is in the file",
        list(REQUESTS),
        required=True,
        format_func=lambda name: REQUESTS[name].title,
        key="kind",
    )
    kind = REQUESTS[chosen or holdings[0].what]
    st.query_params["kind"] = st.session_state[_IN_ADDRESS] = kind.what  # so that a reload stays here
    holding = next(holding for holding in holdings if holding.what == kind.what)
    ui.quiet(f"{ABOUT[kind.what]} The project has {holding.number:,} {holding.unit}.")
    return kind


def _follow_address(otherwise: str) -> None:
    """Choose the kind of file that the address names; links use the ids of kinds, and controls the titles."""
    given, before = st.query_params.get("kind", ""), st.session_state.get(_IN_ADDRESS)
    asked = next((name for name, kind in REQUESTS.items() if given in (name, kind.title.casefold())), None)
    if given and asked is None:
        st.info(f"There is no kind of file “{ui.plain(given)}”. Choose a kind from this list.")
    if asked and (asked != before or "kind" not in st.session_state):
        st.session_state["kind"] = asked
    elif "kind" not in st.session_state:
        st.session_state["kind"] = otherwise


def _hint(asked: ImportRequest) -> None:
    other = seems_to_be(asked)
    if other is not None and other != asked.what:
        st.info(f"This looks like a different kind of file. If so, choose {REQUESTS[other].title} above.")


def _show_last(context: PageContext) -> None:
    """Show the result of the last import, and a link to the next action."""
    context.show_result(IMPORT)
    job = context.jobs.get(IMPORT)
    if job is not None and job.outcome == "done":
        what = job.parameters["what"]
        onward = ONWARD[what]
        if onward.page == PAGE.address:  # a link to the page that is shown would not choose the kind
            choose = {"kind": onward.parameters["kind"]}
            st.button(onward.label, type="primary", on_click=st.session_state.update, args=(choose,))
        else:
            with st.container(key="first-stage"):
                stage_link(onward)
        if what == "corpus":
            stage_link(
                Action("See how documents are shown", "settings", "", {"part": "Guide", "show": "Document"})
            )
