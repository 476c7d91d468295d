"""Strata, time window, minimum count, earlier judgments and designs, in a project and from its commands."""

from __future__ import annotations

import json
import random
import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import CurationError, InputError, RefusedError
from curation.core.text import normalise_query
from curation.queries.sampling.chart import sample_chart, sample_page
from curation.queries.sampling.designs import Stratum
from curation.queries.sampling.frame.limits import Limits
from curation.queries.sampling.request import SamplingPlan
from curation.queries.sampling.sample import SampleReport, draw_sample
from curation.queries.sampling.sample_plan import read_quotas
from curation.releases.release_rows import released_queries
from curation.store import Store, append
from tests.support.command_line import invoke
from tests.support.logged import Asked, drawn, log
from tests.support.projects import new_project
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
EVERY = SamplingPlan(strata=("band", "segment", "length"))


def test_strata_cross_band_main_segment_and_length(store: Store) -> None:
    log(store, MIXED)
    report = draw_sample(store, len({row.text for row in MIXED}), seed=0, plan=EVERY)
    sample = drawn(store)
    assert len(report.strata) == 3 * 3 * 3
    assert sample["red shoes"] == ("head · shop · short", 60, 1.0)
    assert sample["blue suede shoes"][0].endswith("· shop · medium")
    assert sample["how do i return my shoes"][0].endswith("· docs · long")
    assert sample["size of the boot 3"][0] == "tail · docs · medium"
    assert sample["where is the manual of boot 3"][0] == "tail · no segment · long"
    assert sum(stratum.population for stratum in report.strata) == report.size
    assert sum(stratum.traffic for stratum in report.strata) == sum(row.count for row in MIXED)


def test_a_query_belongs_to_the_segment_that_asked_it_most_and_ties_to_the_first_by_text(
    store: Store,
) -> None:
    log(store, [Asked("a", 2, "x"), Asked("a", 3, "y"), Asked("b", 2, "y"), Asked("B", 2, "x"), Asked("c")])
    draw_sample(store, 3, seed=0, plan=SamplingPlan(strata=("segment",)))
    segments = {normalise_query(text): row[0] for text, row in drawn(store).items()}
    assert segments == {"a": "y", "b": "x", "c": "no segment"}


def test_a_segment_called_like_another_kind_of_query_is_told_apart(store: Store) -> None:
    log(
        store,
        [
            Asked("a", 1, "all"),
            Asked("b", 1, "imported"),
            Asked("c", 1, "no segment"),
            Asked("d"),
            Asked("e", 1, "traffic"),
        ],
    )
    report = draw_sample(store, 5, seed=0, plan=SamplingPlan(strata=("segment",)))
    assert list(by_name(report)) == [
        "segment all", "segment imported", "segment no segment", "segment traffic", "no segment",
    ]  # fmt: skip


@pytest.mark.parametrize("plan", [EVERY, SamplingPlan(strata=("segment", "band"), design="pps")])
def test_the_order_of_the_log_changes_no_design(tmp_path: Path, store: Store, plan: SamplingPlan) -> None:

    other = new_project(tmp_path / "other.duckdb")
    shuffled = list(MIXED)
    random.Random(4).shuffle(shuffled)
    log(store, MIXED)
    log(other, shuffled)
    for seed in (1, 2):
        assert draw_sample(store, 12, seed, plan) == draw_sample(other, 12, seed, plan)
        assert drawn(store) == drawn(other)
    other.close()


def test_pps_stores_probabilities_proportional_to_traffic(store: Store) -> None:
    log(store, MIXED)
    report = draw_sample(store, 10, seed=3, plan=SamplingPlan(design="pps"))
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
    limits = Limits(since=datetime(2026, 3, 1), until=datetime(2026, 3, 10))
    report = draw_sample(store, 2, seed=0, limits=limits)
    assert {text: row[1] for text, row in drawn(store).items()} == {"march": 2, "edge": 1}
    assert report.left_out == {"no known time": 1, "outside the time window": 2}
    assert report.parameters["since"] == "2026-03-01T00:00:00"
    assert draw_sample(store, 4, seed=0).left_out == {}


def test_an_open_window_has_one_end(store: Store) -> None:
    log(store, [Asked("old", 1, day=1), Asked("new", 1, day=9)])
    draw_sample(store, 1, seed=0, limits=Limits(since=datetime(2026, 3, 9)))
    assert list(drawn(store)) == ["new"]
    draw_sample(store, 1, seed=0, limits=Limits(until=datetime(2026, 3, 9)))
    assert list(drawn(store)) == ["old"]


def test_rare_queries_can_be_left_out_and_bands_stay_those_of_all_traffic(store: Store) -> None:
    log(store, [Asked("top", 6), Asked("mid", 2), *(Asked(f"rare {n}") for n in range(4)), Asked("Mid", 1)])
    report = draw_sample(store, 2, seed=0, limits=Limits(min_count=2))
    assert {normalise_query(text): row[:2] for text, row in drawn(store).items()} == {
        "top": ("head", 6),
        "mid": ("torso", 3),
    }
    assert report.left_out == {"of 4 queries asked fewer than 2 times": 4}
    with pytest.raises(
        RefusedError, match=r"2 distinct queries and 3 were asked for\. Left out were 4 rows of"
    ):
        draw_sample(store, 3, seed=0, limits=Limits(min_count=2))


def test_queries_that_a_round_shows_or_a_release_holds_can_be_left_out(store: Store) -> None:
    log(store, [Asked(text, 3) for text in ("shown", "released", "sampled")])
    log(store, [Asked("Shown", 1), Asked("new", 9)])
    draw_sample(store, 4, seed=0)
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
    released = released_queries(store)
    report = draw_sample(store, 2, seed=0, limits=Limits(exclude_judged=True), released=released)
    assert set(drawn(store)) == {"sampled", "new"}
    assert report.left_out == {"of 2 queries judged already": 3}
    limits = Limits(exclude_judged=True, min_count=4)
    report = draw_sample(store, 1, seed=0, limits=limits, released=released)
    assert set(drawn(store)) == {"new"}
    assert report.left_out == {"of 2 queries asked fewer than 4 times": 2, "of 1 queries judged already": 2}


def test_a_log_of_nothing_and_of_one_query(store: Store) -> None:
    for plan in (SamplingPlan(), EVERY, SamplingPlan(design="pps"), SamplingPlan(strata=("segment",))):
        with pytest.raises(RefusedError, match="There is no traffic to sample from"):
            draw_sample(store, 1, seed=0, plan=plan)
    log(store, [Asked("only", 3)])
    for plan in (SamplingPlan(), EVERY, SamplingPlan(design="pps")):
        draw_sample(store, 1, seed=0, plan=plan)
        assert drawn(store)["only"][1:] == (3, 1.0)
        with pytest.raises(RefusedError, match="1 distinct queries and 2 were asked for"):
            draw_sample(store, 2, seed=0, plan=plan)
    with pytest.raises(
        RefusedError, match=r"No query of the traffic can be drawn\. Left out were 1 row of 1"
    ):
        draw_sample(store, 1, seed=0, limits=Limits(min_count=4))


def test_plans_that_make_no_sense_are_told_together(store: Store) -> None:
    log(store, MIXED)
    with pytest.raises(InputError) as refused:
        draw_sample(store, 0, seed=0, plan=SamplingPlan(design="random"))
    assert len(refused.value.problems) == 2
    with pytest.raises(InputError, match="takes no allocation or quota"):
        draw_sample(store, 5, seed=0, plan=SamplingPlan(design="pps", quotas={"head": 1}))
    with pytest.raises(InputError) as refused:
        draw_sample(store, 5, seed=0, plan=SamplingPlan(strata=("tag", "band", "band")))
    assert [problem.split(";")[0] for problem in refused.value.problems] == [
        "'tag' is nothing to make strata by", "strata by 'band' were asked for twice",
    ]  # fmt: skip
    with pytest.raises(InputError, match="no strata were named"):
        draw_sample(store, 5, seed=0, plan=SamplingPlan(strata=()))
    with pytest.raises(InputError, match="it holds no moment"):
        draw_sample(store, 5, seed=0, limits=Limits(datetime(2026, 3, 2), datetime(2026, 3, 2)))
    with pytest.raises(InputError, match="expected 1 or more"):
        draw_sample(store, 5, seed=0, limits=Limits(min_count=0))
    assert drawn(store) == {}


@pytest.mark.slow
def test_the_excite_log_by_band_and_length(store: Store, shared: Path) -> None:
    lines = (shared / "excite_log").glob("*log*")
    texts = [
        line.rsplit("\t", 1)[-1]
        for path in sorted(lines)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO traffic_imports VALUES ('i', 'log', 1, '{}', now()::TIMESTAMP)")
        rows = [(text, normalise_query(text)) for text in texts]
        append(
            cursor,
            "traffic",
            {
                "import_id": ["i"] * len(rows),
                "line": list(range(len(rows))),
                "text": [text for text, _ in rows],
                "normalised": [normalised for _, normalised in rows],
                "count": [1] * len(rows),
            },
        )
    plan = SamplingPlan(strata=("band", "length"), allocation="square-root")
    report = draw_sample(store, 180, seed=1, plan=plan)
    strata = by_name(report)
    assert sum(stratum.drawn for stratum in report.strata) == 180
    assert strata["tail · medium"].population > strata["tail · long"].population > 50
    assert all(stratum.drawn <= stratum.population for stratum in report.strata)


# ── The page ────────────────────────────────────────────────────────────────────────────────────


class _Seen(HTMLParser):
    """What a browser would load or run, and the cells of the table."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [
            name for name, _ in attrs if name in ("src", "href", "srcset") or name.startswith("on")
        ]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def seen(page: str) -> _Seen:
    parser = _Seen()
    parser.feed(page)
    return parser


HOSTILE = "<script>alert(\"1\")</script> & 'more'"


def test_the_page_loads_nothing_runs_nothing_and_escapes_every_name() -> None:
    strata = [Stratum(f"head · {HOSTILE}", 4, 30, 2, 0.5), Stratum("tail", 0, 0, 0, None)]
    page = sample_page(HOSTILE, strata, {"seed": 0, "since": HOSTILE, "until": None}, {HOSTILE: 3}, [HOSTILE])
    parser = seen(page)
    assert "script" not in parser.tags
    assert parser.loads == []
    assert "url(" not in page
    assert "http:" not in page
    assert f"head · {HOSTILE}" in parser.text
    assert f"left out: 3 rows of traffic: {HOSTILE}" in parser.text
    assert {"seed: 0", f"since: {HOSTILE}"} <= set(parser.text)
    assert "until" not in page


def test_bars_are_as_long_as_the_shares_beside_them() -> None:
    strata = [Stratum("head", 10, 60, 10, 1.0), Stratum("tail", 90, 40, 10, 1 / 9)]
    picture = wide(sample_chart(strata))
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
        sample_chart([Stratum(name, 10, 60 + number, 10, 1.0) for number, name in enumerate(names)])
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


def run(store: Store, *arguments: str) -> Any:
    store.close()
    return invoke(["--project", str(store.path), "sample", *arguments], catch_exceptions=False)


def test_the_command_takes_all_options_and_writes_the_page(store: Store, tmp_path: Path) -> None:
    log(store, [row._replace(day=5) for row in MIXED])
    page = tmp_path / "sample.html"
    options = ["--strata", "band, length", "--allocation", "proportional", "--quota", "head · short=1"]
    limits = ["--since", "2026-03-01", "--until", "20260401", "--min-count", "1", "--exclude-judged"]
    result = run(store, "--size", "20", "--seed", "4", *options, *limits, "--html", str(page), "--json")
    report = json.loads(result.stdout)
    assert {s["name"]: s["drawn"] for s in report["strata"]}["head · short"] == 1
    assert sum(stratum["drawn"] for stratum in report["strata"]) == 20
    assert report["parameters"]["until"] == "2026-04-01T00:00:00"
    parser = seen(page.read_text(encoding="utf-8"))
    assert {"svg", "table", "caption"} <= set(parser.tags)
    assert {stratum["name"] for stratum in report["strata"]} <= set(parser.text)
    shown = run(store, "--size", "20", "--html", str(page)).stdout
    assert "The chart is in" in shown
    assert "Fewer than 10 queries were drawn from" in shown


def test_a_quota_is_a_number_or_a_share_of_the_size() -> None:
    assert read_quotas(["head=7", "a=b=12.5 %", "tail=0%"], 100) == {"head": 7, "a=b": 13, "tail": 0}
    with pytest.raises(InputError, match="'head=30%' is a share, and there is no size"):
        read_quotas(["head=30%"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--quota", "head"], "the quota 'head' is no STRATUM=N"),
        (["--quota", "head=130%"], "the quota 'head=130%' is no STRATUM=N or STRATUM=N%"),
        (["--quota", "head=2", "--quota", "head=3"], "'head' has two quotas"),
        (["--since", "last week"], "--since 'last week' is not a time"),
        (["--html", "no/such/folder/page.html"], "its folder does not exist"),
        (["--html", "."], "it is a folder"),
        (["--strata", "tag:"], "'tag:' is nothing to make strata by"),
        (["--allocation", "neyman"], "Name a release"),
        (["--imported-run", "bm25"], "--imported-run would change nothing: neyman learns from a release"),
        (["--exclude-release", "v9"], "no release 'v9'"),
        (["--top-up", "--strata", "band", "--exclude-judged"], "leave --strata, --exclude-judged out"),
        (["--html", "PROJECT"], "it is the project itself"),
    ],
)
def test_options_that_cannot_be_read_are_refused_before_anything_is_drawn(
    store: Store, options: list[str], problem: str
) -> None:
    log(store, MIXED)
    given = [option.replace("PROJECT", str(store.path)) for option in options]
    with pytest.raises(CurationError, match=problem):
        run(store, "--size", "5", *given)
    assert drawn(store) == {}


def test_a_top_up_from_the_command_line_keeps_the_sample_and_reaches_the_quota(store: Store) -> None:
    log(store, MIXED)
    with pytest.raises(InputError, match="No --size was given"):
        run(store)
    assert run(store, "--size", "12", "--seed", "4", "--strata", "band,tag:question").exit_code == 0
    before = drawn(store)
    result = run(store, "--top-up", "--quota", "tail · not question=15", "--json")
    report = json.loads(result.stdout)
    assert {s["name"]: s["drawn"] for s in report["strata"]}["tail · not question"] == 15
    assert before.keys() < drawn(store).keys()
    shown = run(store, "--top-up", "--size", str(report["size"] + 3)).stdout
    assert "; 3 new to the project" in shown
