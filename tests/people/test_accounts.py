"""Accounts: deactivation, activation and roles."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.people.accounts import activate, deactivate, list_accounts, set_role
from curation.people.annotators import add_imported_annotator, list_eligible_annotators, require_author
from curation.people.invitations import accept_invitation, invite
from curation.people.passwords import authenticate
from curation.store import Store
from tests.support.projects import add_names, rows_of

PASSWORD = "correct horse"


@pytest.fixture
def project(store: Store) -> Store:
    add_names(store, "lee", role="lead")
    add_names(store, "ada")
    return store


def test_who_is_deactivated_cannot_sign_in_until_activated(project: Store) -> None:
    accept_invitation(project, invite(project, "ada", None, "lee").token, PASSWORD)
    assert deactivate(project, "ada", "lee")
    assert authenticate(project, "ada", PASSWORD) is None
    with project.reading() as cursor:
        assert [one.name for one in list_eligible_annotators(cursor)] == ["lee"]
        assert [(one.name, one.active) for one in list_accounts(cursor)] == [("ada", False), ("lee", True)]
        with pytest.raises(RefusedError, match="ada is deactivated"):
            require_author(cursor, "ada", "annotator")
    activate(project, "ada", "lee")
    assert authenticate(project, "ada", PASSWORD) is not None


def test_the_last_lead_is_neither_deactivated_nor_demoted(project: Store) -> None:
    """Neither imported leads nor deactivated ones can take their place."""
    add_names(project, "mia", role="lead")
    deactivate(project, "mia")
    for change in (lambda: deactivate(project, "lee"), lambda: set_role(project, "lee", "reviewer")):
        with pytest.raises(RefusedError, match=r"lee is the last lead\. First make another person lead\."):
            change()
    activate(project, "mia")
    set_role(project, "lee", "reviewer", "mia")
    with pytest.raises(RefusedError, match="mia is the last lead"):
        deactivate(project, "mia")


def test_a_role_counts_at_once_and_is_in_the_audit_trail(project: Store) -> None:
    assert set_role(project, "ada", "reviewer", "lee").role == "reviewer"
    with project.reading() as cursor:
        require_author(cursor, "ada", "reviewer")
    rows = rows_of(
        project, "SELECT actor, detail->>'from', detail->>'to' FROM events WHERE action = 'change role'"
    )
    assert rows == [("lee", "annotator", "reviewer")]
    with pytest.raises(RefusedError, match="ada already has the role reviewer"):
        set_role(project, "ada", "reviewer")
    with pytest.raises(InputError, match="the role 'boss'"):
        set_role(project, "ada", "boss")
    with pytest.raises(NotFoundError, match="does not know the annotator nobody"):
        set_role(project, "nobody", "lead")


def test_nobody_changes_their_own_account(project: Store) -> None:
    add_names(project, "mia", role="lead")
    with pytest.raises(RefusedError, match="Ask another lead"):
        deactivate(project, "lee", "lee")


def test_who_is_known_from_imports_has_no_account_to_change(project: Store) -> None:
    with project.transaction() as cursor:
        add_imported_annotator(cursor, "rater 1")
    with pytest.raises(RefusedError, match="only from imported judgments"):
        deactivate(project, "rater 1")
