"""Topping up: quotas are reached, no earlier query is lost, and probabilities stay right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from curation.core.errors import InputError, RefusedError
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.stored_sample import find_current_sample
from curation.queries.sampling.top_up import top_up
from curation.queries.stored_tags import set_tags
from curation.store import Store
from tests.support import examples
from tests.support.logged import drawn, log
from tests.support.projects import new_project, rows_of

pytestmark = pytest.mark.slow

ZIPF = [(f"query {rank}", 1 + 300 // rank) for rank in range(1, 151)]
DRAWS = 54
"""In every profile: after 5 draws, some of the 20 queries would still be undrawn by chance."""


def test_a_quota_is_reached_and_every_earlier_query_stays(store: Store) -> None:
    log(store, ZIPF)
    first = draw_sample(store, DrawRequest(30, seed=4, allocation="proportional"))
    before, numbers = drawn(store), {stratum.name: stratum.drawn for stratum in first.strata}
    report = top_up(store, TopUpRequest(quotas={"tail": numbers["tail"] + 25, "head": 1}))
    after = drawn(store)
    assert before.keys() < after.keys()
    assert {s.name: s.drawn for s in report.strata} == {**numbers, "tail": numbers["tail"] + 25}
    assert (report.size, report.seed, report.added) == (55, 4, 25)
    for stratum in report.strata:
        assert stratum.probability == stratum.drawn / stratum.population
    assert all(
        chance == next(s.probability for s in report.strata if s.name == name)
        for name, _, chance in after.values()
    )
    assert report.parameters["tops_up"] == first.sample_id


def test_the_sample_of_a_top_up_is_that_of_one_draw_with_the_same_numbers(store: Store) -> None:
    log(store, ZIPF)
    draw_sample(store, DrawRequest(20, seed=4))
    report = top_up(store, TopUpRequest(quotas={"tail": 40}))
    topped_up = drawn(store)
    numbers = {stratum.name: stratum.drawn for stratum in report.strata}
    draw_sample(store, DrawRequest(report.size, seed=4, quotas=numbers))
    assert drawn(store) == topped_up


def test_the_same_top_up_again_adds_nothing(store: Store) -> None:
    log(store, ZIPF)
    draw_sample(store, DrawRequest(20, seed=4))
    first, again = (
        top_up(store, TopUpRequest(quotas={"tail": 40})),
        top_up(store, TopUpRequest(quotas={"tail": 40})),
    )
    assert (again.sample_id, again.drawn_before, again.added) == (first.sample_id, True, 0)
    assert top_up(store, TopUpRequest(quotas={"tail": 3})).sample_id == first.sample_id


@given(
    traffic=st.lists(st.integers(1, 9), min_size=6, max_size=25),
    shares=st.tuples(st.integers(1, 5), st.integers(0, 6)),
    allocation=st.sampled_from(["equal", "proportional", "square-root"]),
)
@settings(max_examples=examples(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_larger_size_loses_no_query_whatever_the_allocation(
    tmp_path_factory: pytest.TempPathFactory, traffic: list[int], shares: tuple[int, int], allocation: str
) -> None:
    store = new_project(tmp_path_factory.mktemp("larger") / "project.duckdb")
    log(store, [(f"word{'x' * 7 * number}", count) for number, count in enumerate(traffic)])
    size, more = shares
    more = min(more, len(traffic) - size)
    draw_sample(store, DrawRequest(size, seed=1, allocation=allocation))
    before = drawn(store)
    assert top_up(store, TopUpRequest(size=size + more)).size == size + more
    assert before.keys() <= drawn(store).keys()
    assert len(drawn(store)) == size + more
    store.close()


@pytest.mark.costly("a simulation over seeds")
def test_over_seeds_topped_up_queries_are_drawn_as_often_as_stated(store: Store) -> None:
    """Draw, then top up: exact binomial tails of both stages together, shared among the queries."""
    log(store, [(f"word {number}", 8 if number < 4 else 1) for number in range(20)])
    times: Counter[str] = Counter()
    chances: dict[str, float] = {}
    for seed in range(DRAWS):
        draw_sample(store, DrawRequest(4, seed))
        top_up(store, TopUpRequest(quotas={"tail": 7}))
        for text, (*_, chance) in drawn(store).items():
            times[text] += 1
            chances[text] = chance
    assert len(times) == 20
    for text, chance in chances.items():
        tail = 2 * min(binom.cdf(times[text], DRAWS, chance), binom.sf(times[text] - 1, DRAWS, chance))
        assert tail > 1e-3 / 20, text


def test_queries_of_the_sample_that_were_judged_since_are_kept_though_judged_ones_are_left_out(
    store: Store,
) -> None:
    log(store, ZIPF)
    draw_sample(store, DrawRequest(12, seed=2, exclude_judged=True, exclude_released=True))
    before = drawn(store)
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO rounds VALUES ('r', 'r', 'labeling', 'h', '{}', now()::TIMESTAMP, 1)")
        cursor.execute(
            "INSERT INTO presentations SELECT query_id, 'r', 'ann', query_id, 'd', 'h', 0, NULL FROM queries"
        )
    top_up(store, TopUpRequest(quotas={"tail": 20}))
    assert before.keys() < drawn(store).keys()
    assert draw_sample(store, DrawRequest(5, seed=2, exclude_judged=True)).left_out


def test_a_top_up_that_would_lose_a_query_is_refused(store: Store) -> None:
    log(store, ZIPF)
    before = draw_sample(store, DrawRequest(30, seed=4))
    log(store, [(f"another {number}", 1) for number in range(900)])
    with pytest.raises(RefusedError, match=r"of the 30 queries of the current sample would be lost"):
        top_up(store, TopUpRequest(quotas={"tail": 15}))
    assert find_current_sample(store).sample_id == before.sample_id  # type: ignore[union-attr]


def test_top_ups_that_make_no_sense_are_told(store: Store) -> None:
    with pytest.raises(RefusedError, match="no sample to top up yet"):
        top_up(store, TopUpRequest(size=3))
    log(store, ZIPF)
    draw_sample(store, DrawRequest(12, seed=2))
    with pytest.raises(InputError, match="The top-up has no target"):
        top_up(store, TopUpRequest())
    with pytest.raises(InputError, match="removes no query"):
        top_up(store, TopUpRequest(size=3))
    with pytest.raises(InputError) as refused:
        top_up(store, TopUpRequest(quotas={"middle": 3, "head": 10**6}))
    assert len(refused.value.problems) == 2
    with pytest.raises(InputError, match="the other strata have"):
        top_up(store, TopUpRequest(size=149, quotas={"tail": 4}))
    draw_sample(store, DrawRequest(12, seed=2, design="pps"))
    with pytest.raises(RefusedError, match="design pps"):
        top_up(store, TopUpRequest(size=20))


def test_the_current_sample_is_read_back_as_it_was_reported(store: Store) -> None:
    assert find_current_sample(store) is None
    log(store, ZIPF)
    report = draw_sample(store, DrawRequest(12, seed=2))
    stored = find_current_sample(store)
    assert stored is not None
    assert (stored.sample_id, stored.size, stored.seed) == (report.sample_id, 12, 2)
    assert (stored.strata, stored.parameters) == (report.strata, report.parameters)
    assert stored.warnings == report.warnings


def test_the_unanswerable_share_is_unknown_before_anybody_looked_and_told_when_out_of_bounds(
    store: Store,
) -> None:
    log(store, ZIPF)
    report = draw_sample(store, DrawRequest(60, seed=2))
    assert "No query of the sample is tagged unanswerable yet" in report.warnings[-1]
    ids = [query_id for (query_id,) in rows_of(store, "SELECT query_id FROM queries ORDER BY 1")]

    def told() -> list[str]:
        stored = find_current_sample(store)
        assert stored is not None
        return [warning for warning in stored.warnings if "unanswerable" in warning]

    set_tags(store, ids[:1], ["multi-hop"], [])
    assert told()[0].startswith(
        "0 of 60 queries of the sample (0\u00a0%) are tagged unanswerable; 5\u00a0% to 20\u00a0%"
    )
    for tagged in (3, 12):
        set_tags(store, ids[:tagged], ["unanswerable"], [])
        assert told() == []
    set_tags(store, ids[:13], ["unanswerable"], [])
    assert told()[0].startswith("13 of 60 queries of the sample (22\u00a0%)")
