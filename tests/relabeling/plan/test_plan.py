"""A plan is the due pairs and a part of the others at random; the same seed makes the same one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from curation.core.errors import RefusedError
from curation.guides.guide_text import parse_guide, read_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.rounds.use_guide import compute_guide_effects, use_guide
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.calendar import Quarter
from curation.relabeling.due_list import read_due
from curation.relabeling.due_sentences import describe_rest
from curation.relabeling.judged_pairs import GUIDE, JudgedPair, compare_versions
from curation.relabeling.pair_selection import OLDEST, RANDOM, STALE, select_pairs
from curation.relabeling.plan import DOCUMENT_GONE, make_plan
from curation.relabeling.request import PlanRequest
from curation.relabeling.set_state import read_set_state
from curation.relabeling.stored_plans import PlanPair, show_plan
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import rows_of
from tests.support.relabeled import FIRST, judged_project, texts_of, write_corpus, write_log

pytestmark = pytest.mark.slow

NOW = Quarter("2026-Q4")
TODAY, LATER = date(2026, 11, 22), date(2027, 11, 1)


def pair(
    query: str,
    document: str,
    back: int | None = 1,
    type: str = "tail",
    gone: bool = False,
    tags: tuple[str, ...] = (),
    guide_behind: bool = False,
) -> JudgedPair:
    when, now = None if back is None else NOW.before(back), None if gone else "h"
    return JudgedPair(
        *(query, document, 2, "majority", when, compare_versions("h", now), "h", now),
        *(guide_behind, type, tags, None, when, "g", ("ada", "ben"), 0),
        age=back,
    )


def parts(pairs: list[PlanPair]) -> dict[str, int]:
    found = [pair.part for pair in pairs]
    return {name: found.count(name) for name in (RANDOM, STALE)}


def many(queries: int, documents: int, **more: object) -> list[JudgedPair]:
    return [pair(f"q{q}", f"d{d}", **more) for q in range(queries) for d in range(documents)]  # type: ignore[arg-type]


def test_a_plan_has_its_size_and_every_pair_the_same_chance_in_the_random_part() -> None:
    pairs = select_pairs(many(20, 10), 0.15, 7)
    assert parts(pairs) == {RANDOM: 8, STALE: 22}
    assert {pair.inclusion_probability for pair in pairs if pair.part == RANDOM} == {8 / 178}
    assert {pair.inclusion_probability for pair in pairs if pair.part != RANDOM} == {1.0}


def test_the_random_part_reaches_every_pair_alike_that_is_not_due() -> None:
    rows = [pair(f"q{n}", "d", back=n) for n in range(40)]
    times = dict.fromkeys((row.pair for row in rows), 0)
    seeds = 600
    for seed in range(seeds):
        for one in select_pairs(rows, 0.15, seed):
            times[one.query_id, one.document_id] += one.part == RANDOM
    chosen = {row.pair for row in rows[-4:]}
    assert [times.pop(one) for one in chosen] == [0] * 4, "these are in each plan for certain"
    expected = seeds * 2 / 36  # two of the six pairs
    assert all(abs(count - expected) < 5 * expected**0.5 for count in times.values())


def test_the_random_part_has_each_type_and_quarter_within_one_of_its_share() -> None:
    rows = many(20, 10, type="head", back=2) + [
        pair(f"t{q}", f"d{d}", type="tail", back=3) for q in range(10) for d in range(10)
    ]
    for seed in range(20):
        pairs = select_pairs(rows, 0.2, seed)
        heads = sum(pair.stratum.startswith("head") for pair in pairs if pair.part == RANDOM)
        rest = {row.pair for row in rows} - {
            (pair.query_id, pair.document_id) for pair in pairs if pair.part != RANDOM
        }
        assert parts(pairs)[RANDOM] == 15
        assert abs(heads - 15 * sum(name.startswith("q") for name, _ in rest) / len(rest)) < 1


def test_a_plan_can_be_too_small_for_a_random_part(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=5, documents=2)
    plan = make_plan(store, PlanRequest(0.2, 7), TODAY)
    assert (plan.pairs, plan.inclusion_probability) == (2, 0.0)


def test_gone_documents_are_never_chosen() -> None:
    rows = many(10, 10) + [pair(f"q{q}", "gone", gone=True) for q in range(10)]
    assert len(select_pairs(rows, 0.1, 1)) == 10
    assert select_pairs([pair("q", "d", gone=True)], 0.1, 1) == []


def test_the_same_seed_has_the_same_plan_and_another_one_another(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path)
    one, same, other = (make_plan(store, PlanRequest(0.15, seed), TODAY) for seed in (7, 7, 8))
    assert one == same
    assert one.plan_id != other.plan_id
    assert rows_of(store, "SELECT count(*) FROM relabeling_plans") == [(2,)]
    assert (one.pairs, one.set_pairs, one.fraction_of_pairs) == (4, 30, 4 / 30)
    assert one.judgments == 8
    shown = show_plan(store, one.plan_id)
    assert (len(shown.pairs), shown.round) == (4, None)


def test_a_project_without_judgments_has_nothing_to_plan(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, texts_of(1, 2))
    with pytest.raises(RefusedError, match="nothing to judge again"):
        make_plan(store, PlanRequest(0.15, 1), TODAY)


def test_a_new_word_for_one_grade_makes_the_pairs_with_that_grade_due_alone(
    store: Store, tmp_path: Path
) -> None:
    """A hundred pairs, twenty of each grade 2 and 3: the plan takes fifteen, and says that five follow."""
    judged_project(store, tmp_path, queries=10, documents=10)
    guide = read_guide()
    assert make_plan(store, PlanRequest(0.2, 1), TODAY).reasons == {OLDEST: 15, RANDOM: 5}
    other = parse_guide(guide.source.replace(guide.scale[3].definition, "Answers all of it."))
    assert compute_guide_effects(store, other).stale_pairs == 20
    use_guide(store, other, open_rounds="keep")
    plan = make_plan(store, PlanRequest(0.2, 1), TODAY)
    shown = [row.grade for row in show_plan(store, plan.plan_id).pairs if row.part != RANDOM]
    assert set(shown) == {3}
    assert plan.reasons == {GUIDE: 15, RANDOM: 5}
    assert 0 <= plan.waiting <= 5, "chance may have drawn some of the five"
    said = read_due(store, TODAY).sentence
    assert said.startswith("20 of 100 pairs should be judged again this quarter: 15 whose grade's definition")
    assert said.endswith("About 5 minutes each for 2 people.")
    rest = describe_rest(show_plan(store, plan.plan_id).report)
    assert rest == ([f"{plan.waiting} more pairs follow in later quarters."] if plan.waiting > 1 else rest)


def test_with_half_of_the_documents_gone_the_other_half_is_the_frame(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=10, documents=5)
    left = {name: text for name, text in texts_of(10, 5).items() if int(name[1]) % 2}
    write_corpus(store, tmp_path, left)
    assert sum(pair.document == "gone" for pair in read_set_state(store, LATER).pairs) == 25
    plan = make_plan(store, PlanRequest(0.2, 1), LATER)
    assert (plan.set_pairs, plan.pairs, plan.fraction_of_pairs) == (50, 5, 0.2)
    use_guide(store, parse_guide(read_guide().source + "A word more.\n"), open_rounds="keep")
    assert sum(pair.reason == GUIDE for pair in read_set_state(store, LATER).pairs) == 25
    assert plan.left_out[DOCUMENT_GONE] == 25
    write_corpus(store, tmp_path, texts_of(10, 5))
    back = make_plan(store, PlanRequest(0.2, 1), LATER)
    assert (back.pairs, DOCUMENT_GONE in back.left_out) == (10, False)


def test_queries_that_traffic_left_are_replaced_by_new_ones_with_known_probabilities(
    store: Store, tmp_path: Path
) -> None:
    write_corpus(store, tmp_path, texts_of(4, 3))
    write_log(store, tmp_path, "spring", {f"topic {n}": 50 for n in range(4)})
    draw_sample(store, DrawRequest(4, 1))
    ids = rows_of(store, "SELECT query_id FROM queries ORDER BY normalised")
    given = [
        ImportedJudgment(query, f"q0-d{d}", who, 1, submitted_at=FIRST)
        for (query,) in ids
        for d in range(3)
        for who in ("ada", "ben")
    ]
    add_judgments(store, given, "first.csv", [])
    calm = make_plan(store, PlanRequest(0.2, 1), TODAY)
    assert (calm.new_queries, calm.retired) == (0, 0), "no log since: nothing is known of the traffic"
    write_log(
        store, tmp_path, "autumn", {"topic 0": 60, "topic 1": 50, "new a": 40, "new b": 30, "new c": 20}
    )
    plan = make_plan(store, PlanRequest(0.2, 1), TODAY)
    assert (plan.new_queries, plan.retired, plan.new_pairs) == (2, 2, 6)
    queries = show_plan(store, plan.plan_id).queries
    assert [q.normalised for q in queries if q.kind == "retire"] == ["topic 2", "topic 3"]
    joined = [q for q in queries if q.kind == "add"]
    assert all(q.probability and q.stratum and q.stratum.endswith("2026-Q4") for q in joined)
    assert {row.text for row in show_plan(store, plan.plan_id).pairs} <= {"topic 0", "topic 1"}


def test_the_command_prints_what_a_scheduler_reads(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path)
    command = ["--project", str(store.path), "relabel", "plan", "--seed", "7", "--today", "2026-11-22"]
    done = invoke([*command, "--share", "0.15", "--json"])
    answer = json.loads(done.stdout)
    assert answer["plan_id"] == json.loads(invoke([*command, "--json"]).stdout)["plan_id"]
    assert (answer["pairs"], answer["judgments"]) == (4, 8)
    assert answer["fraction_of_pairs"] == pytest.approx(4 / 30)
    assert "4 of 30 pairs should be judged again this quarter" in invoke(command).stdout
    assert invoke([*command, "--share", "0.5"]).exit_code == 1
    due = invoke([*command, "--due"])
    assert due.exit_code == 3
    assert (
        "4 of 30 pairs should be judged again this quarter: 3 not judged for the longest time" in due.stdout
    )
    assert rows_of(store, "SELECT count(*) FROM relabeling_plans") == [(1,)]
    shown = invoke(["--project", str(store.path), "relabel", "plan", "2026-Q4"])
    assert "not opened: 4 pairs" in shown.stdout
    assert invoke(["--project", str(store.path), "relabel", "plan", "2031-Q1"]).exit_code == 1
