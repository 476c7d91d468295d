"""Queries, All queries: the page part on which leads list, tag and write queries."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.components.links import query_address
from app.components.widgets import PickerRow, pick_rows
from app.next_stage import show_action_link
from app.page_context import PageContext
from app.views.releases.relabel_again import show_form
from curation.core.text import pluralize
from curation.core.words import fold
from curation.ingest.importers import query_tags
from curation.operations.workflow.stage import Action
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE
from curation.queries.new_query import write_query
from curation.queries.requests import TagsRequest
from curation.queries.stored_tags import TaggedQuery, read_tagged_queries, set_tags
from curation.queries.unanswerable import describe_share

ANY, ANY_TAG, UNTAGGED = "any", "any tag", "no tag"
NOT_DRAWN, EARLIER = "not drawn from traffic", "earlier sample"
COLUMNS = ["Query", "Stratum", "Tags by rule", "Tags by people"]
WRITE = Action("Have queries or reference answers written", "write", "")
_SELECTION = "chosen queries"
"""The session key of the selection: the number of submissions of the form of tags, and the query ids."""


def show(context: PageContext) -> None:
    queries = read_tagged_queries(context.store)
    with context.store.reading() as cursor:
        all_tags, people_tags = query_tags.read_known_tags(cursor), query_tags.list_tags_for_people(cursor)
    if not queries:
        st.info("There are no queries yet. Draw a sample, import queries, or write a query below.")
        _ask_query(context, people_tags)
        return
    tagged = sum(UNANSWERABLE in query.tags for query in queries)
    ui.note(describe_share(tagged, len(queries)))
    selected = _ask_selection(context, queries, _ask_filter(queries, all_tags))
    if selected:
        _ask_tags(context, selected, people_tags)
        with st.expander("Judge these again now"):
            show_form(context, [f"query={query.query_id}" for query in selected])
    elif result := context.acts.form("set tags").result:
        ui.sentences(result)
    context.show_result("tags")
    with st.expander("Find tags by rule, or declare your own tag"):
        _offer_rules(context)
        _ask_new_tag(context)
    with st.expander("Write a query"):
        _ask_query(context, people_tags)
        show_action_link(WRITE)


def _ask_filter(queries: Sequence[TaggedQuery], all_tags: Sequence[str]) -> list[TaggedQuery]:
    """Ask for words, a tag and a stratum; return the queries that have all three."""
    strata = sorted({_name_stratum(query) for query in queries})
    words_column, tag_column, stratum_column = st.columns(3)
    words = words_column.text_input("Text contains", type="search", key="query text")
    tag = tag_column.selectbox("Tag", [ANY_TAG, UNTAGGED, *all_tags], key="query tag")
    stratum = stratum_column.selectbox("Stratum", [ANY, *strata], key="query stratum")
    return [
        query
        for query in queries
        if fold(words) in fold(query.text)
        and (tag == ANY_TAG or tag in query.tags or (tag == UNTAGGED and not query.tags))
        and stratum in (ANY, _name_stratum(query))
    ]


def _name_stratum(query: TaggedQuery) -> str:
    return query.stratum or (EARLIER if query.of_earlier_sample else NOT_DRAWN)


def _ask_selection(
    context: PageContext, queries: Sequence[TaggedQuery], shown_queries: Sequence[TaggedQuery]
) -> list[TaggedQuery]:
    """Ask for queries; return the selected queries, including those hidden by the filter."""
    has_tags = any(query.tags for query in queries)
    untagged = "" if has_tags else " No query has a tag yet: use “Look for tags” below."
    ui.note(f"{len(shown_queries):,} of {_count(queries)}. Choose queries to tag them.{untagged}")
    rows = [
        PickerRow(
            query.query_id,
            [
                query.text,
                _name_stratum(query),
                [tag for tag, by_person in query.tags.items() if not by_person],
                [tag for tag, by_person in query.tags.items() if by_person],
            ],
            query_address(query.query_id),
        )
        for query in shown_queries
    ]
    submissions = context.acts.form("set tags").submission_count
    last_submissions, last_ids = st.session_state.get(_SELECTION, (submissions, []))
    initial_ids = last_ids if last_submissions == submissions else []
    selected_ids = pick_rows("queries", COLUMNS, rows, initial_ids, submissions)
    st.session_state[_SELECTION] = submissions, selected_ids  # for the return from another part
    return [query for query in queries if query.query_id in set(selected_ids)]


def _ask_tags(context: PageContext, selected: Sequence[TaggedQuery], people_tags: Sequence[str]) -> None:
    form = context.acts.form("set tags")
    with st.form("tags"):
        left, right = st.columns(2)
        add = left.multiselect("Tags to add", people_tags, placeholder="choose tags", key=f"are {form.key}")
        remove = right.multiselect(
            "Tags to remove", people_tags, placeholder="choose tags", key=f"are not {form.key}"
        )
        label = f"Apply tags to {_count(selected)}"
        submitted = st.form_submit_button(label, type="primary", key=form.key)
    if submitted:
        context.acts.do(form, lambda: _set_tags(context, selected, add, remove))


def _set_tags(context: PageContext, queries: Sequence[TaggedQuery], add: list[str], remove: list[str]) -> str:
    query_ids, by = [query.query_id for query in queries], context.acts.by
    changes = set_tags(context.store, query_ids, add, remove, by, by)
    return (
        f"{_count(queries)}: tags added {len(changes.added):,}, removed {len(changes.removed):,}, "
        f"already set {changes.unchanged:,}."
    )


def _count(queries: Sequence[TaggedQuery]) -> str:
    return pluralize(len(queries), "query", "queries")


def _offer_rules(context: PageContext) -> None:
    with st.form("find tags"):
        st.markdown("**Tags by rule**")
        ui.note(f"Rules set the tags {', '.join(query_tags.RULE_TAGS)}. People set all others.")
        submitted = context.submit_button("Look for tags", "tags")
    if submitted:
        context.request_job("tags", TagsRequest())


def _ask_new_tag(context: PageContext) -> None:
    acts, form = context.acts, context.acts.form("declare tags")
    with st.form("declare tags"):
        st.markdown("**Your own tag**")
        name = st.text_input("Tag name", placeholder="such as error-code", key=f"tag {form.key}")
        submitted = st.form_submit_button("Add the tag", key=f"declare {form.key}")
    if submitted:
        by = acts.by
        acts.do(form, lambda: query_tags.declare_tags(context.store, [query_tags.to_tag_name(name)], by, by))
    elif form.result is not None:
        ui.sentences("Tag added." if form.result else "This tag already exists.")


def _ask_query(context: PageContext, people_tags: Sequence[str]) -> None:
    form = context.acts.form("write")
    with st.form("write"):
        text = st.text_input("Query", key=f"text {form.key}")
        need = st.text_area("Information need (optional)", height=80, key=f"need {form.key}")
        tags = st.multiselect("Tags", people_tags, key=f"tags {form.key}")
        submitted = st.form_submit_button("Add the query", type="primary", key=f"add {form.key}")
    if submitted:
        by = context.acts.by
        context.acts.do(form, lambda: write_query(context.store, text, None, need or None, tags, by, by).text)
    elif form.result:
        ui.sentences(f"Added: {form.result}. Build the pool again to find documents for the query.")
