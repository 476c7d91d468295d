"""Consistency: repeats as they are read, and what the command tells of them."""

from __future__ import annotations

import json

import pytest

from curation.agreement.annotators.intra_annotator import intra_agreement, read_repeats
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import PASSWORD, add_pairs, add_people, built_once, grid
from tests.support.repeats import repeats


@built_once
def repeated(store: Store) -> Store:
    """A round with blind duplicates; ada answers all, each second showing one grade higher."""
    add_pairs(store, grid(20, 5))
    add_people(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.15, seed=1)
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT presentation_id, document_id, duplicate_of IS NOT NULL FROM presentations "
            "WHERE annotator = 'ada' ORDER BY position"
        ).fetchall()
    items = [
        Submission(item, 0, "grade", f"key-{item}", grade=int(document[-1]) % 3 + again)
        for item, document, again in rows
    ]
    submit(store, "ada", items)
    return store


def test_few_repeats_are_marked() -> None:
    assert intra_agreement(repeats("ada", 20, 9, 9, 0, 30.0)).too_few
    assert not intra_agreement(repeats("ada", 20, 10, 9, 0, 30.0)).too_few
    assert intra_agreement(repeats("ada", 20, 10, 8, 0, 30.0)).identical == 0.8


def test_repeats_are_read_of_everybody_in_the_round(repeated: Store) -> None:
    with repeated.reading() as cursor:
        ada, ben = read_repeats(cursor)
        assert read_repeats(cursor, "no such round") == []
    assert (ada.planted, sum(ada.graded), sum(ada.identical)) == (15, 15, 0)
    assert ada.distance == pytest.approx(30, abs=30)
    assert (ben.annotator, ben.graded, ben.distance) == ("ben", [], None)


def test_the_command_tells_what_there_is_to_talk_about(repeated: Store) -> None:
    project = ["--project", str(repeated.path), "consistency"]
    printed = json.loads(invoke([*project, "--round", "first", "--json"]).stdout)
    ada, ben = printed["annotators"]
    assert (ada["consistency"]["identical"], ada["consistency"]["n"]) == (0, 15)
    assert (ben["consistency"]["n"], ben["feedback"]) == (0, [])
    text = invoke([*project, "--annotator", "ada"]).stdout
    assert "No findings about the work of 1 annotator." in text
    missing = invoke([*project, "--annotator", "zoe"])
    assert "Those with items: ada, ben" in str(missing.exception)
    assert PASSWORD not in text
