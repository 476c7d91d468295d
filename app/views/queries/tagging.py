"""Queries, the list: the current queries, the tags that rules set, and the tags that people set."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.components.links import query_address
from app.components.widgets import PickerRow, picker
from app.page_context import PageContext
from curation.core.text import pluralize
from curation.core.words import fold
from curation.ingest.importers.query_tags import (
    RULE_TAGS,
    declare_tags,
    known_tags,
    tag_name,
    tags_for_people,
)
from curation.queries.requests import TagsRequest
from curation.queries.stored_tags import TaggedQuery, set_tags, tagged_queries, write_query

ANY, ANY_TAG, UNTAGGED = "any", "any tag", "no tag"
NOT_DRAWN, EARLIER = "not drawn from traffic", "earlier sample"
COLUMNS = ["Query", "Stratum", "Tags by rule", "Tags by people"]
_CHOSEN = "chosen queries"


def show(context: PageContext) -> None:
    queries = tagged_queries(context.store)
    with context.store.reading() as cursor:
        known, offered = known_tags(cursor), tags_for_people(cursor)
    if not queries:
        st.info("There are no queries yet. Draw a sample, import queries, or write a query below.")
    else:
        chosen = _chosen(context, queries, _filtered(queries, known))
        _correct(context, chosen, offered)
    left, right = st.columns(2, gap="large")
    with left:
        _find(context)
        context.show_result("tags")
        _declare(context)
    with right:
        _write(context, offered)


def _filtered(queries: Sequence[TaggedQuery], known: Sequence[str]) -> list[TaggedQuery]:
    strata = sorted({_stratum(query) for query in queries})
    text, tag, stratum = st.columns(3)
    words = text.text_input("Text contains", type="search", key="query text")
    kind = tag.selectbox("Tag", [ANY_TAG, UNTAGGED, *known], key="query tag")
    part = stratum.selectbox("Stratum", [ANY, *strata], key="query stratum")
    return [
        query
        for query in queries
        if fold(words) in fold(query.text)
        and (kind == ANY_TAG or kind in query.tags or (kind == UNTAGGED and not query.tags))
        and part in (ANY, _stratum(query))
    ]


def _stratum(query: TaggedQuery) -> str:
    return query.stratum or (EARLIER if query.of_earlier_sample else NOT_DRAWN)


def _chosen(
    context: PageContext, queries: Sequence[TaggedQuery], shown: Sequence[TaggedQuery]
) -> list[TaggedQuery]:
    """Ask for queries; return the chosen queries, including chosen queries that the filter hides."""
    has_tags = any(query.tags for query in queries)
    untagged = "" if has_tags else " No query has a tag yet: use “Look for tags” below."
    ui.quiet(f"{len(shown):,} of {_some(queries)}. Choose queries to tag them.{untagged}")
    rows = [
        PickerRow(
            query.query_id,
            [
                query.text,
                _stratum(query),
                [tag for tag, by_person in query.tags.items() if not by_person],
                [tag for tag, by_person in query.tags.items() if by_person],
            ],
            query_address(query.query_id),
        )
        for query in shown
    ]
    acts = context.acts.form("set tags").number
    of, before = st.session_state.get(_CHOSEN, (acts, []))
    chosen = picker("queries", COLUMNS, rows, before if of == acts else [], acts)
    st.session_state[_CHOSEN] = acts, chosen  # for the next drawing of the list, as after another part
    return [query for query in queries if query.query_id in set(chosen)]


def _correct(context: PageContext, chosen: Sequence[TaggedQuery], offered: Sequence[str]) -> None:
    form = context.acts.form("set tags")
    with st.form("tags"):
        left, right = st.columns(2)
        add = left.multiselect("Tags to add", offered, placeholder="choose tags", key=f"are {form.key}")
        remove = right.multiselect(
            "Tags to remove", offered, placeholder="choose tags", key=f"are not {form.key}"
        )
        label = f"Apply tags to {_some(chosen)}" if chosen else "Apply tags to the chosen queries"
        asked = st.form_submit_button(label, type="primary", disabled=not chosen, key=form.key)
    if asked:
        context.acts.do(form, lambda: _set_tags(context, chosen, add, remove))
    elif not chosen and form.result:
        ui.sentences(form.result)


def _set_tags(context: PageContext, chosen: Sequence[TaggedQuery], add: list[str], remove: list[str]) -> str:
    query_ids, by = [query.query_id for query in chosen], context.acts.by
    done = set_tags(context.store, query_ids, add, remove, by, by)
    return (
        f"{_some(chosen)}: tags added {len(done.added):,}, removed {len(done.removed):,}, "
        f"already set {done.unchanged:,}."
    )


def _some(queries: Sequence[TaggedQuery]) -> str:
    return pluralize(len(queries), "query", "queries")


def _find(context: PageContext) -> None:
    with st.form("find tags"):
        st.markdown("**Tags by rule**")
        ui.quiet(f"Rules find {', '.join(RULE_TAGS)}. People set all other tags.")
        asked = context.submit_button("Look for tags", "tags")
    if asked:
        context.start("tags", TagsRequest())


def _declare(context: PageContext) -> None:
    form = context.acts.form("declare tags")
    with st.form("declare tags"):
        st.markdown("**A tag of your own**")
        name = st.text_input("Name of the tag", placeholder="such as error-code", key=f"tag {form.key}")
        asked = st.form_submit_button("Add the tag", key=f"declare {form.key}")
    if asked:
        by = context.acts.by
        context.acts.do(form, lambda: declare_tags(context.store, [tag_name(name)], by, by))
    elif form.result is not None:
        ui.sentences("Added. Choose it above." if form.result else "The project had this tag already.")


def _write(context: PageContext, offered: Sequence[str]) -> None:
    form = context.acts.form("write")
    with st.form("write"):
        st.markdown("**Write a query**")
        text = st.text_input("Query", key=f"text {form.key}")
        need = st.text_area("Information need (optional)", height=80, key=f"need {form.key}")
        tags = st.multiselect("Tags", offered, key=f"tags {form.key}")
        asked = st.form_submit_button("Add the query", type="primary", key=f"add {form.key}")
    if asked:
        by = context.acts.by
        context.acts.do(form, lambda: write_query(context.store, text, None, need or None, tags, by, by).text)
    elif form.result:
        ui.sentences(f"Added: {form.result}. Build the pool again to find documents for the query.")
