"""Label, My consistency: how often an annotator agrees with their own earlier grades and with the
consensus."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.links import PageLink, page_link
from app.context import project_store
from curation.agreement.intra_annotator import MINIMUM_REPEATS
from curation.agreement.own_consistency import estimate_own_consistency
from curation.agreement.own_differences import MIN_COMPARED, Difference, OwnDifferences, find_own_differences
from curation.agreement.released_answers import ANSWERS_PER_BLOCK
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, percent, pluralize
from curation.guides.guide import Guide, current_guide
from curation.labeling.session.queue import read_queue
from curation.labeling.session.recent_answers import read_recent_answers
from curation.people.seal_access import describe_withheld_pairs
from curation.store import Annotator, utc_now

COLUMNS = ["Query", "Document", "You said", "Consensus", "By", "The reviewer's reason"]
MAX_ROWS = 50
UPDATES_SENTENCE = (
    f"Updated once a day, after every {ANSWERS_PER_BLOCK} answers, and when a round closes, so that the "
    "values do not reveal which items are repeats."
)


def show(annotator: Annotator) -> None:
    st.title("My consistency", anchor=False)
    st.html(f'<p class="gs-quiet">{page_link(PageLink("Back to Label", "?"))}</p>')
    ui.purpose("You get some items twice. This page shows how often your two grades agree.")
    store = project_store()
    queue = read_queue(store, annotator.name, limit=0)
    consistency = estimate_own_consistency(store, annotator.name)
    if not queue.total and consistency is None:
        st.info("You have no items yet. When a round includes you, your items appear under Label.")
        return
    now = utc_now()
    with store.reading() as cursor:
        guide = current_guide(cursor)
        pace = read_recent_answers(cursor, annotator.name, now).compute_pace(now)
    columns = st.columns(4, gap="large")
    columns[0].metric("Answered", f"{queue.done:,} of {queue.total:,}")
    columns[1].metric("This hour", f"{pace.answers_last_hour:,}")
    columns[2].metric("Seconds each", decimal(pace.median_seconds, 1))
    with columns[2]:
        ui.note("Median time on screen for your last 50 answers.")
    if consistency is not None:
        _show_share(columns[3], consistency)
    _show_differences(find_own_differences(store, annotator.name), guide)


def _show_share(column: st.delta_generator.DeltaGenerator, consistency: Estimate) -> None:
    if consistency.value is None:
        sentence = f"This value appears once you have graded {MINIMUM_REPEATS} items twice."
    else:
        interval = f"{percent(consistency.low)} to {percent(consistency.high)}"
        sentence = (
            f"Based on {pluralize(consistency.n, 'repeat')}; 95 % interval: {interval}. "
            "Most people repeat their grade about three times in four."
        )
    column.metric("Same grade again", percent(consistency.value))
    with column:
        ui.note(f"{sentence} {UPDATES_SENTENCE}")


def _show_differences(report: OwnDifferences, guide: Guide) -> None:
    ui.heading("Pairs whose final grade differs from yours")
    if report.waits:
        st.info(
            "This page compares your grades with the consensus once you have no items left. Until then, you "
            "may get an item a second time, and you should grade it without knowing the consensus."
        )
        return
    if report.share.value is not None:
        ui.note(
            f"{report.equal:,} of your {pluralize(report.compared, 'pair')} with a consensus have your "
            f"grade: {report.share.percent_text()}."
        )
    elif report.compared:
        ui.note(
            f"{report.compared:,} of your pairs have a consensus so far. The share is shown "
            f"from {MIN_COMPARED}."
        )
    ui.sentences(describe_withheld_pairs(report.sealed))
    if not report.differences:
        sentence = "No differences so far. This list shows pairs whose consensus differs from your grade."
        st.info(f"{sentence} {UPDATES_SENTENCE}")
        return
    names = {step.value: f"{step.value} {step.name}" for step in guide.scale}
    rows = [_make_row(difference, names) for difference in report.differences]
    ui.table("Your grade and the consensus, newest first", COLUMNS, rows, words=True, max_rows=MAX_ROWS)
    ui.note("The consensus can be wrong. The reviewer's reason may explain how to read the guide.")


def _make_row(difference: Difference, names: dict[int, str]) -> tuple[object, ...]:
    own_grade = "Cannot tell"
    if difference.mine is not None:
        own_grade = names.get(difference.mine, str(difference.mine))
    consensus = "The document cannot be graded"
    if difference.consensus is not None:
        consensus = names.get(difference.consensus, str(difference.consensus))
    return difference.query, difference.title, own_grade, consensus, difference.how, difference.reason or ""
