"""Query: all that is known of one query, its documents, and what a lead does with them.

Rows of other pages that name a query open it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain, count

import streamlit as st
from markupsafe import Markup

from app import ui
from app.acts import Acts, FormState
from app.app_page import REVIEWERS, AppPage
from app.components.links import QUERY, query_link
from app.context import image_hosts, project_store
from app.page_context import submit
from curation.core.digests import digest
from curation.core.text import percent, pluralize
from curation.guides.guide import Guide
from curation.ingest.filters import in_words
from curation.ingest.importers.nuggets import lines_of, nuggets_of_lines, write_nuggets
from curation.labeling.consensus.consensus import PairConsensus
from curation.labeling.consensus.rule import MAJORITY, MEDIAN
from curation.labeling.presentation.drawing import ReadDocument, draw
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.written_answers.proposals import share_sentences
from curation.operations.query_documents import (
    EVALUATED,
    QueryDocument,
    QueryDocuments,
    read_documents,
    sealed_by,
)
from curation.operations.query_facts import QueryFacts, QueryWords, edit_words
from curation.operations.query_history import query_history
from curation.people.annotators import able_to_judge, usual_names
from curation.people.seal_access import unseal
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Cursor, Store

NONE = "No query is named. Open one from a row of another page that names it."
NUGGETS = ("Nuggets, vital", "Nuggets, okay")
PARTS = DOCUMENTS, RELEASES = ("Documents", "Releases")
SOURCES = {"traffic": "from the log", "imported": "imported", "written": "written", "synthetic": "by a model"}
SEALED = "A release seals what people said of this query: grades, votes and decisions are not shown."
NUGGET_FIELDS = ("Facts that a good answer must have, one a line", "Facts that are good to have, one a line")
PROPOSED = "None is a nugget yet: change or drop lines, then save what you keep."
MAX_NAME_LENGTH = 40
"""Characters of a query in the name of its round."""
UNTITLED = "Untitled document"
WITHHELD = (
    "This document is among your own items, and you have still items to grade. Others' grades would not "
    "leave you blind."
)
NO_GRADE = {"disputed": "In dispute", "unjudgeable": "Nobody could tell"}
OLDER = "The votes are about an older text of this document. Nobody has judged the text of now."


def show(annotator: Annotator) -> None:
    query_id = st.query_params.get("id", "")
    if not query_id:
        st.info(NONE)
        return
    store, acts = project_store(), Acts(annotator)
    opening = acts.form(f"open {query_id} {sealed_by(store, query_id)}")
    access = opening.result if annotator.role == "lead" else None
    query_documents = read_documents(store, query_id, annotator, access)
    _header(query_documents)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        # a key of its own: Back to a page with the same key would lose that page's part
        shown = ui.part("Part of the page", PARTS, "shown")
        if annotator.role == "lead":
            edit(store, acts, query_documents.facts)
            send(store, acts, query_documents)
        if not query_documents.is_sealed:
            write(store, acts, query_documents.facts)
    if query_documents.is_sealed:
        ask_why(store, annotator, acts, opening, query_id)
    if shown == RELEASES:
        ui.show(query_history(store, query_id, annotator, access))
    else:
        show_documents(query_documents, st.query_params.get("document", ""))


PAGE = AppPage(98, "Query", QUERY, REVIEWERS, show, shows_title=False, listed=None)


def _header(query_documents: QueryDocuments) -> None:
    facts = query_documents.facts
    asked = "searches not known" if facts.searches is None else f"asked {pluralize(facts.searches, 'time')}"
    about = [SOURCES[facts.source], asked, facts.stratum, facts.part and f"part {facts.part}", facts.query_id]
    labels = "".join(f"<span>{escape(tag)}</span>" for tag in facts.tags)
    needs = "\n".join(filter(None, (facts.words.need, in_words(facts.filter))))
    need = f'<p class="gs-need" dir="auto">{escape(needs)}</p>' if needs else ""
    st.html(
        f'<header class="gs-about"><h1 class="gs-query" dir="auto">{escape(facts.text)}</h1>{need}'
        f'<p class="gs-quiet">{escape("  ·  ".join(filter(None, about)))}{labels}</p></header>'
    )
    if facts.retired:
        ui.quiet(f"Retired: {facts.retired}")
    for title, lines in (
        ("Notes", facts.words.note.splitlines()),
        ("Reference answers", facts.answers),
        *zip(NUGGETS, lines_of(facts.nuggets), strict=True),
    ):
        if lines:
            ui.said(title, *lines)
    if facts.proposals is not None:
        ui.quiet(*share_sentences([facts.proposals]))
    with st.container(horizontal=True, gap="large"):
        shown = query_documents.open
        st.metric("Documents", f"{len(query_documents.documents):,}", width="content")
        if not query_documents.is_sealed:
            st.metric("Judged", f"{len(query_documents.judged):,} of {len(shown):,}", width="content")
            st.metric("Relevant", f"{query_documents.relevant:,}", width="content")
            disputed = sum(pair.how == "disputed" for pair in query_documents.judged)
            st.metric("Disputed", f"{disputed:,}", width="content")
    withheld = len(query_documents.documents) - len(shown)
    if withheld:
        ui.quiet(
            f"{pluralize(withheld, 'document is', 'documents are')} among your own items: what others said "
            "of them is shown, and counted, once you have nothing left to grade."
        )


def edit(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """The need and the notes, to be changed."""
    form = acts.form(f"edit {facts.query_id}")
    with st.popover("Need and notes"), st.form(form.key, border=False):
        need = st.text_area(
            "What the person behind it needs",
            facts.words.need,
            key=f"need {form.key}",
            help="Annotators read it below the query, and releases have it.",
        )
        note = st.text_area(
            "Notes of the team", facts.words.note, key=f"note {form.key}", help="Annotators do not see them."
        )
        if submit("Save", "edit query", form, digest(*facts.words)):
            now = QueryWords(need, note)
            acts.do(form, lambda: edit_words(store, facts.query_id, facts.words, now, acts.by))


def write(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """The nuggets, to be written or changed."""
    form, proposals = acts.form(f"nuggets {facts.query_id}"), facts.proposals
    waiting = proposals.proposed if proposals is not None and proposals.written is None else ()
    kept = {nugget.text for nugget in facts.nuggets}
    shown = [*facts.nuggets, *(nugget for nugget in waiting if nugget.text not in kept)]
    call_id, count = proposals and proposals.call_id, f", {len(waiting):,} proposed" if waiting else ""
    with st.popover(f"Nuggets{count}"), st.form(form.key, border=False):
        if proposals is not None and waiting:
            ui.quiet(f"{proposals.model} proposed {pluralize(len(waiting), 'line')}. {PROPOSED}")
        vital, okay = (
            st.text_area(label, "\n".join(lines), key=f"{label} {form.key} {call_id}")
            for label, lines in zip(NUGGET_FIELDS, lines_of(shown), strict=True)
        )
        if submit("Save nuggets", "write nuggets", form, digest(*map(str, (facts.nuggets, call_id)))):
            written = nuggets_of_lines(vital, okay)
            acts.do(form, lambda: write_nuggets(store, facts.query_id, written, acts.by, call_id))


def ask_why(store: Store, annotator: Annotator, acts: Acts, form: FormState, query_id: str) -> None:
    """Why the grades are not there; a lead opens them with a reason."""
    st.info(SEALED, icon=":material/lock:")
    if annotator.role != "lead":
        return
    with st.form(form.key, border=False, width=560):
        reason = st.text_input("Reason for opening the grades", help="Logged with your name and the time.")
        asked = st.form_submit_button("Open the grades", key=f"open {form.key}")
    if asked and not reason.strip():
        ui.quiet("Write the reason first.")
    elif asked:
        acts.do(form, lambda: unseal(store, f"read the query {query_id}", reason, acts.by, {query_id}))


def send(store: Store, acts: Acts, query_documents: QueryDocuments) -> None:
    """Chosen documents to a new round."""
    titles = {
        document.document.document_id: document.document.title or "Untitled"
        for document in query_documents.documents
    }
    unjudged = [document.document.document_id for document in query_documents.open if document.pair is None]
    wanted, facts = [] if query_documents.is_sealed else unjudged, query_documents.facts
    systems = {
        document.document.document_id: f"{RUN_PREFIX}{name.removesuffix(EVALUATED)}"
        for document in query_documents.documents
        for name in document.ranks
        if name.endswith(EVALUATED)
    }
    send_documents(store, acts, facts.query_id, facts.text, titles, wanted, systems)


def send_documents(
    store: Store,
    acts: Acts,
    query_id: str,
    text: str,
    titles: Mapping[str, str],
    wanted: Sequence[str],
    systems: Mapping[str, str],
) -> None:
    """Chosen documents of a query to a new round.

    Parameters
    ----------
    titles: of the documents to choose from, by id; `wanted` are chosen to begin with.
    systems: document id → the system that returned it, for documents that may be no candidates yet.
    """
    form = acts.form(f"send {query_id}")
    with store.reading() as cursor:
        people, proposed = able_to_judge(cursor), _free_name(cursor, text)
    names, usual = [person.name for person in people], usual_names(people)
    dialog = st.popover("Send to a round")
    if opened := form.result:  # inside: the popover stays open over the page
        with dialog:
            documents_of = pluralize(opened.candidates, "document")
            ui.confirmation(f"The round {opened.round} is open, with {documents_of} of this query.")
    with dialog, st.form(form.key, border=False):
        documents = st.multiselect(
            "Documents",
            list(titles),
            default=wanted,
            format_func=lambda name: f"{titles[name]} ({name})",
            key=f"documents {form.key}",
        )
        name = st.text_input("Name of the round", proposed, key=f"round {form.key}")
        annotators = st.multiselect("Annotators", names, usual, key=f"annotators {form.key}")
        overlap = st.number_input(
            "Annotators for each document",
            *(1, max(1, len(names)), min(2, max(1, len(usual)))),
            key=f"overlap {form.key}",
        )
        asked = st.form_submit_button("Open the round", type="primary", key=f"send {form.key}")
    if asked:
        pairs = {(query_id, document): systems.get(document, "") for document in documents}
        request = RoundRequest(name.strip(), annotators, int(overlap), duplicates=0.0, again=True)
        acts.do(form, lambda: open_round(store, request, acts.by, pairs))


def _free_name(cursor: Cursor, query: str) -> str:
    """A name for a round over one query that no round has."""
    words, taken = " ".join(query.split()), {round_row.name for round_row in list_rounds(cursor)}
    name = f"Check {words}" if len(words) <= MAX_NAME_LENGTH else f"Check {words[: MAX_NAME_LENGTH - 1]}…"
    return next(free for free in chain([name], (f"{name} ({n})" for n in count(2))) if free not in taken)


def show_documents(query_documents: QueryDocuments, chosen: str) -> None:
    """The list at the left, the chosen document, or the first, at the right."""
    if not query_documents.documents:
        st.info("No system has proposed a document for this query yet. Build a pool.")
        return
    shown = next(
        (document for document in query_documents.documents if document.document.document_id == chosen),
        query_documents.documents[0],
    )
    left, right = st.columns([6, 5], gap="large")
    with left, st.container(key="candidates"):
        columns_of_people = ([], []) if query_documents.is_sealed else (["Grade"], ["Votes"])
        columns = [*columns_of_people[0], "Document", *query_documents.systems, *columns_of_people[1]]
        rows = [_row(query_documents, document) for document in query_documents.documents]
        ui.table("Best ranked first", columns, rows, current=query_documents.documents.index(shown))
    with right, st.container(key="reading"):
        _read(query_documents, shown)


def _row(query_documents: QueryDocuments, query_document: QueryDocument) -> tuple[object, ...]:
    document, pair = query_document.document, query_document.pair
    title = query_link(document.title or UNTITLED, query_documents.facts.query_id, document.document_id)
    marks = [query_document.mark, "decided" if pair is not None and pair.how == "adjudicated" else ""]
    below = f"<small>{escape(', '.join(filter(None, marks)))}</small>" if any(marks) else ""
    cells = (Markup(title + below), *(query_document.ranks.get(name) for name in query_documents.systems))  # noqa: S704  escaped
    if query_documents.is_sealed:
        return cells
    votes = [] if pair is None else [grade for grade, number in pair.votes.items() for _ in range(number)]
    unsure = ["?"] * pair.cannot_tell if pair is not None else []
    return Markup(_chip(query_document, query_documents.guide)), *cells, " ".join(map(str, [*votes, *unsure]))  # noqa: S704


def _chip(query_document: QueryDocument, guide: Guide) -> str:
    """The grade in its colour of the guide, or why it is missing."""
    if query_document.is_withheld:
        return '<span class="gs-grade">yours</span>'
    if query_document.pair is None:
        return '<span class="gs-grade">–</span>'
    if query_document.pair.grade is None:
        return f'<span class="gs-grade">{escape(query_document.pair.how)}</span>'
    colour = next(
        (step.colour for step in guide.scale if step.value == query_document.pair.grade), "currentColor"
    )
    return f'<span class="gs-grade" style="--grade: {escape(colour)}">{query_document.pair.grade}</span>'


def _read(query_documents: QueryDocuments, query_document: QueryDocument) -> None:
    names = {step.value: f"{step.value} {step.name}" for step in query_documents.guide.scale}
    if query_document.is_withheld:
        ui.quiet(WITHHELD)
    elif query_document.pair is not None:
        ui.heading(_verdict(query_document.pair, names))
        if query_document.pair.changed:
            ui.quiet(OLDER)
    if query_document.decision is not None:
        decided = query_document.decision.grade
        words = "no grade can be given" if decided is None else names.get(decided, str(decided))
        outdated = (
            ""
            if query_document.pair and query_document.pair.how == "adjudicated"
            else " It does not count any more."
        )
        ui.said(
            f"{query_document.decision.reviewer} decided: {words}",
            f"{query_document.decision.reason}{outdated}",
        )
    for vote in query_document.votes:
        grade = "Cannot tell" if vote.grade is None else names.get(vote.grade, str(vote.grade))
        marks = [*(["flagged"] if vote.flagged else []), *([] if vote.same_text else ["about an older text"])]
        ui.said(f"{vote.annotator or 'Somebody'}: {grade}", *filter(None, (vote.words, ", ".join(marks))))
    ranks = [f"{name} {rank}" if rank else name for name, rank in query_document.ranks.items()]
    document, template = query_document.document, query_documents.guide.presentation
    shown = draw(
        ReadDocument.of(document),
        query_documents.facts.text,
        template,
        longest=None,
        image_hosts=image_hosts(),
    )
    facts = (document.document_id, *ranks, shown.url, shown.published)
    ui.document(shown.title, shown.passage, facts, shown.facts)


def _verdict(pair: PairConsensus, names: dict[int, str]) -> str:
    if pair.grade is None:
        return NO_GRADE.get(pair.how, "Decided: no grade can be given")
    grade, votes = names.get(pair.grade, str(pair.grade)), sum(pair.votes.values())
    if pair.how == "disputed":
        return f"In dispute: until it is decided, {grade} counts"
    if pair.how == "adjudicated":
        return f"{grade}, decided"
    if pair.how in (MAJORITY, MEDIAN, "single"):
        return f"{grade}, {pair.votes.get(pair.grade, 0):,} of {pluralize(votes, 'vote')}"
    return f"{grade}, {percent(pair.confidence)} probable by {pluralize(votes, 'vote')}"
