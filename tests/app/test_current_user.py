"""The account cache, while threads read and others sign out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from app import context
from app.signin import current_user
from app.signin.current_user import AccountCache
from app.signin.sessions import LASTS, SignIn
from curation.people.accounts import activate, deactivate, set_role
from curation.people.annotators import add_annotator
from curation.people.identities import SignInState, end_sign_in, ended_sign_ins, sign_in_states
from curation.store import Cursor, Store

SIGN_IN = SignIn("ada", 0, None, "the key of this sign-in", expires=int(time.time()) + LASTS)


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    add_annotator(store, "ada", "annotator", "a long password")
    monkeypatch.setitem(os.environ, context.PROJECT, str(store.path))
    yield store
    store.close()


def test_who_signed_out_is_nobody(served: Store) -> None:
    accounts = AccountCache()
    assert accounts.annotator(SIGN_IN) is not None
    end_sign_in(served, "ada", SIGN_IN.key, SIGN_IN.expires)
    accounts.expire()
    assert accounts.annotator(SIGN_IN) is None


def test_a_sign_in_from_before_a_deactivation_is_none_after_it_was_taken_back(served: Store) -> None:
    accounts = AccountCache()
    deactivate(served, "ada")
    activate(served, "ada")
    assert accounts.annotator(SIGN_IN) is None
    assert accounts.annotator(SIGN_IN._replace(deactivations=1)) is not None


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
    end_sign_in(served, "ada", SIGN_IN.key, SIGN_IN.expires)
    assert accounts.annotator(SIGN_IN) is None


@pytest.mark.parametrize("days", [-3, 3])
def test_a_sign_out_by_a_wrong_clock_is_for_good(served: Store, days: int) -> None:
    end_sign_in(served, "ada", SIGN_IN.key, SIGN_IN.expires)
    with served.transaction() as cursor:
        cursor.execute("UPDATE events SET happened_at = happened_at + to_days(?)", [days])
    assert AccountCache().annotator(SIGN_IN) is None


def test_a_sign_out_is_forgotten_once_its_sign_in_would_have_ended(served: Store) -> None:
    end_sign_in(served, "ada", SIGN_IN.key, SIGN_IN.expires)
    with served.reading() as cursor:
        assert ended_sign_ins(cursor, SIGN_IN.expires - 1) == {SIGN_IN.key}
        assert ended_sign_ins(cursor, SIGN_IN.expires) == set()


def test_who_is_deactivated_is_nobody_and_a_new_role_counts_at_once(served: Store) -> None:
    accounts = AccountCache()
    assert accounts.annotator(SIGN_IN) is not None
    set_role(served, "ada", "reviewer")
    accounts.expire()  # as the page does; what a command changed is read within MAX_AGE
    found = accounts.annotator(SIGN_IN)
    assert found is not None
    assert found.role == "reviewer"
    deactivate(served, "ada")
    accounts.expire()
    assert accounts.annotator(SIGN_IN) is None
