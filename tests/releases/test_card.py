"""The data-set card tells how a release came about and how far it carries, and names nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.people.addresses import add_address
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.queries.stored_tags import set_tags
from curation.releases.card import list_limits, write_card
from curation.releases.freeze.pseudonyms import replace_names
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import (
    LEXICAL,
    PARTS,
    add_pool,
    gold_project,
    labelled,
    pooled_project,
    write_corpus,
)
from tests.support.projects import add_names, new_project

pytestmark = pytest.mark.slow

LOG = """query,time,segment
bike lock,2026-01-02 10:00:00,shop
bike lock,2026-01-03 10:00:00,shop
garden hose,2026-02-01 08:00:00,shop
write to ada@example.org,2026-02-02 08:00:00,help
red paint,2026-03-05 09:30:00,help
,2026-03-05 09:31:00,help
"""


def sampled(folder: Path) -> Store:
    """A project from a log to grades: each query has one relevant document; one person judged it."""
    store = new_project(folder / "sampled.duckdb")
    (folder / "log.csv").write_text(LOG, encoding="utf-8")
    import_traffic(store, folder / "log.csv")
    draw_sample(store, DrawRequest(4, 7))
    with store.reading() as cursor:
        queries = read_active_queries(cursor)
    rows = [
        {"id": f"d{number}{letter}", "title": f"{letter}{number}", "text": f"{letter * 9} {number}"}
        for number, _ in enumerate(queries)
        for letter in "xyz"
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    given = []
    ranks: dict[tuple[str, str], int | None] = {}
    for number, query in enumerate(queries):
        for letter, grade in (("x", 3), ("y", 0)):
            given.append(ImportedJudgment(query.query_id, f"d{number}{letter}", "zoe.miller", grade))
        ranks |= {(query.query_id, f"d{number}{x}"): rank for rank, x in enumerate("xyz", 1)}
    add_judgments(store, given, "zoe.miller.csv")
    add_pool(store, ranks)
    set_tags(store, "red paint", ["entity"], [])
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    return store


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrozenRelease]:
    store = sampled(tmp_path_factory.mktemp("drawn"))
    freeze(store, "v1", override="one judge, said zoe.miller")
    yield load_release(store, "v1")
    store.close()


def section(card: str, title: str) -> str:
    """The text of a section."""
    return card.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_card_tells_how_queries_were_sampled(drawn: FrozenRelease) -> None:
    text = section(write_card(drawn), "Queries")
    assert "Sampled from traffic: 4 distinct queries, design stratified, strata by band" in text
    assert "seed 7" in text
    assert "Window of the log: from its beginning to its end (UTC)" in text
    assert "The log: 5 rows of 1 import, logged from 2026-01-02 10:00:00 to 2026-03-05 09:30:00." in text
    assert "Left out at import: 1 × empty query." in text
    assert "Tags that rules and people set: entity 1" in text


def test_the_card_tells_who_labelled_by_number_and_under_which_guide(drawn: FrozenRelease) -> None:
    text = section(write_card(drawn), "Labels")
    assert "1 annotator gave 8 judgments, 0 of them “cannot tell”" in text
    assert f"Guide “Graded relevance”, hash {drawn.rows('guides')[0]['guide_hash']}" in text
    assert "| 3 | Exactly it |" in text
    assert not [name for name in ("zoe", "miller", ".csv") if name in write_card(drawn)]


def test_undefined_agreement_and_the_override_are_said_with_their_reasons(drawn: FrozenRelease) -> None:
    text = section(write_card(drawn), "Agreement")
    assert "| Krippendorff's alpha, ordinal | undefined: " in text
    assert "Demanded of ordinal alpha: 0.667; undefined" in text
    assert "The release was frozen against this demand by somebody who judged nothing of this release" in text
    assert "“one judge, said a1”" in text


def test_coverage_is_counted_from_pools_and_grades(drawn: FrozenRelease) -> None:
    text = section(write_card(drawn), "Coverage")
    assert "8 of 12 documents (66.7%) have a grade for some query." in text
    assert "12 pairs were pooled; 8 (66.7%) have a grade." in text
    assert "| bm25 | 12 | 3 | 66.7% |" in text


def test_known_limits_follow_from_the_content(drawn: FrozenRelease) -> None:
    limits = " ".join(list_limits(drawn))
    for limit in (
        "8 of 8 grades (100.0%) rest on a single judgment",
        "Agreement (ordinal) is undefined",
        "All judgments were imported",
        "4 of 12 candidate pairs (33.3%) have no grade",
        "not known to be irrelevant",
        "It was frozen despite the gate: ordinal alpha is unknown.",
    ):
        assert limit in limits
    assert "no sample" not in limits


def test_limits_that_do_not_hold_are_not_claimed(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    freeze(store, "v1")
    limits = " ".join(list_limits(load_release(store, "v1")))
    assert "The queries are not a sample" in limits
    for limit in ("single judgment", "undefined", "candidate pairs", "another version", "although"):
        assert limit not in limits


def test_what_was_replaced_in_the_log_is_counted(drawn: FrozenRelease) -> None:
    text = section(write_card(drawn), "Personal data")
    assert "Replaced by placeholders: email in 1 row." in text
    assert "goldgrade does not search them" in text
    assert "ada@example.org" not in "".join(map(str, drawn.texts.values()))


def test_an_unknown_licence_is_said_plainly(drawn: FrozenRelease) -> None:
    assert "Unknown: nobody said under which licence" in section(write_card(drawn), "Licence")
    assert "cc-by-4.0, as stated by" in section(write_card(drawn, "cc-by-4.0"), "Licence")


def test_split_and_certificate_figures_name_no_pair(tmp_path: Path) -> None:
    store = pooled_project(tmp_path)
    freeze(store, "v1")
    text = section(write_card(load_release(store, "v1")), "Split")
    assert "parts asked for: dev 0.5, test 0.5" in text
    assert "| query text | 16 | 0.65 | 0.20 | 0 | 0 |" in text
    assert "| near-duplicate document | 20 | 0.8 | 0.43 | 0 | 0 |" in text
    assert "glacier" not in text


def test_the_release_has_what_a_report_by_strata_needs(drawn: FrozenRelease) -> None:
    queries = {row["text"]: row for row in drawn.rows("queries")}
    assert queries["red paint"]["tags"] == ["entity"]
    assert queries["bike lock"]["segment"] == "shop"
    assert queries["bike lock"]["traffic"] == 2
    assert {row["inclusion_probability"] for row in queries.values()} == {1.0}


def test_reasons_of_reviewers_name_nobody(tmp_path: Path) -> None:
    store = labelled(tmp_path)
    add_names(store, "Berta.Bee", role="lead")
    add_address(store, "Berta.Bee", "berta@example.org")
    said = "zoe.miller is right, abe.jones is not; ask Berta.Bee or berta@example.org, tel. +49 30 1234567"
    decide_pair(store, "q-kettle", "kettle-2", grade=1, reason=said, reviewer="Berta.Bee")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(store, "v1")
    release = load_release(store, "v1")
    judges = {row["annotator"] for row in release.rows("judgments")}
    (row,) = release.rows("adjudications")
    words = row["reason"].replace(",", "").replace(";", "").split()
    assert {words[0], words[3]} == judges == {"a1", "a2"}
    assert words.count("somebody") == 2
    assert "[phone]" in words


def test_a_name_is_found_as_a_whole_word_only_and_short_ones_stay() -> None:
    people = {"ann": "a1", "x": "a2"}
    assert replace_names("ann saw annual figures; x is 1", people) == "a1 saw annual figures; x is 1"
    assert replace_names("Ann and ANN are other words", people) == "Ann and ANN are other words"


def test_the_command_prints_the_card(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    freeze(store, "v1")
    store.close()
    command = ["--project", str(store.path), "releases", "v1", "--card", "--license", "cc0-1.0"]
    done = invoke(command, catch_exceptions=False)
    assert done.stdout.startswith("# v1\n")
    assert "cc0-1.0, as stated by" in done.stdout
    answer = json.loads(invoke([*command, "--json"], catch_exceptions=False).stdout)
    assert answer["card"] == done.stdout
    assert answer["limits"]
