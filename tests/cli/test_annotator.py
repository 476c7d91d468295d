"""`goldgrade annotator invite`: a link, another one, and its end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.people.invitations import find_invited
from curation.store import Store


def test_an_invitation_is_a_link_that_another_ends_and_that_is_removed(store: Store, goldgrade: Any) -> None:
    def works(link: str) -> bool:
        with store.reading() as cursor:
            return find_invited(cursor, link.partition("#")[2]) is not None

    said = goldgrade("annotator", "invite", "ada", "--address", "https://labels.example.org/")
    first = said.splitlines()[-1]
    assert first.startswith("https://labels.example.org/join#")
    again = json.loads(goldgrade("annotator", "invite", "ada", "--again", "--json"))
    assert (again["role"], works(first), works(again["link"])) == ("annotator", False, True)
    goldgrade("annotator", "invite", "ada", "--remove")
    assert not works(again["link"])


@pytest.mark.parametrize("more", ["--again", "--remove"])
def test_a_role_is_given_to_a_new_account_alone(store: Store, goldgrade: Any, more: str) -> None:
    with pytest.raises(InputError, match="`goldgrade annotator role` changes one"):
        goldgrade("annotator", "invite", "ada", "--role", "lead", more)
