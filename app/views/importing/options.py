"""Import, what else a kind of file takes: each kind's own questions, most of them folded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.guides.guide import current_guide
from curation.guides.presentation_template import BodyKind
from curation.ingest.importers.left.leaving import READ
from curation.ingest.importers.traffic.cleaning import POLICIES, CleaningRules
from curation.ingest.picking.file_preview import FilePreview
from curation.ingest.picking.request import ImportRequest
from curation.ingest.picking.wording import LABELS
from curation.labeling.judgments.import_plan import TEXTS
from curation.labeling.presentation.written_in import MARKUPS, markup_of
from curation.operations.jobs.uploads import uploads_folder
from curation.people.annotators import list_annotators

Ask = Callable[[PageContext, ImportRequest, FilePreview, str], ImportRequest]
NO_ORDER = "no such dates"
UNSAID = "not said"
ORDERS = {"mdy": "month first (03/25/2026)", "dmy": "day first (25/03/2026)"}
EACH, COLUMNS, ONE, JUDGE = (
    "A column says who",
    "A column for each person",
    "One person gave all",
    "A judge that is not a person",
)


def ask_options(
    context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str
) -> ImportRequest:
    """The request with what else its kind takes."""
    ask = _ASK.get(asked.what)
    return asked if ask is None else ask(context, asked, file_look, key)


def _corpus(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    add = st.toggle(
        LABELS["--add"],
        key=f"add {key}",
        help="Otherwise the file replaces the corpus, and documents that it does not have are removed.",
    )
    options: dict[str, Any] = {"add": add}
    if uploads_folder(context.store.path) not in asked.file.parents and asked.path.endswith(READ):
        options["leave"] = st.toggle(
            LABELS["--leave"],
            key=f"leave {key}",
            help="The project keeps ids and sums. A text comes into it when it is pooled or judged. "
            "The file must stay as it is.",
        )
    body = asked.fields.get("body", ())
    if file_look.columns and not body:
        st.warning(
            "No column is the text: documents would be judged by their title alone. Choose a column as Text.",
            icon=":material/warning:",
        )
        options["titles_only"] = st.toggle(LABELS["--titles-only"], key=f"titles {key}")
    elif body:
        options["markup"] = _markup(context, markup_of(file_look.texts_in(body)), key)
    return asked._replace(options=options)


def _markup(context: PageContext, seen: BodyKind, key: str) -> str:
    """What the text is written in: proposed is what the first rows show, or else what the guide says."""
    with context.store.reading() as cursor:
        held = current_guide(cursor).presentation
    likely = held.body if held is not None and seen == "plain" else seen
    return st.segmented_control(
        LABELS["--markup"],
        list(MARKUPS),
        default=likely,
        required=True,
        format_func=MARKUPS.__getitem__,
        key=f"markup {likely} {key}",
        help="How annotators see documents. The page Guide has a preview, and what else is shown of them.",
    )


def _traffic(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    usual = CleaningRules()
    order = None
    with st.expander("Dates and cleaning"):
        left, middle, right = st.columns(3)
        if asked.fields.get("time"):
            order = _order(key)
        words = left.number_input("Longest query in words", 0, value=usual.words, key=f"words {key}")
        signs = left.number_input(
            "Longest query in characters", 0, value=usual.characters, key=f"characters {key}"
        )
        repeat = middle.number_input(
            "Minutes in which a repeat counts once", 0, value=usual.repeat_minutes, key=f"repeat {key}"
        )
        personal = middle.selectbox("Personal data", POLICIES, key=f"personal {key}")
        minute = right.number_input(
            "Queries a minute that mark a robot", 0, value=usual.queries_a_minute, key=f"minute {key}"
        )
        day = right.number_input(
            "Queries a day that mark a robot", 0, value=usual.queries_a_day, key=f"day {key}"
        )
        ui.quiet("0 switches a rule off.")
        known = st.toggle(LABELS["--known-rows"], key=f"known {key}")
    bounds = {"words": words, "characters": signs, "repeat_minutes": repeat}
    bounds |= {"queries_a_minute": minute, "queries_a_day": day}
    rules = {**bounds, "personal_data": personal, "known_rows": known}
    return asked._replace(options={"date_order": order, "rules": rules})


def _order(key: str) -> str | None:
    order = st.selectbox(
        LABELS["--date-order"],
        [NO_ORDER, *ORDERS],
        format_func=lambda order: ORDERS.get(order, order),
        key=f"order {key}",
    )
    return None if order == NO_ORDER else order


def _runs(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    usual = Path(asked.name).name.partition(".")[0]
    name = st.text_input(LABELS["--name"], usual, max_chars=80, key=f"name {key}")
    skip = _skip_unknown(key)
    repeated = st.toggle(LABELS["--skip-repeated"], key=f"repeated {key}")
    options = {"name": name.strip(), "skip_unknown": skip, "skip_repeated": repeated}
    return asked._replace(options=options)


def _judgments(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    fields = dict(asked.fields)
    options: dict[str, Any] = {}
    usual = (
        EACH if fields.get("annotator") else COLUMNS if file_look.columns and not fields.get("grade") else ONE
    )
    ways = [EACH, COLUMNS, ONE, JUDGE] if file_look.columns else [ONE, JUDGE]
    how = st.selectbox("How the file says who judged", ways, index=ways.index(usual), key=f"how {key}")
    if how != EACH:
        fields["annotator"] = ""
    if how == COLUMNS:
        fields["grade"] = ""
        options["annotator_columns"] = _people_of_columns(context, file_look, key)
    elif how == ONE:
        options["annotator"] = st.selectbox(
            LABELS["--annotator"], _names(context), index=None, accept_new_options=True, key=f"who {key}"
        )
    elif how == JUDGE:
        options["judge"] = st.text_input(LABELS["--judge"], max_chars=63, key=f"judge {key}").strip()
    with st.expander("Other scales, unknown names, changed documents, a further pass"):
        options["grade_map"] = st.text_input(
            LABELS["--grade-map"],
            placeholder="100=3, 10=2, 1=1, 0=0, x=cannot-tell, y=no-grade",
            key=f"map {key}",
        )
        if how != JUDGE:
            options["annotator_map"] = st.text_input(
                LABELS["--annotator-map"], placeholder="ann lee=Ann Lee", key=f"names {key}"
            )
        options["grade"] = st.number_input(LABELS["--grade"], 0, 100, value=None, key=f"grade of all {key}")
        options["skip_unknown"] = _skip_unknown(key)
        if how != JUDGE:
            about = st.selectbox(LABELS["--about"], [UNSAID, *TEXTS], key=f"about {key}")
            options["about"] = None if about == UNSAID else about
            name = st.text_input(LABELS["--round"], max_chars=80, key=f"round {key}")
            options["round"] = name.strip() or None
        if fields.get("time"):
            options["date_order"] = _order(key)
    return asked._replace(fields=fields, options=options)


def _people_of_columns(context: PageContext, file_look: FilePreview, key: str) -> dict[str, str]:
    """Column → whose grades it has."""
    likely = [
        name
        for name in file_look.columns
        if any(word in name.lower() for word in ("agent", "rater", "annot"))
    ]
    columns = st.multiselect(
        LABELS["--annotator-columns"], file_look.columns, default=likely, key=f"columns of {key}"
    )
    names = _names(context)
    whose: dict[str, str] = {}
    places = [place for _ in range(0, len(columns), 2) for place in st.columns(2)]
    for column, place in zip(columns, places, strict=False):
        people = list(dict.fromkeys([column, *names]))
        whose[column] = place.selectbox(
            f"Who gave the grades in “{ui.plain(column)}”",
            people,
            accept_new_options=True,
            key=f"{column} of {key}",
        )
    return whose


def _decisions(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    reason = st.text_input(
        "Reason of decisions without one of their own", max_chars=500, key=f"usual reason {key}"
    )
    every = st.toggle("Decide every judged pair of the file, disputed or not", key=f"every {key}")
    return asked._replace(options={"reason": reason, "every_pair": every})


def _answers(context: PageContext, asked: ImportRequest, file_look: FilePreview, key: str) -> ImportRequest:
    return asked._replace(options={"skip_unknown": _skip_unknown(key)})


def _skip_unknown(key: str) -> bool:
    return st.toggle(
        LABELS["--skip-unknown"],
        key=f"unknown {key}",
        help="Lines about queries or documents that the project does not have are counted, not refused.",
    )


def _names(context: PageContext) -> list[str]:
    with context.store.reading() as cursor:
        return [annotator.name for annotator in list_annotators(cursor)]


_ASK: dict[str, Ask] = {
    "corpus": _corpus,
    "traffic": _traffic,
    "runs": _runs,
    "judgments": _judgments,
    "decisions": _decisions,
    "answers": _answers,
    "nuggets": _answers,
}
