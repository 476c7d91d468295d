"""A plan is a part at random, what is due, controls and the stalest; the same seed makes the same one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from curation.errors import InputError, RefusedError
from curation.guides.guide import parse_guide, read_guide
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.lifecycle import put_in_force
from curation.relabeling.opening import open_plan
from curation.relabeling.plan.choice import (
    ALL_GONE,
    CONTROL,
    DUE,
    RANDOM,
    STALE,
    GuideWork,
    PairChoice,
    ScoredPair,
    choose_pairs,
)
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.plan.sections import plan_sentences, work_told
from curation.relabeling.plan.stored import show_plan
from curation.relabeling.request import QuarterRequest
from curation.relabeling.staleness.calendar import JudgedPair, Quarter
from curation.relabeling.staleness.precision import SetSpread
from curation.relabeling.staleness.staleness import staleness
from curation.sampling.sample import draw_sample
from curation.settling.consensus import PairConsensus
from curation.sources.judgments import ImportedJudgment
from curation.store import Store
from curation.text import digest, plain
from tests.support.command_line import invoke
from tests.support.projects import rows_of
from tests.support.relabeled import (
    FIRST,
    PEOPLE,
    answer_round,
    first_grade,
    judged_project,
    texts_of,
    write_corpus,
    write_log,
)

NOW = Quarter(2026, 4)
TODAY = date(2026, 11, 22)


def pair(
    query: str,
    document: str,
    back: int | None = 1,
    score: float = 0.0,
    type: str = "tail",
    gone: bool = False,
    tags: tuple[str, ...] = (),
    guide_behind: bool = False,
    reworded: bool = False,
) -> ScoredPair:
    consensus = PairConsensus(query, document, 2, "majority", {2: 2}, 0, 2, 1.0)
    when = None if back is None else NOW.before(back)
    judged = JudgedPair(
        *(consensus, type, tags, when, None, None, when),
        *("h", None if gone else "h", "g", guide_behind, ("ada", "ben"), 0, reworded),
    )
    return ScoredPair(judged, score, 0.0)


def parts(choice: PairChoice) -> dict[str, int]:
    found = [one.part for one in choice.pairs]
    return {name: found.count(name) for name in (RANDOM, DUE, STALE, CONTROL)}


def many(queries: int, documents: int, **more: object) -> list[ScoredPair]:
    return [pair(f"q{q}", f"d{d}", **more) for q in range(queries) for d in range(documents)]  # type: ignore[arg-type]


def test_a_plan_has_its_size_and_every_pair_the_same_chance_in_the_random_part() -> None:
    rows = many(20, 10)
    choice = choose_pairs(rows, 0.15, 7, NOW)
    assert (len(choice.pairs), choice.frame) == (30, 200)
    assert parts(choice) == {RANDOM: 8, DUE: 16, STALE: 3, CONTROL: 3}
    assert {one.probability for one in choice.pairs if one.part == RANDOM} == {8 / 200}
    assert {one.probability for one in choice.pairs if one.part != RANDOM} == {None}


def test_the_random_part_does_not_look_at_scores_and_reaches_every_pair_alike() -> None:
    rows = [pair(f"q{n}", "d", score=n / 40) for n in range(40)]
    times = dict.fromkeys((row.pair for row in rows), 0)
    seeds = 600
    for seed in range(seeds):
        for one in choose_pairs(rows, 0.15, seed, NOW).pairs:
            times[one.scored.pair] += one.part == RANDOM
    expected = seeds * 2 / 40  # two of the six pairs
    assert all(abs(count - expected) < 5 * expected**0.5 for count in times.values())


def test_the_random_part_has_each_type_and_quarter_within_one_of_its_share() -> None:
    rows = many(20, 10, type="head", back=2) + [
        pair(f"t{q}", f"d{d}", type="tail", back=3) for q in range(10) for d in range(10)
    ]
    for seed in range(20):
        drawn = [one for one in choose_pairs(rows, 0.2, seed, NOW).pairs if one.part == RANDOM]
        heads = sum(one.scored.judged.type == "head" for one in drawn)
        assert len(drawn) == 15
        assert abs(heads - 15 * 200 / 300) < 1


def test_every_type_tag_and_past_quarter_is_represented() -> None:
    rows = [
        *many(10, 10),
        pair("rare", "d", type="head"),
        pair("old", "d", back=5),
        pair("odd", "d", tags=("x",)),
    ]
    chosen = [one.scored.judged for one in choose_pairs(rows, 0.1, 3, NOW).pairs]
    assert {one.type for one in chosen} == {"head", "tail"}
    assert {one.judged for one in chosen} == {NOW.before(1), NOW.before(5)}
    assert any(one.tags for one in chosen)


def test_pairs_at_the_end_of_two_years_are_all_in() -> None:
    rows = many(10, 10) + [pair("late", f"d{d}", back=8) for d in range(8)]
    choice = choose_pairs(rows, 0.15, 1, NOW)
    assert sum(one.scored.judged.query_id == "late" for one in choice.pairs) == 8
    assert (choice.short, choice.needed) == (0, None)


def test_without_room_for_what_is_due_the_plan_says_which_fraction_has_it() -> None:
    choice = choose_pairs(many(10, 10, back=8), 0.1, 1, NOW)
    assert (len(choice.pairs), choice.short, choice.needed) == (10, 90, 1.0)
    assert len({one.scored.judged.query_id for one in choice.pairs}) >= 9, "queries in turns"


def test_two_years_of_plans_judge_every_pair_again_at_fifteen_percent() -> None:
    """Whatever scores say: eight quarters, the score of each pair drawn anew."""
    last = {(f"q{q}", f"d{d}"): NOW for q in range(15) for d in range(12)}
    for later in range(1, 25):
        quarter = NOW.before(-later)
        rows = []
        for (query, document), when in last.items():
            row = pair(query, document, score=int(digest(query, document, later)[:4], 16) / 65536)
            rows.append(row._replace(judged=row.judged._replace(judged=when, known_since=when)))
        choice = choose_pairs(rows, 0.15, later, quarter)
        assert choice.short == 0
        last |= {one.scored.pair: quarter for one in choice.pairs}
        assert max(quarter.since(when) for when in last.values()) <= 8


def test_grades_whose_words_changed_come_first_and_the_plan_says_how_many_quarters_the_rest_takes() -> None:
    """The guide changed for 200 pairs, the words of the grade itself for the 20 with the lowest scores."""
    rows = {
        row.pair: row._replace(score=d / 20)
        for d in range(10)
        for q in range(20)
        for row in [pair(f"q{q}", f"d{d}", guide_behind=True, reworded=d == 0)]
    }
    first = choose_pairs(rows.values(), 0.15, 1, NOW)
    assert (first.guide.stale, first.guide.reworded) == (200, 20)
    assert first.guide.taken == len(first.pairs) == 30
    assert first.guide.taken_reworded == 20
    quarters, choice = 0, first
    while choice.guide.stale > choice.guide.taken:
        for one in choice.pairs:
            judged = one.scored.judged._replace(
                guide_behind=False, reworded=False, judged=NOW.before(-quarters)
            )
            rows[one.scored.pair] = ScoredPair(judged, 0.0, 0.0)
        quarters += 1
        choice = choose_pairs(rows.values(), 0.15, quarters, NOW.before(-quarters))
    assert abs(quarters - first.guide.quarters) <= 1


def test_grades_whose_words_changed_come_first_where_more_is_due_than_there_is_room_for() -> None:
    rows = [
        pair(f"q{q}", f"d{d}", back=None, guide_behind=True, reworded=q < 4 and d < 5)
        for q in range(20)
        for d in range(10)
    ]
    found = choose_pairs(rows, 0.15, 1, NOW)
    assert found.needed is not None
    assert found.guide.taken_reworded == found.guide.reworded == 20


@pytest.mark.parametrize(
    ("queries", "pairs", "share", "tied", "width", "year"),
    [
        (100, 1000, 0.05, 0.05, 0.154, 0.075),
        (100, 1000, 0.15, 0.05, 0.230, 0.119),
        (100, 1000, 0.15, 0.3, 0.237, 0.129),
    ],
)
def test_the_expected_width_is_that_of_real_plans(
    queries: int, pairs: int, share: float, tied: float, width: float, year: float
) -> None:
    """Mean widths that `benchmarks.bench_relabeling 200` measured; a beta's correlation is t / (1 + t)."""
    spread = SetSpread(pairs, 1 / queries, share, tied / (1 + tied))
    expected = spread.expected(0.15)
    assert expected.pairs == 38
    assert expected.half_width == pytest.approx(width / 2, abs=0.002)
    assert spread.half_width(4 * expected.pairs) == pytest.approx(year / 2, abs=0.002)
    number = spread.pairs_for(0.1)
    assert spread.half_width(number) <= 0.1 < spread.half_width(number - 1)
    assert SetSpread(pairs, 0.5, 0.5, 1.0).pairs_for(0.1) == pairs + 1, "two queries are as good as two pairs"


def test_a_plan_is_made_for_a_wanted_interval_and_the_next_one_knows_how_labels_go_wrong(
    store: Store, tmp_path: Path
) -> None:
    """All labels of every second query are wrong: they go wrong together."""
    judged_project(store, tmp_path, queries=20, documents=10)
    before = staleness(store, TODAY).expected[-1]
    assert (before.fraction, before.pairs, before.spread.known) == (0.2, 10, 0)
    dry = make_plan(store, 0.2, 7, TODAY, half_width=0.125, dry_run=True)
    assert dry.parts[RANDOM] == before.spread.pairs_for(0.125) > 10
    with pytest.raises(RefusedError, match=r"takes 201 random pairs or more\. The plan has 40 pairs: ± 10"):
        make_plan(store, 0.2, 7, TODAY, half_width=0.05)
    assert rows_of(store, "SELECT count(*) FROM relabeling_plans") == [(0,)]
    plan = make_plan(store, 0.2, 7, TODAY, half_width=0.11)
    assert plan.expected is not None
    assert plan.expected.pairs == plan.parts[RANDOM] > 30
    assert rows_of(store, "SELECT parameters->>'half_width' FROM relabeling_plans") == [("0.11",)]
    open_plan(store, QuarterRequest(PEOPLE, plan.plan_id, duplicates=0))
    answer_round(
        store, "2026-Q4", lambda _, query, document: (first_grade("", "", document) + int(query[1:]) % 2) % 4
    )
    known = staleness(store, date(2027, 1, 5)).expected[0].spread
    assert known.known == plan.parts[RANDOM]
    assert known.correlation == 1
    assert known.share == pytest.approx(0.5, abs=0.2)


def test_a_plan_too_small_for_a_random_part_says_nothing_of_one(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=5, documents=2)
    plan = make_plan(store, 0.2, 7, TODAY, dry_run=True)
    assert (plan.pairs, plan.inclusion_probability, plan.expected) == (2, 0.0, None)
    assert not any("interval of wrong labels" in one for one in plan_sentences(plain(plan)))


def test_gone_documents_are_left_out_and_counted() -> None:
    rows = many(10, 10) + [pair(f"q{q}", "gone", gone=True) for q in range(10)]
    choice = choose_pairs(rows, 0.1, 1, NOW)
    assert (choice.frame, choice.left_out[ALL_GONE]) == (100, 10)
    assert choose_pairs([pair("q", "d", gone=True)], 0.1, 1, NOW).pairs == ()


def test_the_same_seed_has_the_same_plan_and_another_one_another(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path)
    one, same, other = (make_plan(store, 0.15, seed, TODAY) for seed in (7, 7, 8))
    assert one == same
    assert one.plan_id != other.plan_id
    assert rows_of(store, "SELECT count(*) FROM relabeling_plans") == [(2,)]
    assert (one.pairs, one.set_pairs, one.fraction_of_pairs) == (4, 30, 4 / 30)
    assert (one.hours, one.pace_unknown) == (None, "nobody has 10 timed answers in a round yet")
    shown = show_plan(store, one.plan_id)
    assert (len(shown.pairs), shown.round) == (4, None)


@pytest.mark.parametrize("fraction", [0.05, 0.25])
def test_a_fraction_outside_of_ten_to_twenty_percent_is_refused(
    store: Store, tmp_path: Path, fraction: float
) -> None:
    judged_project(store, tmp_path)
    with pytest.raises(InputError, match=r"expected 0\.1 to 0\.2"):
        make_plan(store, fraction, 1, TODAY)


def test_a_project_without_judgments_has_nothing_to_plan(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, texts_of(1, 2))
    with pytest.raises(RefusedError, match="nothing to judge again"):
        make_plan(store, 0.15, 1, TODAY)


def test_changed_texts_come_before_unchanged_ones(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=10, documents=10)
    changed = {name: f"{text} rewritten" for name, text in texts_of(10, 10).items() if name.endswith("d3")}
    write_corpus(store, tmp_path, texts_of(10, 10) | changed)
    plan = make_plan(store, 0.2, 1, TODAY)
    chosen = {row.document_id for row in show_plan(store, plan.plan_id).pairs}
    assert set(changed) <= chosen


def test_a_new_word_for_one_grade_plans_its_pairs_first_and_says_so(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=10, documents=10)
    guide = read_guide()
    assert make_plan(store, 0.2, 1, TODAY).guide == GuideWork(0, 0, 0, 0, 0)
    other = parse_guide(guide.source.replace(guide.scale[3].definition, "Answers all of it."))
    put_in_force(store, other, open_rounds="keep")
    plan = make_plan(store, 0.2, 1, TODAY)
    shown = [row.grade for row in show_plan(store, plan.plan_id).pairs if row.part != RANDOM]
    assert set(shown) == {3}
    assert plan.guide == GuideWork(100, 20, 20, shown.count(3) + 1, 6)
    said = " ".join(plan_sentences(show_plan(store, plan.plan_id).report))
    assert "The rest, 80, takes 6 more quarters of this size." in said


def test_queries_that_traffic_left_are_replaced_by_new_ones_with_known_probabilities(
    store: Store, tmp_path: Path
) -> None:
    write_corpus(store, tmp_path, texts_of(4, 3))
    write_log(store, tmp_path, "spring", {f"topic {n}": 50 for n in range(4)})
    draw_sample(store, 4, 1)
    ids = rows_of(store, "SELECT query_id FROM queries ORDER BY normalised")
    given = [
        ImportedJudgment(query, f"q0-d{d}", who, 1, submitted_at=FIRST)
        for (query,) in ids
        for d in range(3)
        for who in ("ada", "ben")
    ]
    add_judgments(store, given, "first.csv", [])
    calm = make_plan(store, 0.2, 1, TODAY)
    assert (calm.new_queries, calm.retired) == (0, 0), "no log since: nothing is known of the traffic"
    write_log(
        store, tmp_path, "autumn", {"topic 0": 60, "topic 1": 50, "new a": 40, "new b": 30, "new c": 20}
    )
    plan = make_plan(store, 0.2, 1, TODAY)
    assert (plan.new_queries, plan.retired, plan.new_pairs) == (2, 2, 6)
    queries = show_plan(store, plan.plan_id).queries
    assert [q.normalised for q in queries if q.kind == "retire"] == ["topic 2", "topic 3"]
    joined = [q for q in queries if q.kind == "add"]
    assert all(q.probability and q.stratum and q.stratum.endswith("2026-Q4") for q in joined)
    assert {row.text for row in show_plan(store, plan.plan_id).pairs} <= {"topic 0", "topic 1"}


def test_hours_count_blind_duplicates_and_the_decisions_that_disputes_will_need(
    store: Store, tmp_path: Path
) -> None:
    judged_project(store, tmp_path, grader=lambda who, _query, name: int(who == "ben" and name[-1] == "0"))
    with store.transaction() as cursor:
        cursor.execute(DECIDED_EVERY_HALF_MINUTE)
    plan = make_plan(store, 0.2, 1, TODAY)
    assert (plan.judgments, plan.duplicates, plan.decisions) == (12, 1, 1)
    assert (plan.pace.disputes, plan.pace.decided, plan.hours) == (0.2, pytest.approx(120), None)
    timed = plan.pace._replace(hourly=60.0, slowest=60.0, fastest=60.0)
    work = timed.work(100, 2, 16)
    assert work == (200, 16, 20, pytest.approx(216 / 60 + 20 / 120))
    assert "20 decisions of a reviewer take about 3.8 hours" in work_told(work, timed)
    one = work_told(work._replace(hours=0.01), timed._replace(annotators=1))
    assert "take less than 0.1 hours" in one
    assert "the pace of 1 annotator," in one
    assert timed.work(100, 1, 0).decisions == 0


DECIDED_EVERY_HALF_MINUTE = """
INSERT INTO adjudications
SELECT query_id, document_id, 0, 1, 'so', 'rita', TIMESTAMP '2026-02-01 10:00:00'
    + INTERVAL 30 SECOND * row_number() OVER (ORDER BY query_id, document_id), NULL, NULL
FROM candidates ORDER BY query_id, document_id LIMIT 12
"""


def test_the_command_prints_what_a_scheduler_reads(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path)
    command = ["--project", str(store.path), "relabel", "plan", "--seed", "7", "--today", "2026-11-22"]
    done = invoke([*command, "--share", "0.15", "--json"])
    answer = json.loads(done.stdout)
    assert answer["plan_id"] == json.loads(invoke([*command, "--json"]).stdout)["plan_id"]
    assert (answer["pairs"], answer["hours"]) == (4, None)
    assert answer["fraction_of_pairs"] == pytest.approx(4 / 30)
    assert "The hours are unknown" in invoke(command).stdout
    assert invoke([*command, "--share", "0.5"]).exit_code == 1
    dry = invoke([*command, "--half-width", "0.45", "--share", "0.2", "--dry-run"])
    assert " points. A share that is" in dry.stdout.replace("\u00a0", " ")
    assert dry.stdout.endswith("Nothing was stored.\n")
    assert rows_of(store, "SELECT count(*) FROM relabeling_plans") == [(1,)]
    shown = invoke(["--project", str(store.path), "relabel", "show", "2026-Q4"])
    assert "not opened: 4 pairs" in shown.stdout
    assert invoke(["--project", str(store.path), "relabel", "show", "2031-Q1"]).exit_code == 1
