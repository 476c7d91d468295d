"""A split by time: parts in their order, groups by their first query, and what that leaves said."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.splits.by_time import assign_by_time
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.gold_project import parts_of
from tests.support.logged import Asked, log
from tests.support.projects import rows_of

DAY = datetime(2026, 3, 1)
PARTS = {"train": 0.5, "dev": 0.25, "test": 0.25}
WORDS = "amber birch cedar dahlia ebony fern ginger hazel".split()


def days(*numbers: int) -> dict[str, datetime]:
    return {f"q{place}": DAY + timedelta(days=number) for place, number in enumerate(numbers)}


def alone(times: dict[str, datetime]) -> dict[str, str]:
    return {name: name for name in times}


def test_parts_follow_each_other_in_time_at_their_fractions() -> None:
    times = days(7, 0, 1, 6, 2, 5, 3, 4)
    parts, cut = assign_by_time(alone(times), times, PARTS)
    assert {name: parts[name] for name in sorted(parts, key=times.__getitem__)} == {
        **{"q1": "train", "q2": "train", "q4": "train", "q6": "train"},
        **{"q7": "dev", "q5": "dev", "q3": "test", "q0": "test"},
    }
    assert cut.begins == {"train": DAY, "dev": DAY + timedelta(days=4), "test": DAY + timedelta(days=6)}
    assert (cut.spanning, cut.late, cut.undated) == (0, 0, 0)


def test_a_group_goes_by_its_first_query_and_is_counted_where_it_spans_a_cut() -> None:
    times = days(0, 1, 2, 3, 4, 5, 6, 7)
    groups = alone(times) | {"q7": "q0"}
    parts, cut = assign_by_time(groups, times, PARTS)
    assert parts["q7"] == parts["q0"] == "train"
    assert (cut.spanning, cut.late) == (1, 1)


def test_what_was_asked_at_one_moment_is_not_torn_by_the_cut() -> None:
    times = days(0, 0, 0, 0, 0, 1, 2, 3)
    parts, _ = assign_by_time(alone(times), times, {"dev": 0.5, "test": 0.5})
    assert [parts[f"q{number}"] for number in range(8)] == ["dev"] * 5 + ["test"] * 3


def test_no_part_stays_empty_where_there_are_moments_enough() -> None:
    """The first ten of twelve queries are one group: 0.4 of twelve is nearer to none than to ten."""
    times = days(*[0] * 10, 1, 2)
    groups = alone(times) | {f"q{number}": "q0" for number in range(10)}
    parts, _ = assign_by_time(groups, times, {"train": 0.4, "dev": 0.3, "test": 0.3})
    assert [parts[name] for name in ("q0", "q10", "q11")] == ["train", "dev", "test"]


def test_queries_without_a_time_go_to_the_first_part() -> None:
    times = days(0, 1, 2, 3)
    groups = alone(times) | {"x": "x", "y": "q3"}
    parts, cut = assign_by_time(groups, times, {"dev": 0.5, "test": 0.5})
    assert (parts["x"], parts["y"], parts["q3"], cut.undated) == ("dev", "test", "test", 1)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=20))
@settings(deadline=None)
def test_nothing_tied_to_a_part_was_asked_before_it_begins(queries: list[tuple[int, int]]) -> None:
    times = days(*(day for day, _ in queries))
    first = {group: f"q{place}" for place, (_, group) in reversed(list(enumerate(queries)))}
    groups = {f"q{place}": first[group] for place, (_, group) in enumerate(queries)}
    parts, cut = assign_by_time(groups, times, PARTS)
    order = list(PARTS)
    for query, part in parts.items():
        assert times[query] >= cut.begins[part]
        assert parts[groups[query]] == part
        for later in order[order.index(part) + 1 :]:
            began = min(times[other] for other in groups if groups[other] == groups[query])
            assert later not in cut.begins or began < cut.begins[later]


@pytest.mark.slow
def test_a_project_is_split_by_when_its_queries_were_first_asked(store: Store, tmp_path: Path) -> None:
    log(store, [Asked(word, day=20 - place) for place, word in enumerate(WORDS)])
    log(store, [Asked(word, day=31) for word in WORDS])
    draw_sample(store, DrawRequest(8, seed=1))
    (tmp_path / "corpus.jsonl").write_text('{"id": "d", "text": "nothing"}\n')
    import_corpus(store, tmp_path / "corpus.jsonl")
    texts = dict(rows_of(store, "SELECT text, query_id FROM queries"))
    add_judgments(store, [ImportedJudgment(texts[word], "d", "rater", 0) for word in WORDS], "r.csv")
    report = make_split(store, SplitRequest(tuple(PARTS.items()), rules=Rules(paraphrase=None), by_time=True))
    parts = parts_of(store)
    assert [parts[texts[word]] for word in WORDS] == ["test"] * 2 + ["dev"] * 2 + ["train"] * 4
    assert report.certificate.parameters["by_time"] is True
    assert report.by_time is not None
    assert report.by_time.begins["test"] == datetime(2026, 3, 19)
