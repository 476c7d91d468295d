"""Re-label, Choose pairs: the form that has a slice of the gold set judged again now, for a reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.ingest.importers.query_tags import read_known_tags
from curation.people.annotators import list_annotators, list_eligible_annotators, select_default_names
from curation.relabeling.chosen_pairs import find_slice, judge_again
from curation.relabeling.request import ChosenRequest


def show(context: PageContext) -> None:
    ui.note("Have pairs judged again now, in a round of their own. The quarter's list stays as it is.")
    with context.store.reading() as cursor:
        tags, people = read_known_tags(cursor), [person.name for person in list_annotators(cursor)]
        grades = current_guide(cursor).values
    columns = st.columns(3)
    choices: dict[str, Sequence[object]] = {
        "tag": columns[0].multiselect("Tags", tags),
        "grade": columns[1].multiselect("Grades", grades),
        "person": columns[2].multiselect("Judged by", people),
        "query": columns[0].text_input("Query (text or id)").splitlines(),
        "document": columns[1].text_input("Document id").split(),
    }
    show_form(context, [f"{key}={value}" for key, values in choices.items() for value in values])


def show_form(context: PageContext, filters: Sequence[str]) -> None:
    """Show how many pairs a slice has, and the form that opens its round."""
    form = context.acts.form("judge again")
    if form.result:
        ui.confirmation(form.result.sentences[0])
    with context.store.reading() as cursor:
        pairs, people = find_slice(cursor, filters) if filters else [], list_eligible_annotators(cursor)
    count = pluralize(len(pairs), "pair matches", "pairs match")
    ui.note(f"{count}." if filters else "Filter to choose pairs.")
    start = ChosenRequest(tuple(filters), tuple(select_default_names(people)))
    fields = Form(ChosenRequest, start, form.key, {"annotators": [person.name for person in people]})
    fields.ask("annotators", "overlap", "reason")
    request, key = fields.request(), f"again {form.key}"
    if st.button("Open the round", type="primary", disabled=not (pairs and request.reason), key=key):
        context.acts.do(form, lambda: judge_again(context.store, request, author=context.acts.by))
