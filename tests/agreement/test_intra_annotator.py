"""Consistency: repeats as they are read, and what the command shows."""

from __future__ import annotations

import json

import pytest

from curation.agreement.intra_annotator import read_repeats, score_repeats
from curation.labeling.judging import Submission
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import built_once, grid, open_for, rows_of
from tests.support.repeats import repeats


@built_once
def repeated(store: Store) -> Store:
    """A round with blind duplicates; ada answers all, each second showing one grade higher."""
    open_for(store, grid(20, 5), "ada", "ben", duplicates=0.15, seed=1)
    sql = """SELECT presentation_id, document_id, duplicate_of IS NOT NULL FROM presentations
        WHERE annotator = 'ada' ORDER BY position"""
    items = [
        Submission(item, 0, "grade", f"key-{item}", grade=int(document[-1]) % 3 + again)
        for item, document, again in rows_of(store, sql)
    ]
    submit_judgments(store, "ada", items)
    return store


def test_few_repeats_are_marked() -> None:
    assert score_repeats(repeats("ada", 20, 9, 9, 0, 30.0)).too_few
    assert not score_repeats(repeats("ada", 20, 10, 9, 0, 30.0)).too_few
    assert score_repeats(repeats("ada", 20, 10, 8, 0, 30.0)).identical == 0.8


def test_repeats_are_read_of_everybody_in_the_round(repeated: Store) -> None:
    with repeated.reading() as cursor:
        ada, ben = read_repeats(cursor)
        assert read_repeats(cursor, "no such round") == []
    assert (ada.planted, sum(ada.graded_counts), sum(ada.identical_counts)) == (15, 15, 0)
    assert ada.distance == pytest.approx(30, abs=30)
    assert (ben.annotator, ben.graded_counts, ben.distance) == ("ben", [], None)


@pytest.mark.slow
def test_the_command_tells_what_there_is_to_talk_about(repeated: Store) -> None:
    project = ["--project", str(repeated.path), "agreement", "--breakdown", "annotator"]
    printed = json.loads(invoke([*project, "--round", "first", "--json"]).stdout)
    ada, ben = printed["by"]["annotator"]
    assert (ada["consistency"]["identical"], ada["consistency"]["n"]) == (0, 15)
    assert (ben["consistency"]["n"], ben["feedback"]) == (0, [])
    assert "Nothing stands out in the work of 2 annotators." in invoke(project).stdout
