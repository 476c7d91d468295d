"""Who is behind a sign-in, while threads read and others sign out."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app import workplace
from app.sessions import SignIn
from app.workplace import People
from curation.labeling.annotators import add_annotator
from curation.labeling.identities import Standing, end_sign_in, standings
from curation.store import Cursor, Store

SIGN_IN = SignIn("ada", 0, None, "the key of this sign-in")


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    add_annotator(store, "ada", "annotator", "a long password")
    monkeypatch.setitem(os.environ, workplace.PROJECT, str(store.path))
    yield store
    store.close()


def test_who_signed_out_is_nobody(served: Store) -> None:
    people = People()
    assert people.behind(SIGN_IN) is not None
    end_sign_in(served, "ada", SIGN_IN.key)
    people.forget()
    assert people.behind(SIGN_IN) is None


def test_a_sign_out_while_another_thread_reads_is_heard_at_once(
    served: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = People()

    def while_somebody_signs_out(cursor: Cursor) -> dict[str, Standing]:
        found = standings(cursor)
        people.forget()
        return found

    with monkeypatch.context() as slow:
        slow.setattr(workplace, "standings", while_somebody_signs_out)
        assert people.behind(SIGN_IN) is not None
    end_sign_in(served, "ada", SIGN_IN.key)
    assert people.behind(SIGN_IN) is None
