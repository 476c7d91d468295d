"""Strata, time window, minimum count, earlier judgments and designs, in a project and from its commands."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest

from curation.core.characters import normalise_query
from curation.core.errors import CurationError, InputError, RefusedError
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, read_quotas
from curation.queries.sampling.stored_sample import SampleReport
from curation.queries.sampling.strata import Stratum, make_sample_chart
from curation.releases.release_rows import read_released_queries
from curation.store import Store
from tests.support.logged import Asked, drawn, log
from tests.support.stored_parts import add_texts
from tests.support.svg import wide


def by_name(report: SampleReport) -> dict[str, Stratum]:
    return {stratum.name: stratum for stratum in report.strata}


MIXED = [
    *(Asked("red shoes", 40 if shop else 20, "shop" if shop else "docs") for shop in (0, 1)),
    Asked("blue suede shoes", 30, "shop"),
    Asked("how do i return my shoes", 30, "docs"),
    *(Asked(f"boot {number}", 2, "shop") for number in range(20)),
    *(Asked(f"size of the boot {number}", 1, "docs") for number in range(20)),
    *(Asked(f"where is the manual of boot {number}", 1) for number in range(5)),
]
EVERY = {"strata": ("band", "segment", "length")}


def test_strata_cross_band_main_segment_and_length(store: Store) -> None:
    log(store, MIXED)
    report = draw_sample(store, DrawRequest(len({row.text for row in MIXED}), seed=0, **EVERY))
    sample = drawn(store)
    assert len(report.strata) == 3 * 3 * 3
    assert sample["red shoes"] == ("head · shop · short", 60, 1.0)
    assert sample["blue suede shoes"][0].endswith("· shop · medium")
    assert sample["how do i return my shoes"][0].endswith("· docs · long")
    assert sample["size of the boot 3"][0] == "tail · docs · medium"
    assert sample["where is the manual of boot 3"][0] == "tail · no segment · long"
    assert sum(stratum.population for stratum in report.strata) == report.size
    assert sum(stratum.traffic for stratum in report.strata) == sum(row.count for row in MIXED)


def test_pps_stores_probabilities_proportional_to_traffic(store: Store) -> None:
    log(store, MIXED)
    report = draw_sample(store, DrawRequest(10, seed=3, design="pps"))
    # 60, 30 and 30 of 185 are certain for 10 queries; the others share 7 of 65.
    for _, traffic, chance in drawn(store).values():
        assert chance == pytest.approx(1.0 if traffic >= 30 else 7 * traffic / 65)
    assert sum(s.population * (s.probability or 0.0) for s in report.strata) == pytest.approx(10)
    assert report.parameters["allocation"] is None


def test_only_traffic_of_the_window_counts(store: Store) -> None:
    log(
        store,
        [
            Asked("march", 2, day=2),
            Asked("march", 5, day=20),
            Asked("late", 9, day=10),
            Asked("never", 4),
            Asked("edge", 1, day=1),
        ],
    )
    limits = {"since": datetime(2026, 3, 1), "until": datetime(2026, 3, 10)}
    report = draw_sample(store, DrawRequest(2, seed=0, **limits))
    assert {text: row[1] for text, row in drawn(store).items()} == {"march": 2, "edge": 1}
    assert report.left_out == {"no known time": 1, "outside the time window": 2}
    assert report.parameters["since"] == "2026-03-01T00:00:00"
    assert draw_sample(store, DrawRequest(4, seed=0)).left_out == {}


def test_an_open_window_has_one_end(store: Store) -> None:
    log(store, [Asked("old", 1, day=1), Asked("new", 1, day=9)])
    draw_sample(store, DrawRequest(1, seed=0, since=datetime(2026, 3, 9)))
    assert list(drawn(store)) == ["new"]
    draw_sample(store, DrawRequest(1, seed=0, until=datetime(2026, 3, 9)))
    assert list(drawn(store)) == ["old"]


def test_rare_queries_can_be_left_out_and_bands_stay_those_of_all_traffic(store: Store) -> None:
    log(store, [Asked("top", 6), Asked("mid", 2), *(Asked(f"rare {n}") for n in range(4)), Asked("Mid", 1)])
    report = draw_sample(store, DrawRequest(2, seed=0, min_count=2))
    assert {normalise_query(text): row[:2] for text, row in drawn(store).items()} == {
        "top": ("head", 6),
        "mid": ("torso", 3),
    }
    assert report.left_out == {"of 4 queries asked fewer than 2 times": 4}
    with pytest.raises(
        RefusedError,
        match=r"asked for 3 queries, but the traffic has only 2 "
        r"distinct queries\. The draw leaves out 4 rows of",
    ):
        draw_sample(store, DrawRequest(3, seed=0, min_count=2))


def test_queries_that_a_round_shows_or_a_release_holds_can_be_left_out(store: Store) -> None:
    log(store, [Asked(text, 3) for text in ("shown", "released", "sampled")])
    log(store, [Asked("Shown", 1), Asked("new", 9)])
    draw_sample(store, DrawRequest(4, seed=0))
    with store.transaction() as cursor:
        ids = dict(cursor.execute("SELECT normalised, query_id FROM queries").fetchall())
        rounds = {"labeling": "shown", "pilot": "sampled", "practice": "sampled"}
        for number, (kind, shown) in enumerate(rounds.items()):
            cursor.execute(
                "INSERT INTO rounds VALUES ($1, $1, $1, 'h', '{}', now()::TIMESTAMP, $2)", [kind, number]
            )
            cursor.execute(
                "INSERT INTO presentations VALUES ($1, $1, 'ann', $2, 'd', 'h', 0, NULL)", [kind, ids[shown]]
            )
        lines = [
            json.dumps({"query_id": ids["released"], "text": "released"}),
            json.dumps({"query_id": "gone"}),
        ]
        add_texts(cursor, "x", {"queries": "\n".join([*lines, ""]), "qrels": "no"})
    released = read_released_queries(store)
    report = draw_sample(store, DrawRequest(2, seed=0, exclude_judged=True), released=released)
    assert set(drawn(store)) == {"sampled", "new"}
    assert report.left_out == {"of 2 queries that are already judged": 3}
    limits = {"exclude_judged": True, "min_count": 4}
    report = draw_sample(store, DrawRequest(1, seed=0, **limits), released=released)
    assert set(drawn(store)) == {"new"}
    assert report.left_out == {
        "of 2 queries asked fewer than 4 times": 2,
        "of 1 queries that are already judged": 2,
    }


@pytest.mark.slow
def test_a_log_of_nothing_and_of_one_query(store: Store) -> None:
    for plan in ({}, EVERY, {"design": "pps"}, {"strata": ("field:lang",)}, {"strata": ("tag:question",)}):
        with pytest.raises(RefusedError, match="There is no traffic to sample from"):
            draw_sample(store, DrawRequest(1, seed=0, **plan))
    log(store, [Asked("only", 3)])
    for plan in ({}, EVERY, {"design": "pps"}):
        draw_sample(store, DrawRequest(1, seed=0, **plan))
        assert drawn(store)["only"][1:] == (3, 1.0)
        with pytest.raises(
            RefusedError, match="asked for 2 queries, but the traffic has only 1 distinct queries"
        ):
            draw_sample(store, DrawRequest(2, seed=0, **plan))
    with pytest.raises(
        RefusedError, match=r"No query of the traffic can be drawn\. The draw leaves out 1 row of 1"
    ):
        draw_sample(store, DrawRequest(1, seed=0, min_count=4))


def test_plans_that_make_no_sense_are_told_together(store: Store) -> None:
    log(store, MIXED)
    with pytest.raises(InputError) as refused:
        draw_sample(store, DrawRequest(0, seed=0, design="random"))
    assert len(refused.value.problems) == 2
    with pytest.raises(InputError, match="takes no allocation or quota"):
        draw_sample(store, DrawRequest(5, seed=0, design="pps", quotas={"head": 1}))
    with pytest.raises(InputError) as refused:
        draw_sample(store, DrawRequest(5, seed=0, strata=("tag", "band", "band")))
    assert [problem.split(";")[0] for problem in refused.value.problems] == [
        "'tag' is not a dimension of strata", "strata by 'band' were requested twice",
    ]  # fmt: skip
    with pytest.raises(InputError, match="no strata were named"):
        draw_sample(store, DrawRequest(5, seed=0, strata=()))
    with pytest.raises(InputError, match="is empty"):
        draw_sample(store, DrawRequest(5, seed=0, since=datetime(2026, 3, 2), until=datetime(2026, 3, 2)))
    with pytest.raises(InputError, match="expected 1 or more"):
        draw_sample(store, DrawRequest(5, seed=0, min_count=0))
    assert drawn(store) == {}


# ── The page ────────────────────────────────────────────────────────────────────────────────────


def test_bars_are_as_long_as_the_shares_beside_them() -> None:
    strata = [Stratum("head", 10, 60, 10, 1.0), Stratum("tail", 90, 40, 10, 1 / 9)]
    picture = wide(make_sample_chart(strata))
    drawn_bars = re.findall(r'<rect class="\w+" x="220" y="\d+" width="([\d.]+)"', picture)
    widths = [float(width) for width in drawn_bars[1:]]  # the first is the legend's
    assert len(widths) == 4
    assert [width / widths[0] for width in widths] == pytest.approx([1, 50 / 60, 40 / 60, 50 / 60], abs=1e-3)
    assert re.findall(r">([\d.]+)\s%<", picture) == ["60.0", "50.0", "40.0", "50.0"]


def test_long_crossed_names_are_shown_whole_and_no_row_runs_into_the_next() -> None:
    names = [
        "head · docs-site-of-the-company · not question · medium",
        "head · docs-site-of-the-company · not question · short",
        "tail · " + "x" * 75,
        "尾部 · 没有空格的很长的查询分段名称没有空格的很长的查询分段名称",
        "no " + "so long a value " * 40,
        "tail",
    ]
    picture = wide(
        make_sample_chart([Stratum(name, 10, 60 + number, 10, 1.0) for number, name in enumerate(names)])
    )
    groups = re.findall(r"<g><title>(.*?)</title>(.*?)</g>", picture, re.DOTALL)
    assert [title for title, _ in groups] == names
    ends = [28.0]
    for number, (name, group) in enumerate(groups):
        lines = re.findall(r'<text x="0" y="(\d+)">(.*?)</text>', group)
        shown = "".join(text for _, text in lines).replace(" ", "")
        assert shown == name.replace(" ", "") or (number == 4 and shown.endswith("…"))
        assert all(sum(1 + (sign > "⺀") for sign in text) <= 30 for _, text in lines)
        tops = [float(y) - 11 for y, _ in lines] + [
            float(y) for y in re.findall(r'<rect.*? y="(\d+)"', group)
        ]
        assert min(tops) >= ends[-1]
        ends.append(max(tops) + 12)
    height = float(re.findall(r'viewBox="0 0 720 (\d+)"', picture)[0])
    assert height >= ends[-1]


# ── The command ─────────────────────────────────────────────────────────────────────────────────


def test_the_command_takes_all_options(store: Store, goldgrade: Any) -> None:
    log(store, [row._replace(day=5) for row in MIXED])
    options = ["--strata", "band, length", "--allocation", "proportional", "--quota", "head · short=1"]
    limits = ["--since", "2026-03-01", "--until", "20260401", "--min-count", "1", "--exclude-judged"]
    report = json.loads(goldgrade("sample", "--size", "20", "--seed", "4", *options, *limits, "--json"))
    assert {s["name"]: s["drawn"] for s in report["strata"]}["head · short"] == 1
    assert sum(stratum["drawn"] for stratum in report["strata"]) == 20
    assert report["parameters"]["until"] == "2026-04-01T00:00:00"


def test_a_quota_is_a_number_or_a_share_of_the_size() -> None:
    assert read_quotas(["head=7", "a=b=12.5 %", "tail=0%"], 100) == {"head": 7, "a=b": 13, "tail": 0}
    with pytest.raises(InputError, match="'head=30%' is a percentage, which needs a sample size"):
        read_quotas(["head=30%"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--quota", "head"], "the quota 'head' is not STRATUM=N"),
        (["--quota", "head=130%"], "the quota 'head=130%' is not STRATUM=N or STRATUM=N%"),
        (["--quota", "head=2", "--quota", "head=3"], "'head' has two quotas"),
        (["--since", "last week"], "--since 'last week' is not a time"),
        (["--strata", "tag:"], "'tag:' is not a dimension of strata"),
        (["--top-up", "--strata", "band", "--exclude-judged"], "--exclude-judged has no effect here"),
    ],
)
def test_options_that_cannot_be_read_are_refused_before_anything_is_drawn(
    store: Store, goldgrade: Any, options: list[str], problem: str
) -> None:
    log(store, MIXED)
    with pytest.raises(CurationError, match=problem):
        goldgrade("sample", "--size", "5", *options)
    assert drawn(store) == {}


@pytest.mark.slow
def test_a_top_up_from_the_command_line_keeps_the_sample_and_reaches_the_quota(
    store: Store, goldgrade: Any
) -> None:
    log(store, MIXED)
    with pytest.raises(InputError, match="Give the number of queries to draw"):
        goldgrade("sample")
    goldgrade("sample", "--size", "12", "--seed", "4", "--strata", "band,tag:question")
    before = drawn(store)
    report = json.loads(goldgrade("sample", "--top-up", "--quota", "tail · not question=15", "--json"))
    assert {s["name"]: s["drawn"] for s in report["strata"]}["tail · not question"] == 15
    assert before.keys() < drawn(store).keys()
    more = ("--top-up", "--size", str(report["size"] + 3))
    assert "; 3 are new to the project" in goldgrade("sample", *more)
