"""The audit of assumed negatives: who is one, the draw, the blind round and the rate."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.agreement.report import make_agreement_report
from curation.core.errors import InputError, RefusedError
from curation.core.similarity.identical_texts import IdenticalTexts
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.consensus import read_relevance
from curation.labeling.consensus.dawid_skene import DawidSkeneFit, GradeArrays, fit_dawid_skene
from curation.labeling.consensus.rule import ConsensusRule, set_rule
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.item_views import ItemView
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.negatives.assumed_negatives import (
    STRATA,
    AuditInputs,
    NegativeDuplicate,
    find_assumed_negatives,
)
from curation.negatives.audit import draw_pairs, open_audit
from curation.negatives.audit_rate import MIN_JUDGED, combine_rates, make_stratum_rate, report_audit
from curation.negatives.hard_negatives import find_hard_negatives
from curation.negatives.requests import AuditRequest
from curation.people.accounts import add_annotator
from curation.pooling.contributions import compute_contributions
from curation.pooling.corpus_texts import CorpusTexts
from curation.pooling.pool import build_pool
from curation.pooling.relevance import Relevance
from curation.pooling.request import PoolRequest
from curation.releases.verify import verify
from curation.retrieval import Hit
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from curation.store.documents import corpus_of
from curation.store.row_types import Document, Query
from tests.support.freezing import freeze
from tests.support.pool_project import judge, put_run, put_texts
from tests.support.projects import built_once, change_text, new_project, rows_of

pytestmark = pytest.mark.slow

RELEVANT = {"d01", "d02", "d07"}
TEXTS = {f"d{number:02}": f"thing number{number} of kind{number % 7}" for number in range(1, 61)}
QUERIES = {"q1": "ladder", "q2": "window", "q3": "kettle", "q4": "bishop"}
RANKING = [f"d{number:02}" for number in range(1, 31)]


def put_project(store: Store, folder: Path, texts: dict[str, str]) -> None:
    put_texts(store, folder, texts, QUERIES)
    put_run(store, folder, "a", dict.fromkeys(QUERIES, RANKING))
    build_pool(store, PoolRequest(["run:a"], depth=3, random_negatives=2, seed=1))
    add_annotator(store, "ada", "annotator", "a long password")


@built_once
def pooled(store: Store) -> Store:
    """Four queries with a run of 30 places, pooled to 3, and two easy negatives each; nobody judged."""
    put_project(store, store.path.parent, TEXTS)
    add_annotator(store, "bo", "annotator", "a long password")
    return store


def answer(store: Store, annotator: str, most: int = 1000) -> int:
    """Judge what comes next, by the planted truth: d01, d02 and d07 are relevant."""
    done = 0
    while done < most and (showings := read_queue(store, annotator, limit=50).showings):
        given_now = showings[: most - done]
        submit_judgments(store, annotator, [_graded(store, showing) for showing in given_now])
        done += len(given_now)
    return done


def _graded(store: Store, showing: ItemView) -> Submission:
    key = showing.presentation_id
    [(document_id,)] = rows_of(store, "SELECT document_id FROM presentations WHERE presentation_id = ?", key)
    return Submission(key, showing.revision, "grade", f"key-{key}", grade=2 * (document_id in RELEVANT))


def audited(store: Store, name: str) -> dict[tuple[str, str], str]:
    """Pair → the system under which an audit's round noted it."""
    sql = (
        "SELECT query_id, document_id, system FROM candidate_sources JOIN rounds ON pool_id = round_id "
        "WHERE name = ?"
    )
    return {(row[0], row[1]): row[2] for row in rows_of(store, sql, name)}


def test_the_strata_are_what_no_round_shows_to_the_pools_depth_below_it_and_by_chance(pooled: Store) -> None:
    found = open_audit(pooled, AuditRequest(["ada"], size=60, depth=10, seed=3))
    assert [tuple(item) for item in found.strata] == [("top", 12, 12), ("below", 28, 28), ("random", 8, 8)]
    assert found.opened.left_out == {"pairs are missing, because there are no more assumed negatives": 12}
    assert Counter(audited(pooled, "audit-1").values()) == {
        "audit:top": 12, "audit:below": 28, "audit:random": 8,
    }  # fmt: skip


def test_what_is_judged_planned_or_decided_is_not_audited(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "d01"): 0, ("q1", "d05"): "cannot tell"})
    decide_pair(pooled, "q1", "d01", grade=0, reason="seen")
    opened = open_round(pooled, RoundRequest("first", ["bo"], overlap=1, duplicates=0))
    found = open_audit(pooled, AuditRequest(["ada"], size=100, depth=10))
    strata = {item.name: item.population for item in found.strata}
    assert strata == {"top": 0, "below": 27, "random": 0}
    taken = found.opened.left_out["pairs are left out: they are judged, or planned in an open round"]
    assert taken == opened.candidates + 2  # d01 and d05 of q1 are judged
    assert ("q1", "d05") not in audited(pooled, "audit-1")


def test_what_a_pilot_showed_or_a_closed_round_left_unjudged_is_still_assumed(pooled: Store) -> None:
    open_round(pooled, RoundRequest("pilot", ["ada", "bo"], pilot=True, queries=4))
    open_round(pooled, RoundRequest("first", ["bo"], overlap=1, duplicates=0))
    judged = answer(pooled, "bo", most=25) - 20  # the pilot's 20 come first
    with pooled.transaction() as cursor:
        cursor.execute(
            "INSERT INTO round_events SELECT round_id, 0, 'close', '{}', 'lead', now()::TIMESTAMP "
            "FROM rounds WHERE name = 'first'"
        )
    found = open_audit(pooled, AuditRequest(["ada"], size=100, depth=10))
    assert (
        found.opened.left_out["pairs are left out: they are judged, or planned in an open round"]
        == judged
        == 5
    )
    assert found.opened.candidates == 48 - judged


def test_equal_numbers_are_drawn_from_each_stratum_and_the_same_for_the_same_seed(
    pooled: Store, tmp_path: Path
) -> None:
    for name, seed in (("one", 5), ("two", 6)):
        found = open_audit(pooled, AuditRequest(["ada"], name=name, size=9, depth=20, seed=seed))
        assert [item.drawn for item in found.strata] == [3, 3, 3]
    assert not audited(pooled, "one").keys() & audited(pooled, "two").keys()
    strata = {name: [(f"q{n}", name) for n in range(20)] for name in STRATA}
    assert draw_pairs(strata, 9, 5) == draw_pairs(dict(reversed(strata.items())), 9, 5)
    assert draw_pairs(strata, 9, 5) != draw_pairs(strata, 9, 6)


def test_the_same_project_draws_the_same_round(pooled: Store, tmp_path: Path) -> None:
    other = new_project(tmp_path / "other.duckdb")
    put_project(other, tmp_path, dict(reversed(TEXTS.items())))
    rows = []
    for project in (pooled, other):
        open_audit(project, AuditRequest(["ada"], size=12, seed=4))
        rows.append(rows_of(project, "SELECT * FROM presentations ORDER BY ALL"))
    other.close()
    assert rows[0] == rows[1]


def test_near_duplicates_of_a_relevant_document_are_kept_out_and_listed(store: Store, tmp_path: Path) -> None:
    texts = {
        "good": "a long text about one red running shoe of leather",
        "copy": "a long text about one red running shoe of leather now",
        "same": "a long text about one red running shoe of leather",
        "other": "nothing of the kind whatever",
    }
    put_texts(store, tmp_path, texts, {"q1": "red shoe"})
    put_run(store, tmp_path, "a", {"q1": list(texts)})
    build_pool(store, PoolRequest(["run:a"], depth=1, random_negatives=0, seed=1))
    judge(store, tmp_path, {("q1", "good"): 3})
    add_annotator(store, "bo", "annotator", "a long password")
    found = open_audit(store, AuditRequest(["bo"], size=5))
    assert found.near_duplicates == [NegativeDuplicate("q1", "copy", "good", pytest.approx(8 / 9))]
    assert audited(store, "audit-1") == {("q1", "other"): "audit:below"}
    assert found.opened.left_out["pairs are left out: they are near-duplicates of a relevant document"] == 1
    assert (
        found.opened.left_out["pairs are left out: they are judged, or planned in an open round"] == 1
    )  # good and same are one text


def test_annotators_cannot_tell_an_audit_from_another_round(pooled: Store) -> None:
    open_round(pooled, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    open_audit(pooled, AuditRequest(["ada"], size=20, name="check"))
    screen = read_queue(pooled, "ada", limit=100).showings
    assert len(screen) == 20 + 20
    assert {len(showing.presentation_id) for showing in screen} == {32}
    for showing in screen:
        assert not any(word in str(showing) for word in ("audit", "below", "random", "run:a", "check"))
    assert read_round_status(pooled, "check").kind == "audit"


def test_until_enough_is_judged_there_is_a_sentence_and_no_figure(pooled: Store) -> None:
    open_audit(pooled, AuditRequest(["ada"], size=36, depth=20))
    report = report_audit(pooled)
    assert (report.rate[:3], report.judged) == ((None, None, None), 0)
    assert [(item.rate.value, item.waiting) for item in report.strata] == [(None, 12), (None, 16), (None, 8)]
    assert report.rate.why == (
        f"Each stratum needs {MIN_JUDGED} judged pairs for a rate. These have fewer: "
        "top (0 of 12 drawn), below (0 of 16 drawn), random (0 of 8 drawn)."
    )
    answer(pooled, "ada", most=13)
    report = report_audit(pooled)
    assert (report.judged, report.rate.value) == (13, None)
    assert sum(item.waiting for item in report.strata) == 36 - 13


def test_a_judged_round_finds_the_planted_rate(pooled: Store) -> None:
    open_audit(pooled, AuditRequest(["ada", "bo"], size=36, depth=20, overlap=2))
    answer(pooled, "ada")
    answer(pooled, "bo")
    report = report_audit(pooled, "audit-1")
    top, below, random = report.strata
    assert (top.population, top.judged, top.false_negatives, top.rate.value) == (12, 12, 8, 8 / 12)
    drawn = {pair for pair, system in audited(pooled, "audit-1").items() if system == "audit:below"}
    assert below.false_negatives == sum(document == "d07" for _, document in drawn)
    assert random.false_negatives == 0
    assert report.rate.value == pytest.approx((12 * 8 / 12 + 68 * below.false_negatives / 16) / 88)
    low, rate, high = report.rate.low, report.rate.value, report.rate.high
    assert low is not None
    assert high is not None
    assert low < rate < high
    assert {found.document_id for found in report.found} <= RELEVANT
    assert len(report.found) == report.false_negatives


def test_annotators_errors_are_estimated_outside_of_every_turn(
    pooled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn inside a turn is refused, so an estimate that can take one is made in none."""
    estimates = []

    def estimated(said: GradeArrays, *settings: Any) -> DawidSkeneFit:
        with pooled.reading():
            estimates.append(len(said.item))
        return fit_dawid_skene(said, *settings)

    set_rule(pooled, ConsensusRule("dawid-skene"))
    open_audit(pooled, AuditRequest(["ada", "bo"], size=12, depth=20, overlap=2))
    answer(pooled, "ada")
    monkeypatch.setattr("curation.labeling.consensus.consensus.fit_dawid_skene", estimated)
    compute_contributions(pooled, read_relevance(pooled))
    find_hard_negatives(pooled)
    report_audit(pooled)
    open_audit(pooled, AuditRequest(["ada"], size=6, depth=20))
    assert estimates == [12] * 4


def test_pairs_without_a_grade_are_counted_and_no_part_of_the_rate(pooled: Store, tmp_path: Path) -> None:
    open_audit(pooled, AuditRequest(["ada", "bo"], size=36, depth=20, overlap=2))
    pairs = sorted(pair for pair, system in audited(pooled, "audit-1").items() if system == "audit:top")
    judge(pooled, tmp_path, dict.fromkeys(pairs, 0) | {pairs[0]: "cannot tell", pairs[1]: 0})
    judge(pooled, tmp_path, {pairs[1]: 3}, "bo")
    top = report_audit(pooled).strata[0]
    assert (top.judged, top.cannot_tell, top.disputed, top.waiting) == (10, 1, 1, 0)
    assert (top.false_negatives, top.rate.value) == (0, 0.0)
    decide_pair(pooled, *pairs[1], grade=1, reason="it fits")
    top = report_audit(pooled).strata[0]
    assert (top.judged, top.disputed, top.false_negatives) == (11, 0, 1)


def test_a_pair_that_was_judged_since_with_another_text_is_no_part_of_the_rate(
    pooled: Store, tmp_path: Path
) -> None:
    open_audit(pooled, AuditRequest(["ada"], size=36, depth=20))
    answer(pooled, "ada")
    pair = min(pair for pair, system in audited(pooled, "audit-1").items() if system == "audit:top")
    before = report_audit(pooled).strata[0]
    change_text(pooled, pair[1])
    judge(pooled, tmp_path, {pair: 3}, "bo")
    top = report_audit(pooled).strata[0]
    assert (top.judged, top.other_text, top.waiting) == (before.judged - 1, 1, 0)
    assert top.false_negatives == before.false_negatives - (pair[1] in RELEVANT)


def test_what_an_audit_judged_counts_everywhere_and_can_be_frozen(pooled: Store, tmp_path: Path) -> None:
    open_audit(pooled, AuditRequest(["ada", "bo"], size=36, depth=20, overlap=2))
    answer(pooled, "ada")
    answer(pooled, "bo")
    report = compute_contributions(pooled, read_relevance(pooled))
    assert (report.graded, report.relevant) == (12, 8)
    assert make_agreement_report(pooled, "audit-1").consensus.majority == 36
    with pytest.raises(RefusedError, match="already in a round"):
        open_round(pooled, RoundRequest("rest", ["ada"], overlap=1))
    rules = Rules(paraphrase=None)
    make_split(pooled, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, rules, 3))  # all share what is relevant
    frozen = freeze(pooled, "v1", override="36 pairs are too few for the gate")
    assert sum(frozen.grades.values()) == 36
    assert verify(pooled, "v1").release_id == frozen.release_id
    assert open_audit(pooled, AuditRequest(["ada"], size=3, depth=20)).opened.round == "audit-2"


def test_what_cannot_be_audited_is_a_sentence(store: Store, tmp_path: Path) -> None:
    put_texts(store, tmp_path, TEXTS, {"q1": "one"})
    add_annotator(store, "ada", "annotator", "a long password")
    with pytest.raises(InputError, match=r"(?s)Pairs to draw.*Depth of lists.*near-duplicate"):
        open_audit(store, AuditRequest(["ada"], size=0, depth=0, threshold=2))
    with pytest.raises(RefusedError, match="Build a pool"):
        open_audit(store, AuditRequest(["ada"]))
    with pytest.raises(RefusedError, match="No audit has been opened yet"):
        report_audit(store)
    put_run(store, tmp_path, "a", {"q1": RANKING[:2]})
    build_pool(store, PoolRequest(["run:a"], depth=2, random_negatives=0, seed=1))
    open_round(store, RoundRequest("first", ["ada"], overlap=1))
    with pytest.raises(RefusedError, match="'first' is of kind labeling"):
        report_audit(store, "first")
    with pytest.raises(RefusedError, match="nothing to audit"):
        open_audit(store, AuditRequest(["ada"]))
    with pytest.raises(InputError, match="'bm52' is not a system"):
        open_audit(store, AuditRequest(["ada"], systems=["bm52"]))


def test_systems_that_changed_are_refused_and_those_left_out_are_counted(
    pooled: Store, tmp_path: Path
) -> None:
    put_run(pooled, tmp_path, "b", dict.fromkeys(QUERIES, RANKING[::-1]))
    build_pool(pooled, PoolRequest(["bm25", "run:a", "run:b"], depth=3, random_negatives=0, seed=1))
    with pooled.transaction() as cursor:
        cursor.execute("""UPDATE pools SET parameters = replace(parameters::TEXT, '"k1":1.5', '"k1":1.2')""")
    with pytest.raises(RefusedError, match=r"bm25: the settings differ from the latest pool"):
        open_audit(pooled, AuditRequest(["ada"]))
    found = open_audit(pooled, AuditRequest(["ada"], systems=["run:a"], size=5))
    assert found.opened.left_out == {
        "systems of the pool were not searched, so documents that only these systems rank are not audited": 2
    }


HITS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(
    first=HITS,
    second=HITS,
    random=st.sets(st.sampled_from("abcdefghz")),
    taken=st.sets(st.sampled_from("abcdefgh")),
    depth=st.integers(1, 8),
)
def test_every_pair_is_in_one_stratum_or_left_out_for_a_reason(
    first: list[str], second: list[str], random: set[str], taken: set[str], depth: int
) -> None:
    documents = [Document(name, name, "", f"text {name}" if name != "h" else "") for name in "abcdefgh"]
    texts = CorpusTexts(
        IdenticalTexts((document.document_id, document.title, document.body) for document in documents),
        frozenset("h"),
        pa.table({}),
    )
    inputs = AuditInputs(
        *("pool", 2, {}, corpus_of(documents), [Query("q", "q", "q", "written")]),
        judged_or_planned=[("q", d) for d in taken],
        candidates=[],
        random_pairs=[("q", d) for d in sorted(random)],
        relevance=lambda: Relevance({}, frozenset(), 0),
    )
    lists = {name: [[Hit(d, 1.0) for d in hits]] for name, hits in (("x", first), ("y", second))}
    population = find_assumed_negatives(
        inputs, AuditRequest(depth=depth), lists, texts, lambda _: (), inputs.relevance()
    )
    ranks = {d: min(hits.index(d) + 1 for hits in (first, second) if d in hits) for d in {*first, *second}}
    near = {d for d, rank in ranks.items() if rank <= depth}
    free = set("abcdefg") - taken
    assert {d for _, d in population.strata["top"]} == {d for d in near & free if ranks[d] <= 2}
    assert {d for _, d in population.strata["below"]} == {d for d in near & free if ranks[d] > 2}
    assert {d for _, d in population.strata["random"]} == (random - near) & free
    counted = sum(map(len, population.strata.values())) + sum(population.left_out.values())
    assert counted == len(near | random)


def test_inclusion_frequencies_are_those_of_the_strata() -> None:
    strata = {
        name: [(f"q{n}", name) for n in range(size)] for name, size in zip(STRATA, (4, 20, 9), strict=True)
    }
    times = Counter[tuple[str, str]]()
    seeds = 1500
    for seed in range(seeds):
        counts, pairs = draw_pairs(strata, 15, seed)
        assert [item.drawn for item in counts] == [4, 6, 5]
        times.update(pairs)
    for item in counts:
        probability = item.drawn / item.population
        slack = 4.5 * (probability * (1 - probability) / seeds) ** 0.5
        for pair in strata[item.name]:
            assert abs(times[pair] / seeds - probability) <= slack


@pytest.mark.parametrize("truth", [(0.3, 0.05, 0.0), (0.6, 0.2, 0.02), (0.0, 0.0, 0.0), (0.1, 0.01, 0.004)])
def test_the_interval_covers_the_planted_truth_at_about_its_rate(truth: tuple[float, ...]) -> None:
    random = np.random.Generator(np.random.PCG64(11))
    populations, drawn = (400, 3000, 500), (40, 40, 40)
    hits = [round(share * size) for share, size in zip(truth, populations, strict=True)]
    whole = sum(hits) / sum(populations)
    covered, estimates = 0, []
    for _ in range(2000):
        strata = [
            make_stratum_rate(name, size, n, n, int(random.hypergeometric(good, size - good, n)))
            for name, size, n, good in zip(STRATA, populations, drawn, hits, strict=True)
        ]
        rate, low, high = combine_rates(strata)[:3]
        covered += low <= whole <= high
        estimates.append(rate)
    assert covered / 2000 >= 0.92  # Wilson's dips below 0.95 for the rarest, as of one in a hundred
    error = float(np.std(estimates)) / 2000**0.5
    assert abs(float(np.mean(estimates)) - whole) <= 4.5 * error + 1e-12


def test_a_small_stratum_has_a_rate_once_all_of_it_is_judged() -> None:
    assert make_stratum_rate("top", 6, 6, 5, 1).rate.value is None
    assert make_stratum_rate("top", 6, 6, 6, 1).rate.value == 1 / 6
    assert make_stratum_rate("top", 60, 9, 9, 1).rate.value is None
    assert make_stratum_rate("top", 60, 10, 10, 0).rate.low == 0.0
    empty = make_stratum_rate("random", 0, 0, 0, 0)
    assert combine_rates([empty]).value is None
    assert combine_rates([empty, make_stratum_rate("top", 60, 10, 10, 5)]).value is not None


def test_the_command_opens_and_reports(pooled: Store, goldgrade: Any) -> None:
    audit = ("negatives", "audit")
    shown = goldgrade(*audit, "--annotators", "ada, bo", "--size", "36", "--seed", "7", "--depth", "20")
    assert "Opened audit-1: 36 pairs, 36 presentations." in shown
    assert "goldgrade negatives audit --round audit-1" in shown
    assert json.loads(goldgrade(*audit, "--json"))["rate"]["value"] is None
    answer(pooled, "ada")
    answer(pooled, "bo")
    shown = goldgrade(*audit, "--round", "audit-1")
    assert "False-negative rate over all 88 assumed negatives" in shown
    assert "relevant: q1, d01 (top): grade 2" in shown
    opened = json.loads(goldgrade(*audit, "--annotators", "ada", "--size", "3", "--json"))
    assert (opened["opened"]["round"], opened["opened"]["candidates"]) == ("audit-2", 3)
