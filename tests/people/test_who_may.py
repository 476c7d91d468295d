"""Who may do what: each function that changes the project refuses who lacks the role, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.guides.drafts import discard_draft, save_draft
from curation.guides.guide_text import read_guide
from curation.guides.questions import answer_question, ask_about_pair
from curation.ingest.requests import make_request
from curation.labeling.consensus.adjudication import decide_pair, import_decisions
from curation.labeling.consensus.second_opinions import ask_opinion
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.delete_round import delete_round
from curation.labeling.rounds.extension import extend_round
from curation.labeling.rounds.left_out_queries import set_aside
from curation.labeling.rounds.practice import practise_again, waive_practice
from curation.labeling.rounds.reassignment import reassign
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.use_guide import use_guide
from curation.operations.import_jobs import dry_run, import_for_page
from curation.operations.jobs import jobs_of
from curation.people.accounts import activate, add_annotator, deactivate, set_role
from curation.people.addresses import add_address, remove_address
from curation.people.invitations import invite, withdraw_invitation
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.new_query import write_query
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.top_up import top_up
from curation.queries.stored_tags import set_tags
from curation.queries.tag_rules import find_tags
from curation.store import Store
from tests.support.projects import add_names, add_pairs, all_rows, discard, grid, new_project

LEADS: dict[str, Callable[[Store, str], object]] = {
    "pause": lambda store, who: set_round_state(store, "both", "paused", who, "because"),
    "resume": lambda store, who: set_round_state(store, "both", "open", who, "because"),
    "close": lambda store, who: set_round_state(store, "both", "closed", who, "because"),
    "reopen": lambda store, who: set_round_state(store, "both", "open", who, "because"),
    "delete": lambda store, who: delete_round(store, "both", who),
    "reassign": lambda store, who: reassign(store, "both", "dulcinea", ["quixote"], who),
    "extend": lambda store, who: extend_round(store, "both", ["quixote"], author=who),
    "open": lambda store, who: open_round(store, RoundRequest("more", ["quixote"], overlap=1), author=who),
    "practise again": lambda store, who: practise_again(store, "both", "quixote", who),
    "let pass": lambda store, who: waive_practice(store, "both", "quixote", "because", who),
    "open practice": lambda store, who: open_practice(
        store, PracticeRequest("more", ["quixote"]), author=who
    ),
    "guide": lambda store, who: use_guide(store, read_guide(), who),
    "draft a guide": lambda store, who: save_draft(store, "anything", who, None),
    "discard a draft": lambda store, who: discard_draft(store, who),
    "answer a question": lambda store, who: answer_question(store, "any", "Yes.", who),
    "start a job": lambda store, who: jobs_of(store).start("tags", {}, who, None),
    "stop a job": lambda store, who: jobs_of(store).stop("any", who),
    "sample": lambda store, who: draw_sample(store, DrawRequest(1, 0), author=who),
    "top up": lambda store, who: top_up(store, TopUpRequest(size=1, quotas={}), author=who),
    "tags": lambda store, who: find_tags(store, author=who),
    "set tags": lambda store, who: set_tags(store, "q0", ["question"], [], actor=who),
    "write a query": lambda store, who: write_query(store, "one more", actor=who),
    "import": lambda store, who: import_for_page(store, make_request("traffic", Path("any.csv")), who),
    "rehearse an import": lambda store, who: dry_run(store, make_request("traffic", Path("any.csv")), who),
    "add somebody": lambda store, who: add_annotator(store, "eve", "lead", None, "eve@x.org", by=who),
    "leave out a query": lambda store, who: set_aside(store, ["q0"], "because", who),
    "put back a query": lambda store, who: set_aside(store, ["q0"], None, who),
    "invite": lambda store, who: invite(store, "eve", "annotator", who),
    "make a link again": lambda store, who: invite(store, "dulcinea", None, who),
    "withdraw a link": lambda store, who: withdraw_invitation(store, "dulcinea", who),
    "deactivate": lambda store, who: deactivate(store, "dulcinea", who),
    "activate": lambda store, who: activate(store, "dulcinea", who),
    "change a role": lambda store, who: set_role(store, "quixote", "lead", who),
    "add an address": lambda store, who: add_address(store, "quixote", "q@x.org", who),
    "remove an address": lambda store, who: remove_address(store, "dulcinea", "d@x.org", who),
    "pool": lambda store, who: build_pool(
        store, PoolRequest(["bm25"], depth=1, random_negatives=0, seed=0), author=who
    ),
}
REVIEWERS: dict[str, Callable[[Store, str], object]] = {
    "decide": lambda store, who: decide_pair(store, "q0", "d0", 3, "because", who),
    "decide from a file": lambda store, who: import_decisions(store, [], who),
    "ask for an opinion": lambda store, who: ask_opinion(store, "q0", "d0", who),
    "ask about the guide": lambda store, who: ask_about_pair(store, "q0", "d0", "unclear", who),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A project for all tests of this file: each refusal leaves it as it was."""
    store = new_project(tmp_path_factory.mktemp("roles") / "project.duckdb")
    add_pairs(store, {"q0": ["d0", "d1"], **grid(2, 3)})
    add_names(store, "quixote", "dulcinea")
    add_names(store, "rosinante", role="reviewer")
    open_round(store, RoundRequest("both", ["quixote", "dulcinea"], overlap=2, duplicates=0, seed=3))
    yield store
    discard(store)


@pytest.mark.parametrize("deed", [*LEADS, *REVIEWERS])
def test_who_lacks_the_role_is_refused_and_nothing_changes(project: Store, deed: str) -> None:
    act, before = (LEADS | REVIEWERS)[deed], all_rows(project)
    for name, role in (("quixote", "annotator"), ("rosinante", "reviewer")):
        if deed in LEADS or role == "annotator":
            wanted = "lead" if deed in LEADS else "reviewer or lead"
            with pytest.raises(
                RefusedError, match=rf"^This action needs the role {wanted}; {name} is {role}\.$"
            ):
                act(project, name)
    with pytest.raises(NotFoundError, match="does not know the annotator nobody"):
        act(project, "nobody")
    assert all_rows(project) == before
