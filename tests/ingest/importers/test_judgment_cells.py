"""Cells of judgments: annotators whose names look alike, grades given twice, and words for no grade."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.option_maps import parse_annotator_map, parse_grade_map
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.labeling.imported import import_judgments
from curation.people.accounts import add_annotator
from curation.store import Store
from tests.support.projects import rows_of

WRITTEN_TWICE = [
    ("Ann Lee", "ann lee", "upper and lower case"),
    ("ann@x.org", "Ann@X.org", "upper and lower case"),
    ("ann", "ann\u200b", "invisible characters"),
    ("Zoé", "Zoe\u0301", "its Unicode form"),
    ("Ann Lee", "Ann  Lee", "white space"),
]
LONG = "query_id,doc_id,rater,grade\n"


def judged_pairs(store: Store) -> list[tuple[object, ...]]:
    return rows_of(store, "SELECT annotator, document_id, grade FROM current_judgments ORDER BY ALL")


@pytest.fixture
def pair(store: Store, write: Callable[..., Path]) -> Store:
    """Three documents, and the query q1 of another text than its id."""
    import_corpus(store, write("corpus.jsonl", [{"id": f"d{n}", "text": f"text {n}"} for n in (1, 2, 3)]))
    import_queries(store, write("queries.jsonl", [{"id": "q1", "text": "tea"}]))
    return store


@pytest.mark.parametrize("known", [True, False], ids=["in the project", "in the file"])
@pytest.mark.parametrize(("name", "other", "differs"), WRITTEN_TWICE)
def test_whether_two_writings_of_a_name_are_one_person_is_asked_and_said(
    pair: Store, write: Callable[..., Path], name: str, other: str, differs: str, known: bool
) -> None:
    first, second = f"q1,d1,{name},2\n", f"q1,d1,{other},2\nq1,d2,{other},1\n"
    if known:
        import_judgments(pair, write("first.csv", LONG + first))
        first = ""
    path = write("second.csv", LONG + first + second)
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path)
    where = "" if known else " on line 2"
    (problem,) = refused.value.problems
    assert (
        problem
        == f"line {2 if known else 3}: the annotator {other!r} differs from {name!r}{where} by {differs}"
    )
    one, two = (shlex.split(part)[0] for part in refused.value.way_out.split("--annotator-map ")[1:])
    one, two = one.removesuffix("."), two.removesuffix(".")
    assert (parse_annotator_map(one), parse_annotator_map(two)) == ({other: name}, {other: other})
    import_judgments(pair, path, JudgmentFields(annotator_map=parse_annotator_map(one)))
    assert judged_pairs(pair) == [(name, "d1", 2), (name, "d2", 1)]
    import_judgments(pair, path, JudgmentFields(annotator_map=parse_annotator_map(two)))
    assert {row[0] for row in judged_pairs(pair)} == {name, other}
    import_judgments(pair, write("third.csv", LONG + f"q1,d3,{other},3\n"))  # both are known now


def test_a_wide_table_and_one_name_for_all_are_asked_as_well(pair: Store, write: Callable[..., Path]) -> None:
    wide = write("wide.csv", "query_id,doc_id,A,B\nq1,d1,1,2\n")
    with pytest.raises(InputError, match="'ann' differs from 'Ann' on line 2"):
        import_judgments(pair, wide, JudgmentFields(annotator_columns={"A": "Ann", "B": "ann"}))
    import_judgments(pair, wide, JudgmentFields(annotator_columns={"A": "NIST"}))
    qrels = write("t.qrels", "q1 0 d2 1\n")
    with pytest.raises(InputError) as refused:
        import_judgments(pair, qrels, JudgmentFields(annotator_name="nist"), FileLayout("qrels"))
    assert "--annotator NIST" in refused.value.way_out


def test_the_address_of_somebody_is_asked_about_too(pair: Store, write: Callable[..., Path]) -> None:
    add_annotator(pair, "ann", "annotator", None, "ann@x.org")
    path = write("j.csv", LONG + "q1,d1,Ann@X.org,2\nq1,d2,ann@x.org,1\n")
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path)
    assert refused.value.problems == [
        "line 2: the annotator 'Ann@X.org' differs from 'ann@x.org', the address of 'ann', by upper and "
        "lower case",
        "line 3: the annotator 'ann@x.org' has the e-mail address of 'ann'",
    ]
    mapped = parse_annotator_map("Ann@X.org=ann,ann@x.org=ann")
    import_judgments(pair, path, JudgmentFields(annotator_map=mapped))
    assert judged_pairs(pair) == [("ann", "d1", 2), ("ann", "d2", 1)]


TIMED = "query_id,doc_id,rater,grade,submitted_at\n"


@pytest.mark.parametrize(
    "times", ["", ",2026-05-01 10:00", "2026-05-01 10:00,", "2026-05-01 10:00,2026-05-01T12:00+02:00"]
)
def test_two_grades_with_one_time_or_without_are_a_conflict(
    pair: Store, write: Callable[..., Path], times: str
) -> None:
    first, _, second = times.partition(",")
    with pytest.raises(InputError, match="line 3: ann gives the pair"):
        import_judgments(pair, write("j.csv", f"{TIMED}q1,d1,ann,1,{first}\nq1,d1,ann,2,{second}\n"))


def test_the_latest_of_many_counts_wherever_it_is(pair: Store, write: Callable[..., Path]) -> None:
    rows = [
        (2, "2026-05-03"),
        (0, "2026-05-01"),
        (1, "2026-05-01"),
        (2, "2026-05-03"),
        (3, "2026-05-02T23:00-05:00"),
    ]
    text = "".join(f"q1,d1,ann,{grade},{time}\n" for grade, time in rows)
    done = import_judgments(pair, write("j.csv", TIMED + text))
    assert judged_pairs(pair) == [("ann", "d1", 3)]
    assert done.left_out == {"an earlier grade by the same person for the same pair": 4}


@pytest.mark.parametrize(
    "word", ["", "NaN", "nan", "NULL", "None", "NA", "N/A", "#N/A", "<NA>", "-", "–", "\\N", ". "]
)
def test_each_word_for_no_value_is_no_grade(pair: Store, write: Callable[..., Path], word: str) -> None:
    done = import_judgments(pair, write("j.csv", f"{LONG}q1,d1,ann,{word}\nq1,d2,ann,1\n"))
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d2", 1)], {"no grade": 1})


def test_a_grade_map_knows_no_grade_and_its_hint_is_valid(pair: Store, write: Callable[..., Path]) -> None:
    rows = 'q1,d1,ann,"good, really"\nq1,d2,ann,it\'s "bad"\nq1,d3,ann,skipped\n'
    path = write("j.csv", LONG + rows)
    with pytest.raises(InputError) as refused:
        import_judgments(pair, path, grade_map=parse_grade_map("maybe=cannot-tell, skipped=no-grade"))
    (hint,) = shlex.split(refused.value.way_out.partition("--grade-map ")[2])
    grade_map = parse_grade_map(hint.replace("really=?", "really=3").replace("=?", "=0"))
    assert grade_map == {"maybe": None, "skipped": -1, "good, really": 3, 'it\'s "bad"': 0}
    done = import_judgments(pair, path, grade_map=grade_map)
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d1", 3), ("ann", "d2", 0)], {"no grade": 1})
    assert parse_grade_map("None=1,-=cannot-tell") == {"none": 1, "-": None}


def test_a_guides_own_word_is_a_grade(pair: Store, write: Callable[..., Path]) -> None:
    done = import_judgments(
        pair, write("j.csv", f"{LONG}q1,d1,ann,None\nq1,d2,ann,2\n"), grade_map=parse_grade_map("none=0,2=2")
    )
    assert (judged_pairs(pair), done.left_out) == ([("ann", "d1", 0), ("ann", "d2", 2)], {})
