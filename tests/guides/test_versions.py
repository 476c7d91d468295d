"""Versions of the guide, drafts of the next one, and what changes between two."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.difference import guide_difference
from curation.guides.drafts import discard_draft, open_drafts, own_draft, save_draft
from curation.guides.guide import Guide, current_guide, guide_by_hash
from curation.guides.parse_guide import parse_guide, read_guide
from curation.guides.versions import find_version, guide_versions
from curation.guides.write_guide import source_of
from curation.labeling.guide_change import guide_effects
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, decide_pairs, grade_next, grid, rows_of

BASE = read_guide()
REVISED = parse_guide(
    BASE.source.replace("name: Useful", "name: In part").replace("Press the key.", "Press it.")
)


def without_grade_3() -> Guide:
    head, _, rest = BASE.source.partition("  - value: 3")
    return parse_guide(head + rest[rest.index("---\n") :])


@built_once
def working(store: Store) -> Store:
    """Two rounds under way, of which one has two answers."""
    add_pairs(store, grid(3, 4))
    add_names(store, "ada", "ben")
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "rosa", role="reviewer")
    open_round(store, "first", ["ada"], overlap=1, duplicates=0)
    add_pairs(store, {f"more {n}": [f"more {n}.{d}" for d in range(4)] for n in range(3)})
    open_round(store, "second", ["ben"], overlap=1, duplicates=0)
    grade_next(store, "ada", 2, grade=3)
    return store


def test_every_version_keeps_its_text_and_says_since_when_by_whom_and_why(working: Store) -> None:
    put_in_force(working, REVISED, "lee", "keep", " Clearer. ")
    with working.reading() as cursor:
        now, before = guide_versions(cursor)
        assert find_version(cursor, BASE.guide_hash[:6]) == BASE
        assert source_of(find_version(cursor, REVISED.guide_hash)) == REVISED.source
        with pytest.raises(NotFoundError, match="no guide 'zz'"):
            find_version(cursor, "zz")
    assert (now.guide_hash, now.in_force, now.by, now.reason) == (REVISED.guide_hash, True, "lee", "Clearer.")
    assert (now.answers, now.rounds) == (0, [])
    assert (before.in_force, before.by, before.answers) == (False, "command line", 2)
    assert before.rounds == ["first", "second"]


def test_a_guide_stored_without_its_text_is_written_from_its_parts(working: Store) -> None:
    with working.transaction() as cursor:
        cursor.execute("DELETE FROM guide_sources")
    with working.reading() as cursor:
        old = guide_by_hash(cursor, BASE.guide_hash)
    assert old.source == ""
    again = parse_guide(source_of(old))
    assert (again.title, again.scale, again.body) == (BASE.title, BASE.scale, BASE.body)


def test_a_difference_names_grades_added_removed_and_renamed_and_the_words_of_the_text() -> None:
    found = guide_difference(BASE, REVISED)
    assert [(one.value, one.kind, one.changed) for one in found.changed_grades] == [(2, "changed", ("name",))]
    assert found.summary == [
        "Grade 2, “Useful”, is “In part” now.",
        "The text loses 2 words and gains 1.",
    ]
    assert [one.text for one in found.body if one.kind == "added"] == ["it."]
    shown = " ".join(one.text for one in found.changed_body)
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "Press the key. it. Trust your first careful reading" in shown
    fewer = guide_difference(BASE, without_grade_3())
    assert fewer.summary[0] == "Grade 3, “Exactly it”, is removed."
    assert guide_difference(without_grade_3(), BASE).summary[0] == "Grade 3, “Exactly it”, is added."
    assert guide_difference(BASE, BASE).summary == ["They are the same."]


def test_what_putting_a_guide_in_force_means_is_said_before_and_writes_nothing(working: Store) -> None:
    before = rows_of(working, "SELECT count(*) FROM events")
    found = guide_effects(working, REVISED)
    assert [(one.round, one.open_items, one.answered) for one in found.rounds] == [
        ("first", 10, 2),
        ("second", 12, 0),
    ]
    assert found.all_may_switch
    assert (found.answers, found.stale_pairs, found.off_scale) == (2, 2, {})
    assert "22 open items" in found.describe("switch")
    assert guide_effects(working, BASE).sentences == ["This guide is the current one already."]
    assert rows_of(working, "SELECT count(*) FROM events") == before


def test_grades_that_leave_the_scale_are_counted_and_their_round_cannot_switch(working: Store) -> None:
    decide_pairs(working, {("query 0", "document 0.0"): 3})
    found = guide_effects(working, without_grade_3())
    assert found.off_scale == {3: 2}
    assert found.off_scale_decisions == 1
    assert [one.cannot_switch != "" for one in found.rounds] == [True, False]
    assert found.sentences[0].startswith("Judgments that count have grades that leave the scale: grade 3 (2")
    with pytest.raises(RefusedError, match="cannot hold grades of two scales"):
        put_in_force(working, without_grade_3(), "lee", "switch")


def test_a_guide_put_in_force_meanwhile_is_not_replaced_unseen(working: Store) -> None:
    put_in_force(working, REVISED, "mia", "keep")
    with pytest.raises(RefusedError, match="Another guide was published meanwhile"):
        put_in_force(working, without_grade_3(), "lee", "keep", instead_of=BASE.guide_hash)
    with working.reading() as cursor:
        assert current_guide(cursor) == REVISED


def test_each_lead_has_a_draft_that_others_can_read_and_that_ends_in_force(working: Store) -> None:
    first = save_draft(working, "anything", "lee", None)
    save_draft(working, "---\nhers", "mia", None)
    second = save_draft(working, REVISED.source, "lee", first.revision)
    with working.reading() as cursor:
        assert [(one.author, one.source[:8]) for one in open_drafts(cursor)] == [
            ("lee", "---\ntitl"),
            ("mia", "---\nhers"),
        ]
    assert second.started_from == BASE.guide_hash
    put_in_force(working, REVISED, "lee", "keep")
    discard_draft(working, "mia")
    with working.reading() as cursor:
        assert open_drafts(cursor) == []
    assert save_draft(working, "anew", "lee", None).started_from == REVISED.guide_hash
    told = rows_of(working, "SELECT actor, action FROM events WHERE action LIKE '%draft' ORDER BY rowid")
    assert told == [
        ("lee", "start guide draft"),
        ("mia", "start guide draft"),
        ("mia", "discard guide draft"),
        ("lee", "start guide draft"),
    ]


def test_a_draft_saved_in_two_windows_loses_neither_text(working: Store) -> None:
    first = save_draft(working, "one", "lee", None)
    save_draft(working, "two", "lee", first.revision)
    with pytest.raises(RefusedError, match="saved in another window"):
        save_draft(working, "three", "lee", first.revision)
    with pytest.raises(InputError, match="200,001 characters"):
        save_draft(working, "x" * 200_001, "lee", 1)
    assert rows_of(working, "SELECT source FROM guide_drafts ORDER BY revision") == [("one",), ("two",)]
    with working.reading() as cursor:
        held = own_draft(cursor, "lee")
    assert held is not None
    assert held.source == "two"


@pytest.mark.parametrize("name", ["ada", "rosa"])
def test_only_leads_write_drafts_and_put_guides_in_force(working: Store, name: str) -> None:
    for deed in (
        lambda: save_draft(working, "x", name, None),
        lambda: discard_draft(working, name),
        lambda: put_in_force(working, REVISED, name, "keep"),
    ):
        with pytest.raises(RefusedError, match="This is for the lead"):
            deed()
