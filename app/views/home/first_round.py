"""Home for a project without a round: its documents, queries and people, and the form that starts a first
round."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.stage import draw_stage
from app.next_stage import show_action_link
from app.page_context import PageContext
from curation.core.text import pluralize
from curation.labeling.rounds.grading_cost import read_pace
from curation.operations.jobs import read_last_jobs
from curation.operations.jobs.figures import figures_of
from curation.operations.start import StartRequest, list_choices
from curation.operations.workflow.judging import make_people_stage, read_rounds
from curation.operations.workflow.preparing import Preparation
from curation.operations.workflow.project_workflow import WorkflowState, read_state
from curation.operations.workflow.stage import Action, State
from curation.store import Store

START = "start"
_GRADE = Action("Grade the first document", "label", "")
_DOCUMENTS = Action("Import documents", "import", "", {"kind": "corpus"})
_QUERIES = (
    Action("Import a log", "import", "", {"kind": "traffic"}),
    Action("Paste or import queries", "import", "", {"kind": "queries"}),
    Action("Write queries", "queries", "", {"part": "All queries"}),
    Action("Let a model propose questions", "write", "", {"part": "Questions"}),
)


class _Tile(NamedTuple):
    name: str
    line: str
    is_done: bool
    actions: tuple[Action, ...]


def show(context: PageContext) -> WorkflowState:
    """Show what the project has and lacks, and the form for the first round; return the project's state."""
    state = figures_of(context.store).now(read_state)
    tiles = _make_tiles(state)
    for number, (cell, tile) in enumerate(zip(st.columns(len(tiles)), tiles, strict=True), 1):
        with cell, st.container(border=True, height="stretch"):
            mark: State = "done" if tile.is_done else "not begun"
            label = "" if tile.is_done or tile is not tiles[-1] else "optional"
            stage = draw_stage(tile.name, mark, tile.line, str(number), label=label)
            st.html(f'<div class="gs-tile">{stage}</div>')
            is_next = tile is next((one for one in tiles if not one.is_done), None)
            with st.container(key="first-stage" if is_next and tile is not tiles[-1] else None):
                show_action_link(tile.actions[0])
            for action in () if tile.is_done else tile.actions[1:]:
                show_action_link(action)
    if tiles[0].is_done and tiles[1].is_done:
        _ask_start(context, state.preparation)
    return state


def show_end(store: Store) -> None:
    """Show the result of starting a first round, and a link to its items, until somebody answers."""
    with store.reading() as cursor:
        job, rounds = read_last_jobs(cursor).get(START), read_rounds(cursor)
    if job is not None and job.outcome == "done" and rounds.open_rounds and not rounds.answered:
        ui.sentences(job.message or "")
        with st.container(key="first-stage"):
            show_action_link(_GRADE)


def _make_tiles(state: WorkflowState) -> list[_Tile]:
    facts, people = state.preparation, make_people_stage(state.rounds)
    documents, queries = facts.documents, facts.queries
    found = [pluralize(facts.log_rows, "row of logs", "rows of logs")] if facts.logs else []
    found += [pluralize(queries, "query", "queries")] if queries else []
    nothing = "The pages, products or articles that people search: a folder, a zip or a table."
    no_queries = "What people search for: a search log, a list of queries, or queries that you write."
    alone = "You can grade the first documents alone."
    has_people = people.state == "done"
    return [
        _Tile(
            "Documents",
            f"{pluralize(documents, 'document')}." if documents else nothing,
            bool(documents),
            (_DOCUMENTS,),
        ),
        _Tile("Queries", f"{' · '.join(found)}." if found else no_queries, bool(found), _QUERIES),
        _Tile("People", people.line if has_people else alone, has_people, (people.action,)),
    ]


def _ask_start(context: PageContext, facts: Preparation) -> None:
    """Ask for the few choices of a first round, with their defaults, and start the round."""
    ui.heading("First round")
    form, choices = Form(StartRequest), list_choices(facts)
    for cell, name in zip(st.columns(len(choices)), choices, strict=True):
        with cell:
            form.ask(name)
    request = form.request()
    documents = facts.pairs
    if "depth" in choices:
        documents = (facts.queries or request.queries) * request.depth
    with context.store.reading() as cursor:
        time = read_pace(cursor).describe_time(documents)
    remark = (
        f"BM25 finds up to {pluralize(documents, 'document')} for these queries. You grade them in {time}."
    )
    clicked = context.button("Open the first round", START, context.find_problem(START, request), remark)
    context.show_result(START)
    if clicked:
        context.request_job(START, request)
