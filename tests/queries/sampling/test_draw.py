"""The draw: deterministic, exact in size, and with the probabilities that it states."""

from __future__ import annotations

import hashlib
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.characters import normalise_query
from curation.core.statistics.stratified_sampling import allocate
from curation.queries.sampling.dimensions import BANDS, classify_bands
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.store import Store, get_setting
from tests.support import examples
from tests.support.logged import Asked, drawn, log
from tests.support.projects import new_project, rows_of

ZIPF = [(f"query {rank}", 1 + 600 // rank) for rank in range(1, 301)]


ASKED = st.builds(
    Asked,
    st.sampled_from(["A b", "a  b", "A B", "c", "C", "d", "e", "ß", "ss"]),
    st.integers(1, 5),
    st.sampled_from([None, "shop", "docs"]),
    day=st.none() | st.integers(1, 28),
    metadata=st.none(),
)


@pytest.mark.slow
@given(
    rows=st.lists(ASKED, min_size=6, max_size=30),
    order=st.randoms(use_true_random=False),
    plan=st.sampled_from([{}, {"strata": ("band", "length")}, {"strata": ("segment",), "design": "pps"}]),
    seed=st.integers(0, 5),
)
@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_the_log_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Asked],
    order: Random,
    plan: dict[str, Any],
    seed: int,
) -> None:
    shuffled = list(rows)
    order.shuffle(shuffled)
    size = min(3, len({normalise_query(row.text) for row in rows}))
    reports, samples = [], []
    for number, log_rows in enumerate((rows, shuffled)):
        store = new_project(tmp_path_factory.mktemp("order") / f"{number}.duckdb")
        log(store, log_rows)
        reports.append(draw_sample(store, DrawRequest(size, seed, **plan)))
        samples.append(drawn(store))
        store.close()
    assert reports[0] == reports[1]
    assert samples[0] == samples[1]
    assert len(samples[0]) == size


def test_the_same_call_adds_nothing(store: Store) -> None:
    log(store, ZIPF)
    first = draw_sample(store, DrawRequest(30, seed=1))
    again = draw_sample(store, DrawRequest(30, seed=1))
    assert (first.drawn_before, first.added) == (False, 30)
    assert (again.drawn_before, again.added, again.sample_id) == (True, 0, first.sample_id)
    counts = rows_of(
        store,
        "SELECT (SELECT count(*) FROM samples), (SELECT count(*) FROM sample_queries), "
        "(SELECT count(*) FROM queries), (SELECT count(*) FROM events WHERE action = 'sample')",
    )
    assert counts == [(1, 30, 30, 1)]


def test_another_sample_becomes_the_current_one_and_the_earlier_stays(store: Store) -> None:
    log(store, ZIPF)
    first, second = draw_sample(store, DrawRequest(30, seed=1)), draw_sample(store, DrawRequest(30, seed=2))
    assert first.sample_id != second.sample_id
    with store.reading() as cursor:
        assert get_setting(cursor, "sample") == second.sample_id
        kept = cursor.execute("SELECT count(*) FROM sample_queries GROUP BY sample_id").fetchall()
    assert kept == [(30,), (30,)]
    assert draw_sample(store, DrawRequest(30, seed=1)).drawn_before
    with store.reading() as cursor:
        assert get_setting(cursor, "sample") == first.sample_id


def test_the_random_order_is_an_md5_that_any_machine_computes(store: Store) -> None:
    log(store, [(f"only once {number}", 1) for number in range(40)])
    draw_sample(store, DrawRequest(5, seed=9))
    expected = sorted(
        (f"only once {number}" for number in range(40)),
        key=lambda text: int.from_bytes(hashlib.md5(f"9\x1f{text}".encode()).digest()[8:], "little"),
    )[:5]
    assert sorted(drawn(store)) == sorted(expected)


def test_a_query_is_shown_in_its_most_frequent_spelling(store: Store) -> None:
    spellings = [("IPhone  14", 2), ("iphone 14", 3), ("iPhone 14", 3), ("IPHONE 14", 1)]
    log(store, [(*spelling, "web") for spelling in spellings])
    draw_sample(store, DrawRequest(1, seed=0))
    assert drawn(store) == {"iPhone 14": ("head", 9, 1.0)}
    sql = "SELECT normalised, source, metadata->>'segment', query_id[1] FROM queries"
    assert rows_of(store, sql) == [("iphone 14", "traffic", "web", "q")]


def test_white_space_makes_no_spelling_and_is_not_shown(store: Store) -> None:
    log(store, [("  padded  query ", 2), ("padded\tquery", 2), ("Padded Query", 3)])
    draw_sample(store, DrawRequest(1, seed=0))
    assert drawn(store)["padded query"][1] == 7


def test_shown_text_is_folded_at_all_that_python_holds_for_white_space(store: Store) -> None:
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    log(store, [(f"{space}a{space}{space}{number}{space}", 1) for number, space in enumerate(spaces)])
    draw_sample(store, DrawRequest(len(spaces), seed=0))
    assert sorted(drawn(store)) == sorted(f"a {n}" for n in range(len(spaces)))


def test_a_query_that_is_known_under_another_id_keeps_it(store: Store) -> None:
    log(store, [("laptop", 4)])
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO queries VALUES ('17', 'Laptop', 'laptop', 'imported', NULL, '{}')")
    report = draw_sample(store, DrawRequest(1, seed=0))
    assert report.added == 0
    assert rows_of(store, "SELECT query_id FROM sample_queries") == [("17",)]


def test_a_band_left_without_a_query_is_named(store: Store) -> None:
    log(store, ZIPF)
    report = draw_sample(store, DrawRequest(2, seed=0))
    assert [stratum.drawn for stratum in report.strata] == [1, 1, 0]
    assert report.strata[2].probability == 0.0
    assert report.warnings[:-1] == [
        "No query was drawn from tail (258): the sample gives no results for these strata.",
        "Fewer than 10 queries were drawn from head (1 of 5), torso (1 of 37): too few for separate results.",
    ]
    assert report.warnings[-1].startswith("No query of the sample is tagged unanswerable yet")


def names(traffic: list[int]) -> list[str]:
    return [BANDS[band] for band in classify_bands(np.array(traffic, np.int64))]


def test_bands_split_the_traffic_not_the_queries() -> None:
    assert names([60, 40, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]) == ["head"] + ["torso"] + ["tail"] * 10
    assert names([40, 30, 20, 6, 4]) == ["head", "torso", "tail", "tail", "tail"]


def test_a_query_asked_once_is_tail_and_the_most_asked_is_head() -> None:
    assert names([1, 1, 1]) == ["tail"] * 3
    assert names([90, 5, 5]) == ["head", "tail", "tail"]
    assert names([7]) == ["head"]
    assert names([5, 5, 5]) == ["head"] * 3


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60))
def test_bands_follow_frequency_and_never_part_equals(traffic: list[int]) -> None:
    band = dict(zip(traffic, names(traffic), strict=True))
    assert names(traffic) == [band[count] for count in traffic]
    by_frequency = [BANDS.index(band[count]) for count in sorted(set(traffic), reverse=True)]
    assert by_frequency == sorted(by_frequency)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=6), st.integers(1, 100)
)
def test_allocation_is_exact_and_within_the_populations(strata: list[tuple[int, int]], size: int) -> None:
    populations, weights = [p for p, _ in strata], [w for _, w in strata]
    size = min(size, sum(populations))
    numbers = allocate(size, populations, weights)
    assert sum(numbers) == size
    assert all(0 <= number <= population for number, population in zip(numbers, populations, strict=True))
    free = [i for i, number in enumerate(numbers) if number < populations[i]]
    for i in free:  # who could have taken more is within one unit of the shares of all others like it
        for j in free:
            assert abs(numbers[i] * weights[j] - numbers[j] * weights[i]) <= weights[i] + weights[j]


def test_what_a_small_stratum_cannot_use_goes_to_the_others() -> None:
    assert allocate(10, [100, 100, 100], [1, 1, 1]) == [4, 3, 3]
    assert allocate(30, [2, 100, 100], [1, 1, 1]) == [2, 14, 14]
    assert allocate(30, [2, 9, 100], [1, 1, 1]) == [2, 9, 19]
    assert allocate(5, [0, 0, 9], [1, 1, 1]) == [0, 0, 5]
    assert allocate(7, [2, 5, 0], [1, 1, 1]) == [2, 5, 0]
