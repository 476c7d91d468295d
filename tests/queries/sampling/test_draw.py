"""The draw: deterministic, exact in size, and with the probabilities that it states."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.core.statistics.allocation import allocate
from curation.core.text import digest, normalise_query
from curation.queries.sampling.frame.bands import BANDS, band_of
from curation.queries.sampling.request import SamplingPlan
from curation.queries.sampling.sample import draw_sample
from curation.store import Store, append, get_setting
from tests.support import examples
from tests.support.projects import new_project

Rows = list[tuple[str, int]]


def log(store: Store, rows: Rows, segment: str | None = None) -> None:
    """Put logged queries (text, count) into the project as one import."""
    with store.transaction() as cursor:
        import_id = digest("test", rows)
        cursor.execute(
            "INSERT INTO traffic_imports VALUES (?, 'log', ?, '{}', now()::TIMESTAMP)", [import_id, len(rows)]
        )
        append(
            cursor,
            "traffic",
            {
                "import_id": [import_id] * len(rows),
                "line": list(range(1, len(rows) + 1)),
                "text": [text for text, _ in rows],
                "normalised": [normalise_query(text) for text, _ in rows],
                "segment": [segment or "web"] * len(rows),
                "count": [count for _, count in rows],
            },
        )


def drawn(store: Store) -> list[tuple[str, str, str, int, float]]:
    """The current sample: query id, text, stratum, traffic, probability."""
    with store.reading() as cursor:
        return cursor.execute(
            "SELECT query_id, text, stratum, traffic, inclusion_probability "
            "FROM sample_queries JOIN queries USING (query_id) WHERE sample_id = ? ORDER BY query_id",
            [get_setting(cursor, "sample")],
        ).fetchall()


ZIPF: Rows = [(f"query {rank}", 1 + 600 // rank) for rank in range(1, 301)]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["A b", "a  b", "A B", "c", "C", "d", "e", "ß", "ss"]), st.integers(1, 5)),
        min_size=6,
        max_size=30,
    ),
    order=st.randoms(use_true_random=False),
    seed=st.integers(0, 5),
)
@settings(max_examples=examples(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_the_log_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, order: object, seed: int
) -> None:
    shuffled = list(rows)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    size = min(3, len({normalise_query(text) for text, _ in rows}))
    reports, samples = [], []
    for number, log_rows in enumerate((rows, shuffled)):
        store = new_project(tmp_path_factory.mktemp("order") / f"{number}.duckdb")
        log(store, log_rows)
        reports.append(draw_sample(store, size, seed))
        samples.append(drawn(store))
        store.close()
    assert reports[0] == reports[1]
    assert samples[0] == samples[1]
    assert len(samples[0]) == size


def test_the_same_call_adds_nothing(store: Store) -> None:
    log(store, ZIPF)
    first = draw_sample(store, 30, seed=1)
    again = draw_sample(store, 30, seed=1)
    assert (first.drawn_before, first.added) == (False, 30)
    assert (again.drawn_before, again.added, again.sample_id) == (True, 0, first.sample_id)
    with store.reading() as cursor:
        counts = cursor.execute(
            "SELECT (SELECT count(*) FROM samples), (SELECT count(*) FROM sample_queries), "
            "(SELECT count(*) FROM queries), (SELECT count(*) FROM events WHERE action = 'sample')"
        ).fetchall()
    assert counts == [(1, 30, 30, 1)]


def test_another_sample_becomes_the_current_one_and_the_earlier_stays(store: Store) -> None:
    log(store, ZIPF)
    first, second = draw_sample(store, 30, seed=1), draw_sample(store, 30, seed=2)
    assert first.sample_id != second.sample_id
    with store.reading() as cursor:
        assert get_setting(cursor, "sample") == second.sample_id
        kept = cursor.execute("SELECT count(*) FROM sample_queries GROUP BY sample_id").fetchall()
    assert kept == [(30,), (30,)]
    assert draw_sample(store, 30, seed=1).drawn_before
    with store.reading() as cursor:
        assert get_setting(cursor, "sample") == first.sample_id


@pytest.mark.slow
def test_inclusion_frequencies_match_the_stored_probabilities(store: Store) -> None:
    """Over 40 seeds each query is drawn about as often as its probability says: 5 standard errors.

    What is stored is looked at here; test_designs.py draws 2,000 times.
    """
    log(store, ZIPF[:60])
    draws = 40
    times: Counter[str] = Counter()
    probability: dict[str, float] = {}
    for seed in range(draws):
        report = draw_sample(store, 20, seed)
        assert sum(stratum.drawn for stratum in report.strata) == 20
        for _, text, _, _, chance in drawn(store):
            times[text] += 1
            probability[text] = chance
    assert len(times) == 60
    for text, chance in probability.items():
        error = (chance * (1 - chance) / draws) ** 0.5
        assert abs(times[text] / draws - chance) <= 5 * error, text


def test_the_random_order_is_an_md5_that_any_machine_computes(store: Store) -> None:
    log(store, [(f"only once {number}", 1) for number in range(40)])
    draw_sample(store, 5, seed=9)
    expected = sorted(
        (f"only once {number}" for number in range(40)),
        key=lambda text: int.from_bytes(hashlib.md5(f"9\x1f{text}".encode()).digest()[8:], "little"),
    )[:5]
    assert sorted(text for _, text, _, _, _ in drawn(store)) == sorted(expected)


def test_a_query_is_shown_in_its_most_frequent_spelling(store: Store) -> None:
    log(store, [("IPhone  14", 2), ("iphone 14", 3), ("iPhone 14", 3), ("IPHONE 14", 1)])
    draw_sample(store, 1, seed=0)
    [(query_id, text, _, traffic, chance)] = drawn(store)
    assert (text, traffic, chance) == ("iPhone 14", 9, 1.0)
    with store.reading() as cursor:
        row = cursor.execute("SELECT normalised, source, metadata->>'segment' FROM queries").fetchall()
    assert row == [("iphone 14", "traffic", "web")]
    assert query_id.startswith("q")


def test_white_space_makes_no_spelling_and_is_not_shown(store: Store) -> None:
    log(store, [("  padded  query ", 2), ("padded\tquery", 2), ("Padded Query", 3)])
    draw_sample(store, 1, seed=0)
    assert drawn(store)[0][1:4:2] == ("padded query", 7)


def test_shown_text_is_folded_at_all_that_python_holds_for_white_space(store: Store) -> None:
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    log(store, [(f"{space}a{space}{space}{number}{space}", 1) for number, space in enumerate(spaces)])
    draw_sample(store, len(spaces), seed=0)
    assert sorted(text for _, text, *_ in drawn(store)) == sorted(f"a {n}" for n in range(len(spaces)))


def test_a_query_that_is_known_under_another_id_keeps_it(store: Store) -> None:
    log(store, [("laptop", 4)])
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO queries VALUES ('17', 'Laptop', 'laptop', 'imported', NULL, '{}')")
    report = draw_sample(store, 1, seed=0)
    assert report.added == 0
    assert drawn(store)[0][:2] == ("17", "Laptop")


def test_more_than_there_is_gives_a_sentence_and_no_sample(store: Store) -> None:
    with pytest.raises(RefusedError, match="import traffic"):
        draw_sample(store, 5, seed=0)
    log(store, [("a", 1), ("A", 1), ("b", 1)])
    with pytest.raises(RefusedError, match="2 distinct queries and 5 were asked for"):
        draw_sample(store, 5, seed=0)
    with pytest.raises(InputError, match="0 is out of range; expected 1 or more"):
        draw_sample(store, 0, seed=0)
    with pytest.raises(InputError, match="0 < head < torso < 1"):
        draw_sample(store, 1, seed=0, plan=SamplingPlan(head=0.9, torso=0.5))
    assert drawn(store) == []


def test_a_band_left_without_a_query_is_named(store: Store) -> None:
    log(store, ZIPF)
    report = draw_sample(store, 2, seed=0)
    assert [stratum.drawn for stratum in report.strata] == [1, 1, 0]
    assert report.strata[2].probability == 0.0
    assert report.warnings[:-1] == [
        "No query was drawn from tail (258): results will say nothing about these.",
        "Fewer than 10 queries were drawn from head (1 of 5), torso (1 of 37): "
        "too few for figures of their own.",
    ]
    assert report.warnings[-1].startswith("How many queries of the sample are unanswerable is unknown")


def names(traffic: list[int], **shares: float) -> list[str]:
    return [BANDS[band] for band in band_of(np.array(traffic, np.int64), **shares)]


def test_bands_split_the_traffic_not_the_queries() -> None:
    assert names([60, 40, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]) == ["head"] + ["torso"] + ["tail"] * 10
    assert names([40, 30, 20, 6, 4], head=0.5, torso=0.8) == ["head", "torso", "tail", "tail", "tail"]


def test_a_band_can_end_at_a_number_of_queries_and_parts_no_level() -> None:
    assert names([60, 40, 10, 10, 5, 1], head=2, torso=4) == ["head"] * 2 + ["torso"] * 2 + ["tail"] * 2
    assert names([9, 5, 5, 5], head=2, torso=3) == ["head"] + ["torso"] * 3
    assert names([60, 30, 5, 5], head=2, torso=0.97) == ["head"] * 2 + ["torso"] * 2
    for head, torso in [(1, 4), (4, 2), (2.5, 4), (float("inf"), 4), (float("nan"), 4), (0.5, 1.0)]:
        with pytest.raises(InputError, match="whole numbers of queries from 2 on"):
            names([3, 2, 1], head=head, torso=torso)


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


@pytest.mark.slow
def test_a_real_log_is_mostly_tail(store: Store, shared: Path) -> None:
    """Excite, 1997: few queries make a third of the traffic, and most are asked once."""
    lines = (shared / "excite_log").glob("*")
    texts = [
        line.rsplit("\t", 1)[-1]
        for path in sorted(lines)
        if "log" in path.name
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    log(store, [(text, 1) for text in texts if text.strip()])
    report = draw_sample(store, 150, seed=3)
    head, torso, tail = report.strata
    assert head.population < torso.population < tail.population
    assert (head.drawn, torso.drawn, tail.drawn) == (50, 50, 50)
    assert head.probability is not None
    assert tail.probability is not None
    assert head.probability > tail.probability
