"""Queries that a release holds stay in their part, and what is tied to them follows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from curation.agreement.gate import Demand, set_demand
from curation.core.characters import normalise_query
from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.splits.certificate import read_certificate, read_visible_certificate
from curation.splits.certificate_page import make_certificate_page
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.freezing import freeze
from tests.support.gold_project import parts_of
from tests.support.projects import built_once

pytestmark = pytest.mark.slow

NAMES = "amber birch cedar dahlia ebony fern ginger hazel iris juniper".split()
PARTS = {"dev": 0.5, "test": 0.5}
LEXICAL = Rules(paraphrase=None)


def judge(store: Store, grades: Mapping[tuple[str, str], int]) -> None:
    """Queries with the id of their text, two annotators of one mind."""
    queries = [
        Query(text, text, normalise_query(text), "imported")
        for text in dict.fromkeys(text for text, _ in grades)
    ]
    for rater in ("rater", "other"):
        given = [
            ImportedJudgment(query, f"d-{name}", rater, grade) for (query, name), grade in grades.items()
        ]
        add_judgments(store, given, f"{rater} {len(grades)} {sorted(grades)[0]}.csv", queries)


@built_once
def released(store: Store) -> Store:
    """Six queries with a document each, split and frozen as v1."""
    rows = [{"id": f"d-{name}", "title": name, "text": f"a page on {name} and its uses"} for name in NAMES]
    (store.path.parent / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_corpus(store, store.path.parent / "corpus.jsonl")
    set_demand(store, Demand(alpha=-1))
    judge(store, {(name, name): 3 for name in NAMES[:6]})
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(store, "v1", override="a small set")
    return store


def test_released_queries_keep_their_parts_and_new_ones_follow_those_they_are_tied_to(
    released: Store,
) -> None:
    before = parts_of(released)
    judge(released, {(name, name): 3 for name in NAMES[6:]} | {("hazel", "amber"): 3, ("iris", "birch"): 3})
    for seed in range(5):
        report = make_split(released, SplitRequest(tuple(PARTS.items()), seed, LEXICAL))
        after = parts_of(released)
        assert {name: after[name] for name in before} == before
        assert (after["hazel"], after["iris"]) == (before["amber"], before["birch"])
        assert (report.kept, report.disagreeing) == (6, 0)
        assert report.certificate.parameters["kept"]["queries"] == 6


def test_a_tie_between_released_queries_of_different_parts_is_refused_with_its_chain(released: Store) -> None:
    parts = parts_of(released)
    dev = next(name for name in sorted(parts) if parts[name] == "dev")
    test = next(name for name in sorted(parts) if parts[name] == "test")
    judge(released, {("hazel", dev): 3, ("hazel", test): 3})
    with pytest.raises(RefusedError) as refused:
        make_split(released, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    sentence = str(refused.value)
    assert f"“{dev}” in dev" in sentence
    assert f"“{test}” in test" in sentence
    assert f"shared document 1.00 (d-{dev})" in sentence
    assert "--cut" in sentence
    assert "--fresh" in sentence
    cut = Rules(paraphrase=None, cut=(("hazel", test),))
    report = make_split(released, SplitRequest(tuple(PARTS.items()), 1, cut))
    assert [(tie.query_a, tie.query_b) for tie in report.certificate.residual] == [
        (min("hazel", test), max("hazel", test))
    ]
    frozen = freeze(released, "v2", override="a small set")
    with released.reading() as cursor:
        certificate = read_visible_certificate(cursor, "v2")
    assert frozen.created
    assert certificate.residual == report.certificate.residual
    assert "Residual leakage" in make_certificate_page(certificate, "v2")


def test_of_two_releases_the_newer_one_says_where_a_query_lies(released: Store) -> None:
    before = parts_of(released)
    for seed in range(20):
        make_split(released, SplitRequest(tuple(PARTS.items()), seed, LEXICAL, fresh=True))
        if parts_of(released) != before:
            break
    moved = parts_of(released)
    assert moved != before
    freeze(released, "v2", override="a small set", reason="to see which counts")
    report = make_split(released, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert parts_of(released) == moved
    assert report.disagreeing == sum(moved[name] != before[name] for name in before)


def test_parts_of_a_release_must_be_there(released: Store) -> None:
    with pytest.raises(
        RefusedError, match=r"3 queries are in the part 'test' of a release.*--part test=.*--fresh"
    ):
        make_split(released, SplitRequest((("dev", 0.5), ("train", 0.5)), 1, LEXICAL))


def test_the_commands_split_into_named_parts_and_show_the_certificate(
    released: Store, tmp_path: Path, goldgrade: Any
) -> None:
    parts = "--part train=0.4 --part dev=0.3 --part test=0.3"
    printed = goldgrade("split", *parts.split(), "--fresh", "--no-paraphrase")
    assert "No tie crosses the parts." in printed
    assert set(parts_of(released).values()) == {"train", "dev", "test"}
    shown = json.loads(goldgrade("split", "--certificate", "--json"))
    assert shown["parameters"]["parts"] == {"train": 0.4, "dev": 0.3, "test": 0.3}
    page = tmp_path / "certificate.html"
    writing = ("split", "--certificate", "--release", "v1", "--html", page)
    assert f"Wrote the page to {page}." in goldgrade(*writing)
    written = page.read_text(encoding="utf-8")
    assert "Certificate of the split of release v1" in written
    assert "<script" not in written
    goldgrade(*writing)
    assert page.read_text(encoding="utf-8") == written


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--part", "train"], "Part train: expected NAME=FRACTION"),
        (["--part", "dev=0.5", "--part", "dev=0.5"], "the part 'dev' was given twice"),
        (["--cut", "amber"], "Cut amber: expected two queries, by id or text, with ~ between them"),
        (["--same", "colour", "--no-paraphrase"], "no query has a field 'colour'"),
    ],
)
def test_wrong_options_of_the_command_are_sentences(
    released: Store, goldgrade: Any, arguments: list[str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        goldgrade("split", *arguments)


def test_the_page_escapes_what_queries_say(released: Store) -> None:
    judge(released, {("<b>bold one</b>", "hazel"): 3, ("<b>bold two</b>", "iris"): 3})
    make_split(released, SplitRequest(tuple(PARTS.items()), 1, Rules(query=1.0, paraphrase=None)))
    with released.reading() as cursor:
        page = make_certificate_page(read_certificate(cursor))
    assert "<b>" not in page
