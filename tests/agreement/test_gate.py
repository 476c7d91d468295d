"""The gate: what is met, missed, undefined or not asked for, and who gets past it."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from curation.agreement.gate import (
    Demand,
    Gate,
    GateCheck,
    check_gate,
    compute_gate,
    has_only_imports,
    read_demand,
    set_demand,
)
from curation.agreement.inter_annotator import NO_UNITS
from curation.agreement.intra_annotator import NOT_JUDGED, NOT_PLANTED, IntraAgreement, score_repeats
from curation.core.errors import InputError
from curation.core.statistics.estimate import Estimate
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.grades import import_grades
from tests.support.projects import grid, open_for, rows_of
from tests.support.repeats import repeats

GOOD = Estimate(0.85, 0.75, 0.92, 200)
DEMAND = Demand()


def person(identical: int, graded: int, planted: int = 40) -> IntraAgreement:
    return score_repeats(repeats("ada", planted, graded, identical, 0, 30.0))


def states(gate: Gate) -> list[str]:
    return [check.state for check in gate.checks]


@pytest.mark.parametrize(
    ("alpha", "state"),
    [
        (Estimate(0.85, 0.667, 0.92, 200), "met"),
        (Estimate(0.85, 0.666, 0.92, 200), "missed"),  # the interval's lower end counts, not the figure
        (Estimate(why=NO_UNITS), "undefined"),
        (Estimate(0.9, None, None, 30, "no interval: one query"), "undefined"),
        (Estimate(0.9, 0.8, 0.95, 9), "undefined"),
    ],
)
def test_alpha_is_met_by_the_lower_end_of_its_interval(alpha: Estimate, state: str) -> None:
    assert check_gate(alpha, [person(39, 40)], False, DEMAND).checks[0].state == state


@pytest.mark.parametrize(
    ("people", "imported", "state", "why"),
    [
        ([person(18, 20), person(20, 20)], False, "met", None),  # 38 of 40 together: from 0.835 on
        ([person(16, 20), person(20, 20)], False, "missed", None),  # 0.9, and its interval begins at 0.769
        ([person(14, 14)], False, "missed", None),  # all alike, and too few to be sure of 0.8
        ([person(9, 9)], False, "undefined", "too few: 9 of at least 10"),
        ([person(0, 0)], False, "undefined", NOT_JUDGED),
        ([person(0, 0, planted=0)], False, "undefined", NOT_PLANTED),
        ([], False, "undefined", NOT_PLANTED),
        ([person(0, 0)], True, "not asked for", "all judgments were imported"),
        ([person(5, 20)], True, "missed", None),  # where there are repeats, they count
    ],
)
def test_consistency_of_all_together_is_met_by_the_lower_end_of_its_interval(
    people: list[IntraAgreement], imported: bool, state: str, why: str | None
) -> None:
    check = check_gate(GOOD, people, imported, DEMAND).checks[1]
    assert check.state == state
    assert (why or "") in (check.why or "")


def test_repeats_of_who_agrees_with_nobody_do_not_open_the_gate() -> None:
    """One grade on everything is repeated perfectly."""
    constant = score_repeats(repeats("dora", 40, 40, 40, 0, 30.0))
    people = [person(34, 40), constant]
    assert check_gate(GOOD, people, False, DEMAND).open
    gate = check_gate(GOOD, people, False, DEMAND, {"dora"})
    assert (states(gate), gate.checks[1].n) == (["met", "missed"], 40)
    assert "40 repeats are left out" in gate.checks[1].sentence
    alone = check_gate(GOOD, [constant], False, DEMAND, {"dora"}).checks[1]
    assert (alone.state, alone.n) == ("undefined", 0)
    assert (alone.why or "").startswith("40 repeats are left out")


def test_of_a_project_with_one_judge_no_agreement_is_demanded_while_only_one_has_judged() -> None:
    nothing = Estimate(why=NO_UNITS)
    demand = Demand(single_judge=True)
    alone = check_gate(nothing, [person(0, 0)], True, demand, judges=1)
    assert (alone.open, alone.without_agreement, states(alone)) == (True, True, ["not asked for"] * 2)
    assert alone.checks[0].sentence == (
        "ordinal alpha: not asked for: the project is set to one annotator, so agreement cannot be measured; "
        "the threshold is 0.667"
    )
    assert states(check_gate(nothing, [person(0, 0)], True, demand, judges=2))[0] == "undefined"
    assert states(check_gate(nothing, [person(0, 0)], True, DEMAND, judges=1))[0] == "undefined"
    assert not check_gate(
        nothing, [person(0, 0)], False, demand, judges=1
    ).open  # consistency is still demanded


def test_a_check_is_told_with_its_figures() -> None:
    missed = check_gate(Estimate(0.7, 0.601, 0.79, 240), [person(0, 0)], False, DEMAND)
    assert [check.sentence for check in missed.against] == [
        "ordinal alpha: missed: 0.700, 95 % interval 0.601 to 0.790, on 240 doubly judged pairs; the "
        "interval must start at or above 0.667",
        "consistency: undefined: no blind duplicate judged twice yet; the threshold is 0.8",
    ]


def test_a_demand_is_stored_and_out_of_range_refused(store: Store) -> None:
    with pytest.raises(InputError, match=r"alpha is 1.5.*\n.*consistency is -1"):
        set_demand(store, Demand(1.5, -1))
    set_demand(store, Demand(0.5, 0.7))
    with store.reading() as cursor:
        assert read_demand(cursor) == Demand(0.5, 0.7)
        assert cursor.execute("SELECT count(*) FROM events WHERE action = 'gate'").fetchall() == [(1,)]


def test_answers_on_a_screen_are_told_from_imported_ones(store: Store) -> None:
    open_for(store, grid(4, 2), "ada")
    with store.reading() as cursor:
        assert not has_only_imports(cursor), "nothing is judged, so nothing is imported"
    add_judgments(store, [ImportedJudgment("query 0", "document 0.0", "ada", 2)], "a.csv")
    with store.reading() as cursor:
        assert has_only_imports(cursor)
    ((item,),) = rows_of(
        store, "SELECT presentation_id FROM presentations WHERE document_id = 'document 1.0'"
    )
    seen = datetime(2026, 3, 2)
    submit_judgments(
        store, "ada", [Submission(item, 0, "grade", "key-of-ada", grade=1, shown_at=seen, active_ms=900)]
    )
    with store.reading() as cursor:
        assert not has_only_imports(cursor)


@pytest.mark.slow
def test_the_command_shows_figures_beside_the_demand(store: Store) -> None:
    rows = [(f"q{n // 3}", f"d{n}", who, n % 4) for n in range(18) for who in ("ada", "ben")]
    import_grades(store, rows)
    project = ["--project", str(store.path), "gate"]
    printed = json.loads(invoke([*project, "--consistency", "0.9", "--json"]).stdout)
    assert printed["open"]
    assert [check["state"] for check in printed["checks"]] == ["met", "not asked for"]
    assert compute_gate(store).checks[1] == GateCheck(**printed["checks"][1])
    assert "The gate is open." in invoke(project).stdout
