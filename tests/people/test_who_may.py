"""Who may do what: each function that changes the project refuses who lacks the role, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.guides.drafts import discard_draft, save_draft
from curation.guides.parse_guide import read_guide
from curation.guides.questions import answer_question, ask_guide
from curation.labeling.consensus.adjudication import decide, decide_many
from curation.labeling.consensus.second_opinions import ask_opinion
from curation.labeling.practice.create_practice import open_practice
from curation.labeling.practice.lead_decisions import let_pass, practise_again
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.labeling.rounds.lifecycle import (
    close_round,
    pause_round,
    reopen_round,
    resume_round,
)
from curation.labeling.transfers.extension import extend_round
from curation.labeling.transfers.reassignment import reassign
from curation.operations.jobs import jobs_of
from curation.pooling.pool import build_pool
from curation.queries.sampling.sample import draw_sample
from curation.queries.sampling.tags.find_tags import find_tags
from curation.queries.sampling.tags.stored_tags import set_tags, write_query
from curation.queries.sampling.top_up import top_up
from curation.store import Store
from tests.support.projects import add_names, add_pairs, all_rows, grid, new_project

LEADS: dict[str, Callable[[Store, str], object]] = {
    "pause": lambda store, who: pause_round(store, "both", who, "because"),
    "resume": lambda store, who: resume_round(store, "both", who, "because"),
    "close": lambda store, who: close_round(store, "both", who, "because"),
    "reopen": lambda store, who: reopen_round(store, "both", who, "because"),
    "reassign": lambda store, who: reassign(store, "both", "dulcinea", ["quixote"], who),
    "extend": lambda store, who: extend_round(store, "both", ["quixote"], author=who),
    "open": lambda store, who: open_round(store, "more", ["quixote"], overlap=1, author=who),
    "practise again": lambda store, who: practise_again(store, "both", "quixote", who),
    "let pass": lambda store, who: let_pass(store, "both", "quixote", "because", who),
    "open practice": lambda store, who: open_practice(store, "more", ["quixote"], author=who),
    "guide": lambda store, who: put_in_force(store, read_guide(), who),
    "draft a guide": lambda store, who: save_draft(store, "anything", who, None),
    "discard a draft": lambda store, who: discard_draft(store, who),
    "answer a question": lambda store, who: answer_question(store, "any", "Yes.", who),
    "start a job": lambda store, who: jobs_of(store).start("tags", {}, who, None),
    "stop a job": lambda store, who: jobs_of(store).stop("any", who),
    "sample": lambda store, who: draw_sample(store, 1, 0, author=who),
    "top up": lambda store, who: top_up(store, {}, 1, author=who),
    "tags": lambda store, who: find_tags(store, author=who),
    "set tags": lambda store, who: set_tags(store, "q0", ["question"], [], actor=who),
    "write a query": lambda store, who: write_query(store, "one more", actor=who),
    "pool": lambda store, who: build_pool(store, ["bm25"], depth=1, random_negatives=0, seed=0, author=who),
}
REVIEWERS: dict[str, Callable[[Store, str], object]] = {
    "decide": lambda store, who: decide(store, "q0", "d0", 3, "because", who),
    "decide from a file": lambda store, who: decide_many(store, [], who),
    "ask for an opinion": lambda store, who: ask_opinion(store, "q0", "d0", who),
    "ask about the guide": lambda store, who: ask_guide(store, "q0", "d0", "unclear", who),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A project of which nothing changes here, since all is refused."""
    store = new_project(tmp_path_factory.mktemp("roles") / "project.duckdb")
    add_pairs(store, {"q0": ["d0", "d1"], **grid(2, 3)})
    add_names(store, "quixote", "dulcinea")
    add_names(store, "rosinante", role="reviewer")
    open_round(store, "both", ["quixote", "dulcinea"], overlap=2, duplicates=0, seed=3)
    yield store
    store.close()


@pytest.mark.parametrize("deed", [*LEADS, *REVIEWERS])
def test_who_lacks_the_role_is_refused_and_nothing_changes(project: Store, deed: str) -> None:
    act, before = (LEADS | REVIEWERS)[deed], all_rows(project)
    for name, role in (("quixote", "annotator"), ("rosinante", "reviewer")):
        if deed in LEADS or role == "annotator":
            wanted = "lead" if deed in LEADS else "reviewer or lead"
            with pytest.raises(RefusedError, match=rf"^This is for the {wanted}; {name} is {role}\.$"):
                act(project, name)
    with pytest.raises(NotFoundError, match="does not know the annotator nobody"):
        act(project, "nobody")
    assert all_rows(project) == before
