"""The report: what counts between annotators, what within one, and what people read."""

from __future__ import annotations

import json

import pytest

from curation.agreement.inter_annotator import NO_UNITS
from curation.agreement.intra_annotator import NOT_JUDGED
from curation.agreement.report import make_agreement_report
from curation.agreement.section_sentences import describe_boundary
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.grades import import_grades
from tests.support.projects import (
    add_names,
    add_pairs,
    built_once,
    decide_pairs,
    grade_next,
    grid,
    open_for,
    rows_of,
)

pytestmark = pytest.mark.slow

GRADES = {"ada": [0, 1, 2, 3, 3, 0, 1, 2], "ben": [0, 1, 2, 2, 3, 0, 0, 2]}


def judged_twice(store: Store) -> None:
    """Eight pairs of four queries, each graded by ada and ben."""
    pairs = [(f"query {query}", f"document {query}.{place}") for query in range(4) for place in range(2)]
    rows = [(*pair, who, grade) for who in GRADES for pair, grade in zip(pairs, GRADES[who], strict=True)]
    import_grades(store, rows, "both.csv")


@built_once
def repeated(store: Store) -> Store:
    """A round with blind duplicates for ada, who graded all first showings, and none of the second ones."""
    open_for(store, grid(20, 5), "ada", "ben", duplicates=0.15, seed=1)
    answer(store, "p.duplicate_of IS NULL", "ada", lambda position: position % 4)
    return store


def answer(store: Store, where: str, who: str, grade) -> int:
    """Submit a grade, or None for cannot-tell, for the annotator's presentations; returns their number."""
    with store.reading() as cursor:
        rows = cursor.execute(
            f"""
            SELECT p.presentation_id, coalesce(f.position, p.position)
            FROM presentations p LEFT JOIN presentations f ON f.presentation_id = p.duplicate_of
            WHERE p.annotator = ? AND {where} ORDER BY p.position
            """,
            [who],
        ).fetchall()
    grades = [(item, grade(position)) for item, position in rows]
    submissions = [
        Submission(item, 0, "cannot_tell" if value is None else "grade", f"key-{item}", grade=value)
        for item, value in grades
    ]
    assert {outcome.status for outcome in submit_judgments(store, who, submissions)} == {"saved"}
    return len(rows)


def test_an_unknown_round_is_named_with_those_there_are(store: Store) -> None:
    judged_twice(store)
    with pytest.raises(NotFoundError, match=r"second.*imported: both\.csv"):
        make_agreement_report(store, "second")


def test_a_round_is_reported_by_what_was_graded_in_it(store: Store) -> None:
    judged_twice(store)
    add_judgments(store, [ImportedJudgment("query 0", "document 0.0", "cyd", 3)], "more.csv")
    both = make_agreement_report(store, "imported: both.csv")
    assert (both.between.judgments, both.between.annotators, len(both.within)) == (16, 2, 2)
    more = make_agreement_report(store, "imported: more.csv")
    assert more.between.ordinal.why == NO_UNITS
    assert (more.between.single, more.consensus.pairs) == (1, 1)


def test_blind_duplicates_enter_consistency_with_their_distance_and_nothing_else(repeated: Store) -> None:
    before = make_agreement_report(repeated, "first")
    planted = answer(repeated, "p.duplicate_of IS NOT NULL", "ada", lambda position: position % 4)
    after = make_agreement_report(repeated, "first")
    assert after.between == before.between
    assert after.consensus == before.consensus
    ada = after.within[0]
    assert (ada.identical, ada.n, ada.planted, ada.undefined) == (1.0, planted, planted, None)
    sql = """SELECT avg(a.position - f.position) FROM presentations a JOIN presentations f
        ON f.presentation_id = a.duplicate_of WHERE a.annotator = 'ada'"""
    assert rows_of(repeated, sql) == [(pytest.approx(ada.distance),)]
    assert ada.distance >= 20


def test_a_cannot_tell_on_a_repeat_is_kept_apart(repeated: Store) -> None:
    planted = answer(repeated, "p.duplicate_of IS NOT NULL", "ada", lambda position: None)
    ada = make_agreement_report(repeated).within[0]
    assert (ada.n, ada.cannot_tell, ada.identical, ada.undefined) == (0, planted, None, NOT_JUDGED)


def test_grades_of_another_scale_are_refused_for_the_project_and_told_for_their_round(
    store: Store, tmp_path
) -> None:
    judged_twice(store)
    guide = tmp_path / "binary.md"
    guide.write_text(
        "---\ntitle: Binary\nscale:\n"
        '  - {value: 0, name: "no", key: "0", colour: "#777777", definition: Not relevant.}\n'
        '  - {value: 1, name: "yes", key: "1", colour: "#007700", definition: Relevant.}\n'
        "---\nRead and decide.\n",
        encoding="utf-8",
    )
    with store.transaction() as cursor:
        store_guide(cursor, read_guide(guide))
    with pytest.raises(RefusedError, match="--round"):
        make_agreement_report(store)
    assert make_agreement_report(store, "imported: both.csv").scale == (0, 1, 2, 3)


def test_a_pilot_never_enters_the_projects_figures(store: Store) -> None:
    add_pairs(store, grid(12, 2))
    add_names(store, "ada", "ben")
    open_round(store, RoundRequest("try", ["ada", "ben"], pilot=True, seed=1))
    for who, grade in (("ada", 0), ("ben", 3)):
        grade_next(store, who, 40, grade)
    assert make_agreement_report(store).between.judgments == 0
    assert make_agreement_report(store, "try").between.raw.value == 0


@pytest.mark.parametrize("name", [None, "first"])
def test_control_items_and_blind_duplicates_never_enter(store: Store, name: str | None) -> None:
    add_pairs(store, grid(5, 4))
    add_names(store, "ada", "ben", "mary")
    open_round(store, RoundRequest("earlier", ["mary"], overlap=1, duplicates=0))
    grade_next(store, "mary", 20)
    decide_pairs(store, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(5) for d in range(4)})
    add_pairs(store, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(12)})
    opened = open_round(
        store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0.08, seed=2, control_items=0.1)
    )
    assert opened.control_items["ada"] > 0
    assert rows_of(store, "SELECT count(duplicate_of) FROM presentations")[0][0] > 0
    for who in ("ada", "ben"):
        grade_next(store, who, 300, 1)
    report = make_agreement_report(store, name, details=True)
    assert report.between.units == report.details.annotator_pairs[0].raw.n == 60
    assert report.between.single == (20 if name is None else 0)
    assert sum(report.details.confusion.pairs[1]) == 60


def test_boundaries_that_tie_are_all_named(store: Store) -> None:
    """Where people differ by 0 against 2 alone, both boundaries between have the same alpha."""
    rows = [
        (f"query {query}", f"document {place}", who, grade)
        for query in range(40)
        for place in range(2)
        for who, grade in (("ada", 2 * (query % 2)), ("ben", 2 * ((query + (query % 7 == 0)) % 2)))
    ]
    import_grades(store, rows)
    details = make_agreement_report(store, details=True).details
    assert (
        "between grades below 1 and grades of 1 or more, and below 2 and grades of 2 or more: "
        in describe_boundary(details.boundaries)
    )


def test_tags_and_strata_of_the_project_are_parts(store: Store) -> None:
    judged_twice(store)
    with store.transaction() as cursor:
        row = "INSERT INTO query_tags VALUES (?, 'question', ?, ?, ?, 'who', now()::TIMESTAMP)"
        cursor.execute(row, ["query 0", 0, True, False])
        cursor.execute(row, ["query 1", 0, True, False])
        cursor.execute(row, ["query 1", 1, False, True])  # a person says no
        cursor.execute("INSERT INTO samples VALUES ('s', '{}', '{}', now()::TIMESTAMP)")
        cursor.execute("INSERT INTO sample_queries VALUES ('s', 'query 2', 'head', 5, 0.5)")
        cursor.execute("INSERT INTO settings VALUES ('sample', 's')")
    parts = make_agreement_report(store, details=True).details.types
    assert [(part.kind, part.name, part.alpha.n) for part in parts] == [
        ("tag", "question", 2),
        ("tag", "no tag", 6),
        ("stratum", "head", 2),
    ]


def test_the_command_prints_one_json_object_with_all_parts_or_those_asked_for(store: Store) -> None:
    judged_twice(store)
    project = ["--project", str(store.path), "agreement"]
    whole = json.loads(invoke([*project, "--seed", "3", "--json"]).stdout)
    assert (whole["seed"], whole["between"]["ordinal"]["n"]) == (3, 8)
    for level in ("nominal", "ordinal", "ac2", "raw"):
        assert {"value", "low", "high", "n", "why"} <= whole["between"][level].keys()
    assert {"annotator", "identical", "low", "high", "n", "undefined"} <= whole["within"][0].keys()
    consensus = {"rule": "majority", "pairs": 8, "disputed": 2, "adjudicated": 0}
    assert consensus.items() <= whole["consensus"].items()
    assert whole["by"].keys() == {"type", "boundary", "pair"}
    assert {"confusion", "origins", "few_shared"} <= whole.keys()
    types = json.loads(invoke([*project, "--seed", "3", "--json", "--breakdown", "type"]).stdout)
    assert types["by"] == {"type": whole["by"]["type"]}
    refused = invoke([*project, "--breakdown", "none"]).stderr.replace("'", "")
    assert "none is not one of type, boundary, pair, annotator" in refused


def test_the_command_writes_the_page(store: Store, tmp_path) -> None:
    judged_twice(store)
    target = tmp_path / "agreement.html"
    arguments = ["--project", str(store.path), "agreement", "--html", str(target), "--json"]
    done = invoke(arguments)
    json.loads(done.stdout)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    arguments[4] = str(tmp_path / "nowhere" / "agreement.html")
    refused = invoke(arguments)
    assert isinstance(refused.exception, InputError)
    assert "the file was not written" in str(refused.exception)
