"""The report: what counts between annotators, what within one, and what is said to people."""

from __future__ import annotations

import json

import pytest

from curation.agreement.annotators.intra_annotator import NOT_JUDGED, NOT_PLANTED
from curation.agreement.between.inter_annotator import NO_UNITS
from curation.agreement.report.findings import boundaries
from curation.agreement.report.report import agreement_findings, agreement_report
from curation.cli.agreement import as_object
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.guide import store_guide
from curation.guides.parse_guide import read_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import (
    add_names,
    add_pairs,
    add_people,
    built_once,
    decide_pairs,
    grade_next,
    grid,
    rows_of,
)

GRADES = {"ada": [0, 1, 2, 3, 3, 0, 1, 2], "ben": [0, 1, 2, 2, 3, 0, 0, 2]}


def judged_twice(store: Store) -> None:
    """Eight pairs of four queries, each graded by ada and ben."""
    pairs = grid(4, 2)
    add_pairs(store, pairs)
    flat = [(query, document) for query, found in pairs.items() for document in found]
    rows = [
        ImportedJudgment(*pair, who, grade)
        for who, grades in GRADES.items()
        for pair, grade in zip(flat, grades, strict=True)
    ]
    add_judgments(store, rows, "both.csv")


@built_once
def repeated(store: Store) -> Store:
    """A round with blind duplicates for ada, who graded all first showings, and none of the second ones."""
    add_pairs(store, grid(20, 5))
    add_people(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.15, seed=1)
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
    assert {outcome.status for outcome in submit(store, who, submissions)} == {"saved"}
    return len(rows)


def test_the_json_has_the_keys_that_others_read(store: Store) -> None:
    judged_twice(store)
    report = as_object(agreement_report(store), breakdown=None)
    for level in ("nominal", "ordinal", "ac2", "raw"):
        assert {"value", "low", "high", "units", "undefined"} <= report["between"][level].keys()
    assert {"annotator", "identical", "low", "high", "n", "undefined"} <= report["within"][0].keys()
    assert {"rule": "majority", "pairs": 8, "disputed": 2, "adjudicated": 0}.items() <= report[
        "consensus"
    ].items()
    json.dumps(report, allow_nan=False)


def test_agreement_of_chosen_annotators_is_that_of_a_project_of_theirs(store: Store) -> None:
    judged_twice(store)
    alone = agreement_report(store).between
    rows = [ImportedJudgment("query 0", f"document 0.{number}", "eve", 3) for number in range(2)]
    add_judgments(store, rows, "eve.csv")
    assert agreement_report(store).between != alone
    chosen = agreement_report(store, annotators=["ben", "ada"])
    assert (chosen.between, chosen.annotators) == (alone, ["ada", "ben"])
    assert [row.annotator for row in chosen.within] == ["ada", "ben"]
    with pytest.raises(InputError, match="at least two"):
        agreement_report(store, annotators=["ada"])
    with pytest.raises(NotFoundError, match="mallory"):
        agreement_report(store, annotators=["ada", "mallory"])


def test_at_a_boundary_only_its_two_sides_count(store: Store) -> None:
    judged_twice(store)
    found = agreement_report(store, boundary=2, details=True)
    assert (found.scale, found.steps, found.boundary) == ((0, 1), ("below 2", "2 or above"), 2)
    assert found.between.raw.value == 1.0, "ada and ben differ within the sides only"
    assert found.between.marginals == (8, 8)
    assert agreement_report(store, boundary=3).between.raw.value == 7 / 8
    for boundary in (0, 4):
        with pytest.raises(InputError, match=f"Boundary {boundary}: .* above the lowest: 1, 2, 3"):
            agreement_report(store, boundary=boundary)


def test_the_command_takes_annotators_and_a_boundary(store: Store) -> None:
    judged_twice(store)
    command = ["--project", str(store.path), "agreement", "--annotators", "ada,ben", "--boundary", "2"]
    assert json.loads(invoke([*command, "--json"]).stdout)["between"]["raw"]["value"] == 1.0
    assert "ada, ben only, grades below 2 against 2 and above" in " ".join(invoke(command).stdout.split())


def test_an_empty_project_has_figures_with_reasons(store: Store) -> None:
    report = agreement_report(store)
    assert report.between.ordinal.undefined == NO_UNITS
    assert report.within == ()
    assert len(agreement_findings(report)) == 3


def test_an_unknown_round_is_named_with_those_there_are(store: Store) -> None:
    judged_twice(store)
    with pytest.raises(NotFoundError, match=r"second.*imported: both\.csv"):
        agreement_report(store, "second")


def test_cannot_tell_is_counted_and_enters_no_alpha(store: Store) -> None:
    judged_twice(store)
    before = agreement_report(store).between
    add_judgments(store, [ImportedJudgment("query 0", "document 0.0", "cyd", None)], "more.csv")
    after = agreement_report(store).between
    assert (after.cannot_tell, after.annotators, after.judgments) == (1, 3, 16)
    assert after.ordinal == before.ordinal


def test_a_round_is_reported_by_what_was_graded_in_it(store: Store) -> None:
    judged_twice(store)
    add_judgments(store, [ImportedJudgment("query 0", "document 0.0", "cyd", 3)], "more.csv")
    both = agreement_report(store, "imported: both.csv")
    assert (both.between.judgments, both.between.annotators, len(both.within)) == (16, 2, 2)
    more = agreement_report(store, "imported: more.csv")
    assert more.between.ordinal.undefined == NO_UNITS
    assert (more.between.single, more.consensus.pairs) == (1, 1)


def test_blind_duplicates_enter_consistency_and_nothing_else(repeated: Store) -> None:
    before = agreement_report(repeated, "first")
    planted = answer(repeated, "p.duplicate_of IS NOT NULL", "ada", lambda position: 3)
    after = agreement_report(repeated, "first")
    assert after.between == before.between
    assert after.consensus == before.consensus
    ada = after.within[0]
    assert (ada.n, ada.planted, ada.undefined) == (planted, planted, None)


def test_consistency_is_the_share_of_identical_grades_with_its_distance(repeated: Store) -> None:
    planted = answer(repeated, "p.duplicate_of IS NOT NULL", "ada", lambda position: position % 4)
    ada = agreement_report(repeated).within[0]
    assert (ada.identical, ada.high, ada.n, ada.too_few) == (1.0, 1.0, planted, False)
    with repeated.reading() as cursor:
        (distance,) = cursor.execute(
            "SELECT avg(a.position - f.position) FROM presentations a JOIN presentations f "
            "ON f.presentation_id = a.duplicate_of WHERE a.annotator = 'ada'"
        ).fetchone()
    assert ada.distance == pytest.approx(distance)
    assert ada.distance >= 20


def test_a_cannot_tell_on_a_repeat_is_kept_apart(repeated: Store) -> None:
    planted = answer(repeated, "p.duplicate_of IS NOT NULL", "ada", lambda position: None)
    ada = agreement_report(repeated).within[0]
    assert (ada.n, ada.cannot_tell, ada.identical, ada.undefined) == (0, planted, None, NOT_JUDGED)


def test_without_a_repeat_consistency_is_undefined_with_a_reason(repeated: Store) -> None:
    ada, ben = agreement_report(repeated).within
    assert (ada.annotator, ada.n, ada.undefined, ada.distance) == ("ada", 0, NOT_JUDGED, None)
    assert (ben.annotator, ben.undefined) == ("ben", NOT_JUDGED)


def test_where_nothing_was_planted_the_reason_says_so(store: Store) -> None:
    judged_twice(store)
    assert {row.undefined for row in agreement_report(store).within} == {NOT_PLANTED}


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
        agreement_report(store)
    assert agreement_report(store, "imported: both.csv").scale == (0, 1, 2, 3)


def test_the_command_prints_one_json_object_or_tables_with_sentences(store: Store) -> None:
    judged_twice(store)
    project = ["--project", str(store.path), "agreement"]
    printed = json.loads(invoke([*project, "--seed", "3", "--json"]).stdout)
    assert printed["seed"] == 3
    assert printed["between"]["ordinal"]["units"] == 8
    text = invoke(project).stdout
    assert "too few: 8 of at least 10" in text
    assert "2 of 8 judged pairs are disputed" in text


def test_a_pilot_never_enters_the_projects_figures(store: Store) -> None:
    add_pairs(store, grid(12, 2))
    add_names(store, "ada", "ben")
    open_round(store, "try", ["ada", "ben"], kind="pilot", seed=1)
    for who, grade in (("ada", 0), ("ben", 3)):
        grade_next(store, who, 40, grade)
    assert agreement_report(store).between.judgments == 0
    assert agreement_report(store, "try").between.raw.value == 0


@pytest.mark.parametrize("name", [None, "first"])
def test_control_items_and_blind_duplicates_never_enter(store: Store, name: str | None) -> None:
    add_pairs(store, grid(5, 4))
    add_names(store, "ada", "ben", "mary")
    open_round(store, "earlier", ["mary"], overlap=1, duplicates=0)
    grade_next(store, "mary", 20)
    decide_pairs(store, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(5) for d in range(4)})
    add_pairs(store, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(12)})
    opened = open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.08, seed=2, control_items=0.1)
    assert opened.control_items["ada"] > 0
    assert rows_of(store, "SELECT count(duplicate_of) FROM presentations")[0][0] > 0
    for who in ("ada", "ben"):
        grade_next(store, who, 300, 1)
    found = agreement_report(store, name, details=True)
    assert found.between.units == found.details.annotator_pairs[0].raw.units == 60
    assert found.between.single == (20 if name is None else 0)
    assert sum(found.details.confusion.pairs[1]) == 60


def test_details_are_there_where_they_are_asked_for(store: Store) -> None:
    judged_twice(store)
    plainly, fully = agreement_report(store), agreement_report(store, details=True)
    assert plainly.details is None
    assert fully.between == plainly.between
    assert [part.name for part in fully.details.by.boundary] == ["0|1", "1|2", "2|3"]
    assert (fully.details.annotator_pairs, fully.details.few_shared) == ((), 1)
    assert boundaries(fully.details.by.boundary).startswith("No boundary has enough")


def test_boundaries_that_tie_are_all_named(store: Store) -> None:
    """Where people differ by 0 against 2 alone, both boundaries between have the same alpha."""
    add_pairs(store, grid(40, 2))
    rows = [
        ImportedJudgment(f"query {query}", f"document {query}.{place}", who, grade)
        for query in range(40)
        for place in range(2)
        for who, grade in (("ada", 2 * (query % 2)), ("ben", 2 * ((query + (query % 7 == 0)) % 2)))
    ]
    add_judgments(store, rows, "both.csv")
    details = agreement_report(store, details=True).details
    assert details is not None
    assert "between grades below 1 and from 1 on, and below 2 and from 2 on: " in boundaries(
        details.by.boundary
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
    found = agreement_report(store, details=True).details.by.type
    assert [(part.kind, part.name, part.alpha.units) for part in found] == [
        ("tag", "question", 2),
        ("tag", "no tag", 6),
        ("stratum", "head", 2),
    ]


def test_the_command_has_all_parts_in_json_or_those_asked_for(store: Store) -> None:
    judged_twice(store)
    project = ["--project", str(store.path), "agreement"]
    whole = json.loads(invoke([*project, "--json"]).stdout)
    assert whole["by"].keys() == {"type", "boundary", "pair", "week"}
    assert {"confusion", "origins", "few_shared"} <= whole.keys()
    weeks = json.loads(invoke([*project, "--json", "--breakdown", "week"]).stdout)
    assert weeks["by"].keys() == {"week"}
    assert weeks["by"]["week"] == whole["by"]["week"]


@pytest.mark.parametrize(
    ("by", "heading"),
    [
        ("type", "By query type"),
        ("boundary", "Which grades met"),
        ("pair", "Pairwise agreement"),
        ("week", "By week"),
    ],
)
def test_the_command_has_the_reports_section_of_each_part_with_its_figures(
    store: Store, by: str, heading: str
) -> None:
    judged_twice(store)
    done = invoke(["--project", str(store.path), "agreement", "--breakdown", by])
    assert done.exit_code == 0
    assert heading in done.stdout


def test_leaving_annotators_out_is_refused_with_what_does_the_work_now(store: Store) -> None:
    done = invoke(["--project", str(store.path), "agreement", "--breakdown", "annotator"])
    assert "--breakdown pair shows each two annotators" in str(done.exception)
    assert "none is not one of type, boundary, pair, week" in invoke(
        ["--project", str(store.path), "agreement", "--breakdown", "none"]
    ).stderr.replace("'", "")


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
    assert "the page was not written" in str(refused.exception)
