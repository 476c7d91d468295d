"""Releases, the first stage: a frozen release with its parts, its certificate and its card."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.markdown import markdown_to_html
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.releases import access_log, difference, export
from app.views.releases.bars import draw_part_bars
from app.views.releases.certificate import show_findings, show_kinds, show_tables
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.releases import overview
from curation.releases.card import UNKNOWN, write_card
from curation.releases.frozen_release import load_release
from curation.releases.gate_override import mark_name, read_overrides
from curation.releases.release_list import list_release_overviews, make_release_table
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.releases.verify import Verified, verify
from curation.splits.certificate import read_visible_certificate
from curation.splits.certificate_page import make_certificate_page
from curation.store import Store


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        releases, overrides = list_releases(cursor), read_overrides(cursor)
    if not releases:
        st.info(
            "There is no release yet. A release is a frozen copy of the grades. Check the rule, the "
            "gate and the split, then freeze.",
            icon=":material/info:",
        )
        show_missing_stage(context.store, context.annotator, "split")
        return
    by_name = {row.name: row for row in reversed(releases)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        initial_index = None if st.session_state.get("release") in by_name else 0
        name = st.selectbox(
            "Release",
            list(by_name),
            index=initial_index,
            width=320,
            key="release",
            format_func=lambda name: mark_name(name, overrides.get(name)),
        )
        view = st.selectbox("Show", list(VIEWS), width=240, key="view", bind="query-params")
    try:
        VIEWS[view](context, by_name[name or releases[-1].name])
    except CurationError as error:  # the release was altered after it was frozen
        ui.problem(error)


def _show_summary(context: PageContext, release: ReleaseRow) -> None:
    """Show the parts of a release, whether its content was altered, and its split's certificate."""
    store = context.store
    try:
        shown_release = overview.read_overview(store, release.name)
        ui.warnings(overview.explain_override(shown_release))
        _show_parts(shown_release)
    except CurationError as error:
        ui.problem(error)
    if st.button("Verify every line"):
        with st.spinner("Checking every line against its checksum…"):
            _show_verified(verify(store, release.name))
    _show_certificate(store, release)
    ui.tables(make_release_table(list_release_overviews(store)[::-1]))


def _show_parts(shown_release: overview.ShownRelease) -> None:
    names = [f"{part} (sealed)" if part in shown_release.sealed else part for part in shown_release.queries]
    ui.note(
        f"Frozen on {shown_release.frozen_at:%d %b %Y %H:%M} UTC by {shown_release.frozen_by}, with "
        f"{pluralize(shown_release.documents, 'document')}."
    )
    draw_part_bars(f"Parts of {shown_release.name}", names, shown_release.queries, shown_release.grades)
    override = overview.explain_override(shown_release)  # the page shows this sentence above, as a warning
    ui.sentences(*(line for line in shown_release.remarks if line not in override))
    with st.expander("Release id"):
        st.code(shown_release.release_id, language=None)


def _show_certificate(store: Store, release: ReleaseRow) -> None:
    try:
        with store.reading() as cursor:
            certificate = read_visible_certificate(cursor, release.name)
    except CurationError as error:
        ui.note(error.found)
        return
    ui.heading("Split certificate")
    show_findings(certificate)
    page = make_certificate_page(certificate, release.name)
    ui.download("Download this certificate", page, "certificate.html")
    show_kinds(certificate)
    show_tables(certificate)


def _show_card(context: PageContext, release: ReleaseRow) -> None:
    """Show the dataset card without unsafe HTML, images and addresses that a browser would fetch."""
    licence = st.text_input("License of the data set", UNKNOWN, max_chars=80, width=320).strip() or UNKNOWN
    text = write_card(load_release(context.store, release.name), licence)
    ui.download("Download the card", text, f"{release.name}.md")
    html = markdown_to_html(text)
    st.html(f'<article class="gs-card">{html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")}</article>')


def _show_verified(verified: Verified) -> None:
    text = "\n\n".join(map(ui.literal, verified.sentences))
    if verified.intact:
        st.success(text, icon=":material/verified:")
    else:
        st.error(text)


VIEWS = {
    "Summary": _show_summary,
    "Card": _show_card,
    "Export": export.show,
    "Difference": difference.show,
    "Access log": access_log.show,
}
