"""The account cache, while threads read and others sign out."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app import context
from app.signin import current_user
from app.signin.current_user import AccountCache
from app.signin.sessions import SignIn
from curation.people.annotators import add_annotator
from curation.people.identities import SignInState, end_sign_in, sign_in_states
from curation.store import Cursor, Store

SIGN_IN = SignIn("ada", 0, None, "the key of this sign-in")


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    add_annotator(store, "ada", "annotator", "a long password")
    monkeypatch.setitem(os.environ, context.PROJECT, str(store.path))
    yield store
    store.close()


def test_who_signed_out_is_nobody(served: Store) -> None:
    accounts = AccountCache()
    assert accounts.annotator(SIGN_IN) is not None
    end_sign_in(served, "ada", SIGN_IN.key)
    accounts.expire()
    assert accounts.annotator(SIGN_IN) is None


def test_a_sign_out_while_another_thread_reads_is_heard_at_once(
    served: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = AccountCache()

    def while_somebody_signs_out(cursor: Cursor) -> dict[str, SignInState]:
        found = sign_in_states(cursor)
        accounts.expire()
        return found

    with monkeypatch.context() as slow:
        slow.setattr(current_user, "sign_in_states", while_somebody_signs_out)
        assert accounts.annotator(SIGN_IN) is not None
    end_sign_in(served, "ada", SIGN_IN.key)
    assert accounts.annotator(SIGN_IN) is None
