"""A split before it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import RefusedError
from curation.splits.preview import parse_preview, preview_split, write_preview
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.splits.stored_split import read_split_state
from curation.store import Store
from tests.support.gold_project import LEXICAL, PARTS, frozen_project, labelled
from tests.support.projects import rows_of

pytestmark = pytest.mark.slow

QUERY_TEXT = Rules(paraphrase=None, query=0.3)
"""All queries begin with 'best', so some are tied."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return labelled(tmp_path / "p")


def test_a_preview_is_what_is_then_stored_and_stores_nothing(store: Store) -> None:
    seen = preview_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert rows_of(store, "SELECT 1 FROM splits") == []
    assert [(part.part, part.queries, part.grades, part.traffic) for part in seen.parts] == [
        ("dev", 4, 8, None),
        ("test", 4, 8, None),
    ]
    assert parse_preview(write_preview(seen)) == seen
    made = make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL, expected=seen.split_id))
    assert made.certificate == seen.certificate


def test_a_split_that_is_not_the_one_seen_is_refused(store: Store) -> None:
    other = preview_split(store, SplitRequest(tuple(PARTS.items()), 2, LEXICAL))
    with pytest.raises(RefusedError, match="preview the split again"):
        make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL, expected=other.split_id))
    assert read_split_state(store).split_id is None


def test_a_preview_shows_the_group_that_storing_would_refuse_and_names_no_command(store: Store) -> None:
    tied = Rules(paraphrase=None, shared=False, document=None, query=0.1)
    seen = preview_split(store, SplitRequest((("dev", 1.0),), 1, tied, largest_group=0.05))
    assert len(seen.groups[0].queries) == 8
    assert seen.groups[0].chain
    split = preview_split(store, SplitRequest(tuple(PARTS.items()), 1, tied))
    assert "No query is left for" in split.refused
    assert "--" not in split.refused
    with pytest.raises(RefusedError, match="--relevant-grade"):
        make_split(store, SplitRequest(tuple(PARTS.items()), 1, tied))


def test_the_state_tells_the_request_again_and_what_waits(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    state = read_split_state(store)
    assert state.request is not None
    assert state.request["parts"] == [["dev", 0.5], ["test", 0.5]]
    assert (state.request["seed"], state.request["relevant_grade"]) == (1, None)
    assert (state.graded, state.waiting) == (8, 0)
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM split_assignments WHERE query_id = 'q-kettle'")
    assert read_split_state(store).waiting == 1
    seen = preview_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert seen.report.kept == 8
    assert seen.moved == 0
    assert sum(part.added for part in seen.parts) == 1
