"""Releases: the frozen gold sets, and one of them with its parts, card, exports, differences and readers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.components.markdown import html_of
from app.next_step import missing_step
from app.page_context import PageContext
from app.views.releases import exporting, preview
from app.views.releases.bars import part_stacks
from app.views.releases.difference import show_difference
from curation.core.errors import CurationError
from curation.core.reports.page import Table
from curation.core.text import amount, left_out_sentences
from curation.people.seal_access import openings
from curation.releases.card.card import UNKNOWN, Card
from curation.releases.overview import (
    ShownRelease,
    export_table,
    exports_of,
    opening_table,
    override_sentence,
    release_table,
    sealed_table,
)
from curation.releases.overview import releases as listed_releases
from curation.releases.overview import show as show_release
from curation.releases.release_rows import (
    ReleaseRow,
    half_judged_sentence,
    list_releases,
    marked,
    release_marks,
)
from curation.releases.sealed_evaluations import monthly_limit, sealed_evaluations, set_monthly_limit
from curation.releases.verify import Verified, load_release, verify
from curation.splits.certificate.certificate import shown_certificate
from curation.splits.certificate.page import certificate_page
from curation.store import Store

VIEWS = ("Summary", "Card", "Export", "Difference", "Access log")


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        releases, marks = list_releases(cursor), release_marks(cursor)
    if not releases:
        st.info(
            "Nothing is frozen yet. A release holds the settled grades of a moment. Look at the rule, the "
            "gate and the split, then freeze.",
            icon=":material/info:",
        )
        missing_step(context.store, context.annotator, "split")
        return
    by_name = {row.name: row for row in reversed(releases)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = None if st.session_state.get("release") in by_name else 0
        name = st.selectbox(
            "Release",
            list(by_name),
            index=first,
            width=320,
            key="release",
            format_func=lambda one: marked(one, marks.get(one)),
        )
        view = st.selectbox("Show", VIEWS, width=240, key="view", bind="query-params")
    try:
        _view(context, view, by_name[name or releases[-1].name], releases)
    except CurationError as error:  # it was altered since it was frozen
        ui.problem(error)


def _view(context: PageContext, view: str, release: ReleaseRow, releases: Sequence[ReleaseRow]) -> None:
    if view == "Card":
        _card(context.store, release)
    elif view == "Export":
        exporting.show(context, release)
    elif view == "Difference":
        show_difference(context.store, release, releases)
    elif view == "Access log":
        _readers(context, release)
    else:
        _summary(context.store, release)
        ui.tables(release_table(listed_releases(context.store)[::-1]))


def _summary(store: Store, release: ReleaseRow) -> None:
    """Its parts, which gates it overrode, whether it was altered, and the certificate of its split."""
    try:
        found = show_release(store, release.name)
        ui.warnings(override_sentence(found))
        _parts(found)
    except CurationError as error:
        ui.problem(error)
    if st.button("Verify every line"):
        with st.spinner("Comparing every line with its sum…"):
            _verdict(verify(store, release.name))
    _certificate(store, release)


def _parts(shown_release: ShownRelease) -> None:
    names = [f"{part} (sealed)" if part in shown_release.sealed else part for part in shown_release.queries]
    ui.quiet(
        f"Frozen on {shown_release.frozen_at:%d %b %Y %H:%M} UTC by {shown_release.frozen_by}, with "
        f"{amount(shown_release.documents, 'document')}. Release id {shown_release.release_id}."
    )
    part_stacks(f"Parts of {shown_release.name}", names, shown_release.queries, shown_release.grades)
    lines = (
        [f"The same content is also named {', '.join(shown_release.also_named)}."]
        if shown_release.also_named
        else []
    )
    if shown_release.changed:
        lines.append(
            f"Marked: {amount(shown_release.changed, 'grade')} of another version of their document."
        )
    lines += [*half_judged_sentence(shown_release.half_judged), *left_out_sentences(shown_release.left_out)]
    ui.sentences("\n".join(lines))


def _certificate(store: Store, release: ReleaseRow) -> None:
    try:
        with store.reading() as cursor:
            certificate = shown_certificate(cursor, release.name)
    except CurationError as error:
        ui.quiet(error.found)
        return
    ui.heading("Certificate of the split")
    preview.show_certificate(certificate)
    page = certificate_page(certificate, release.name)
    st.download_button(
        "Download this certificate", page, "certificate.html", "text/html", icon=":material/download:"
    )
    preview.kinds(certificate)
    preview.tables(certificate)


def _card(store: Store, release: ReleaseRow) -> None:
    """The data-set card, as text of ours: no HTML, no image and nothing of the network is in it."""
    licence = st.text_input("Licence of the data set", UNKNOWN, max_chars=80, width=320).strip() or UNKNOWN
    text = Card(load_release(store, release.name), licence).text
    st.download_button(
        "Download the card", text, f"{release.name}.md", "text/markdown", icon=":material/download:"
    )
    shown = html_of(text)
    st.html(f'<article class="gs-card">{shown.replace("<h1>", "<h2>").replace("</h1>", "</h2>")}</article>')


def _readers(context: PageContext, release: ReleaseRow) -> None:
    """Who froze it, who exported it, who had grades of sealed parts, and who evaluated on them."""
    with context.store.reading() as cursor:
        exports = exports_of(cursor, release.release_id)
        taken = openings(cursor, release.release_id)
        evaluations = sealed_evaluations(cursor, release.release_id)
    ui.quiet("All names of the same content count. Viewing a page does not count as an export.")
    _log(export_table(exports), "Nobody exported this release yet.")
    _log(opening_table(taken), "Nobody has opened sealed grades.")
    _log(sealed_table(evaluations), "Nobody has evaluated on sealed parts.")
    _limit(context)


def _limit(context: PageContext) -> None:
    """How many sealed evaluations an evaluator has in a month, which the lead chooses."""
    form, store, by = context.acts.form("sealed limit"), context.store, context.annotator.name
    with store.reading() as cursor:
        limit = monthly_limit(cursor)
    with st.form(f"sealed limit {form.key}", border=False):
        number = st.number_input(
            "Sealed evaluations of an evaluator on a sealed part in a month", 0, None, limit, 1, width=320
        )
        chosen = st.form_submit_button("Save the number")
    if chosen:
        context.acts.do(form, lambda: set_monthly_limit(store, int(number), by))


def _log(table: Table, nothing: str) -> None:
    ui.tables(table)
    if not table.rows:
        ui.heading(table.caption)
        ui.quiet(nothing)


def _verdict(verified: Verified) -> None:
    if verified.intact:
        st.success(
            f"{ui.plain(verified.name)} is what was frozen: {amount(verified.parts, 'part')} and "
            f"{amount(verified.documents, 'document')} agree with their sums.",
            icon=":material/verified:",
        )
        return
    lines = "\n".join(f"- {ui.plain(problem)}" for problem in verified.problems)
    st.error(f"{ui.plain(verified.name)} was altered in {amount(verified.altered, 'place')}:\n\n{lines}")
