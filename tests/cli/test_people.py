"""`goldgrade people`: a link, another one, and its end; one change of an account at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.people.invitations import find_invited_annotator
from curation.store import Store


def test_an_invitation_is_a_link_that_another_ends_and_that_is_removed(store: Store, goldgrade: Any) -> None:
    def works(link: str) -> bool:
        with store.reading() as cursor:
            return find_invited_annotator(cursor, link.partition("#")[2]) is not None

    said = goldgrade("people", "add", "ada", "--link", "--address", "https://labels.example.org/")
    first = said.splitlines()[-1]
    assert first.startswith("https://labels.example.org/join#")
    again = json.loads(goldgrade("people", "set", "ada", "--link", "--json"))
    assert (again["role"], works(first), works(again["link"])) == ("annotator", False, True)
    goldgrade("people", "set", "ada", "--no-link")
    assert not works(again["link"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "Give an option"),
        ("--role lead --link", "make one change at a time"),
        ("--role lead --address https://labels.example.org", "no link is made"),
    ],
)
def test_one_thing_is_changed_at_a_time(store: Store, goldgrade: Any, options: str, said: str) -> None:
    goldgrade("people", "add", "ada", "--link")
    with pytest.raises(InputError, match=said):
        goldgrade("people", "set", "ada", *options.split())


def test_an_account_is_changed_and_listed(store: Store, goldgrade: Any) -> None:
    goldgrade("people", "add", "ada", "--email", "ada@example.org")
    goldgrade("people", "set", "ada", "--email", "a@example.org")
    removed = goldgrade("people", "set", "ada", "--no-email", "ada@example.org")
    assert "can no longer sign in with ada@" in removed
    assert "ada is reviewer now." in goldgrade("people", "set", "ada", "--role", "reviewer")
    assert "deactivated" in goldgrade("people", "set", "ada", "--deactivate")
    assert "can sign in again" in goldgrade("people", "set", "ada", "--activate")
    assert "Ended 0 sign-ins of ada." in goldgrade("people", "set", "ada", "--end-sign-ins", "all")
    (ada,) = json.loads(goldgrade("people", "list", "--json"))["people"]
    assert (ada["role"], ada["active"], ada["emails"]) == ("reviewer", True, ["a@example.org"])
    assert "Open sign-ins" in goldgrade("people", "list", "--sign-ins")
