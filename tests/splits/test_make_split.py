"""Making a split in a project: what takes part, what is stored, what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import silent
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.readers.fields import CorpusFields
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.imported import add_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.splits.assignment import PartShare
from curation.splits.carried_over import NOTHING_CARRIED_OVER
from curation.splits.certificate_page import summarize_certificate
from curation.splits.edges import Edge
from curation.splits.graded_queries import GradedQueries, collect_graded_queries, read_labels
from curation.splits.inputs import SplitInputs
from curation.splits.refusals import find_balance_problem
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.similarity_ties import QUERY_TEXT as QUERY_TEXT
from curation.splits.split import assign_and_check, make_split
from curation.splits.split_report import NO_PARAPHRASES
from curation.splits.ties import KINDS, find_edges
from curation.store import Store
from curation.store.row_types import Query
from tests.support.gold_project import parts_of
from tests.support.logged import log
from tests.support.projects import rows_of

pytestmark = pytest.mark.slow

NAMES = "amber birch cedar dahlia ebony fern ginger hazel iris juniper".split()
LEXICAL = Rules(paraphrase=None)


def judge(
    store: Store, folder: Path, grades: Mapping[tuple[str, str], int | None], texts: Sequence[str] = NAMES
) -> None:
    """Queries with the id of their text, documents 'd-…', one annotator's grades."""
    corpus = folder / "corpus.jsonl"
    rows = [
        {"id": f"d-{text}", "title": text, "text": f"a page on {text} and its many uses"} for text in NAMES
    ]
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    import_corpus(store, corpus)
    queries = [Query(text, text, normalise_query(text), "imported") for text in texts]
    given = [ImportedJudgment(query, f"d-{name}", "rater", grade) for (query, name), grade in grades.items()]
    add_judgments(store, given, "ratings.csv", queries)


def own(names: Sequence[str] = NAMES) -> dict[tuple[str, str], int | None]:
    return {(name, name): 3 for name in names}


def test_the_same_call_finds_the_same_split_and_adds_nothing(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, own())
    first = make_split(store, SplitRequest(seed=3, rules=LEXICAL))
    assigned = parts_of(store)
    again = make_split(store, SplitRequest(seed=3, rules=LEXICAL))
    assert (first.created, again.created) == (True, False)
    assert first.split_id == again.split_id
    assert parts_of(store) == assigned
    tables = "SELECT (SELECT count(*) FROM splits), (SELECT count(*) FROM events WHERE action = 'split')"
    assert rows_of(store, tables) == [(1, 1)]
    assert make_split(store, SplitRequest(seed=4, rules=LEXICAL)).split_id != first.split_id


def test_a_shared_relevant_document_ties_and_an_irrelevant_one_does_not(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, own() | {("amber", "birch"): 1, ("cedar", "dahlia"): 0, ("ebony", "fern"): None})
    report = make_split(store, SplitRequest(rules=LEXICAL))
    assert report.edges == dict.fromkeys(KINDS, 0) | {"shared document": 1}
    assert parts_of(store)["amber"] == parts_of(store)["birch"]
    assert (report.certificate.groups, report.certificate.largest) == (9, 2)
    edges = rows_of(store, "SELECT query_a, query_b, kind, similarity, detail FROM leakage_edges")
    groups = rows_of(store, "SELECT group_id FROM split_assignments WHERE query_id = 'birch'")
    assert edges == [("amber", "birch", "shared document", 1.0, '{"documents":["d-birch"]}')]
    assert groups == [("amber",)]
    strict = make_split(store, SplitRequest(rules=LEXICAL, relevant_grade=2))
    assert strict.edges["shared document"] == 0
    assert strict.certificate.parameters["relevant_grade"] == 2


def test_of_copied_documents_a_forest_is_stored_and_all_ties_are_counted(
    store: Store, tmp_path: Path
) -> None:
    judge(store, tmp_path, own())
    copies = [{"id": f"copy-{name}", "title": "", "text": "one and the same page"} for name in NAMES[:6]]
    (tmp_path / "copies.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in copies))
    import_corpus(store, tmp_path / "copies.jsonl")
    given = [ImportedJudgment(name, f"copy-{name}", "rater", 3) for name in NAMES[:6]]
    add_judgments(store, given, "copies.csv")
    report = make_split(store, SplitRequest((("dev", 1.0),), rules=LEXICAL))
    assert report.certificate.largest == 6
    assert report.ties["near-duplicate document"] == 15
    assert report.edges["near-duplicate document"] == 5
    assert rows_of(store, "SELECT count(*) FROM leakage_edges") == [(5,)]


def test_labels_are_read_in_one_turn_and_settled_without_the_file(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, own())
    with store.reading() as cursor:
        labels = read_labels(cursor)
    store.close()
    store.path.unlink()
    assert set(collect_graded_queries(labels, compute_consensus(labels.votes)).inputs.queries) == set(NAMES)


def test_queries_without_a_grade_are_left_out_and_counted(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, own(NAMES[:6]) | {("hazel", "iris"): None})
    report = make_split(store, SplitRequest(rules=LEXICAL))
    assert report.certificate.queries == 6
    assert report.left_out == {"query without a grade": 4}
    assert set(parts_of(store)) == set(NAMES[:6])


def test_parts_are_balanced_by_the_strata_of_the_sample(store: Store, tmp_path: Path) -> None:
    words = [f"{first} {second}" for first in NAMES for second in ("roof", "leaf")]
    log(store, [(text, 100 // (n + 1) + 1) for n, text in enumerate(words)])
    sample = draw_sample(store, DrawRequest(16, seed=1))
    drawn = [query_id for (query_id,) in rows_of(store, "SELECT query_id FROM sample_queries")]
    judge(store, tmp_path, {("juniper", "juniper"): 2}, texts=["juniper"])
    add_judgments(store, [ImportedJudgment(query, "d-amber", "rater", 0) for query in drawn], "more.csv")
    report = make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), rules=replace(LEXICAL, query=1.0)))
    shares = {
        (share.part, share.dimension, share.level): share.reached for share in report.certificate.shares
    }
    assert {level for _, dimension, level in shares if dimension == "stratum"} == {
        *("head", "imported", "tail", "torso")
    }
    assert {level for _, dimension, level in shares if dimension == "source"} == {"imported", "traffic"}
    for stratum in sample.strata:
        both = [shares[part, "stratum", stratum.name] for part in ("dev", "test")]
        assert sum(both) == stratum.drawn
        assert abs(both[0] - both[1]) <= 1


def crowd(size: int) -> list[str]:
    """Queries whose texts have nothing in common."""
    return [f"{number * 7919:x} {number * 104729:x}" for number in range(1, size + 1)]


def chained(store: Store, folder: Path, size: int, others: int) -> list[str]:
    """A chain of `size` queries, each tied with the next by one document alone, and single ones."""
    names = crowd(size + others)
    rows = [{"id": f"d-{name}", "title": "", "text": f"all that {name} is about"} for name in names]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_corpus(store, folder / "corpus.jsonl")
    pairs = [(name, name) for name in names] + list(pairwise(names[:size]))
    given = [ImportedJudgment(query, f"d-{name}", "rater", 3) for query, name in pairs]
    queries = [Query(name, name, normalise_query(name), "imported") for name in names]
    add_judgments(store, given, "ratings.csv", queries)
    return names


def test_a_group_over_the_share_is_refused_with_its_chain_and_what_to_cut(
    store: Store, tmp_path: Path
) -> None:
    names = chained(store, tmp_path, 12, 48)
    with pytest.raises(RefusedError) as refused:
        make_split(store, SplitRequest(rules=LEXICAL, largest_group=0.05))
    sentence = str(refused.value)
    assert "One leakage group contains 12 of 60 queries (20\u00a0%), and at most 5\u00a0%" in sentence
    kind = "11 of the group's 11 ties are of one kind: shared document."
    chain = "connected by 11 ties:"
    assert sentence.index(kind) < sentence.index(chain)
    assert "“{}” – “{}”: shared document 1.00".format(*sorted(names[:2])) in sentence
    assert sentence.count("--cut") == 1
    assert any(f'--cut "{"~".join(sorted(pair))}"' in sentence for pair in pairwise(names[:12]))
    assert "--no-shared-documents allows" in sentence
    assert "--largest-group 0.21" in sentence
    assert parts_of(store) == {}


def test_a_large_group_that_spoils_no_part_is_reported_and_not_refused(
    store: Store, tmp_path: Path, goldgrade: Any
) -> None:
    names = chained(store, tmp_path, 12, 48)
    report = make_split(store, SplitRequest(rules=LEXICAL))
    group = report.large_groups[0]
    assert (group.group_id, len(group.queries), group.share, group.spoils) == (min(names[:12]), 12, 0.2, "")
    assert report.certificate.parameters["largest_group"] == 0.05
    allowed = make_split(store, SplitRequest(rules=LEXICAL, largest_group=0.2))
    assert allowed.large_groups == report.large_groups
    shown = goldgrade("split", "--no-paraphrase", "--largest-group", "0.2")
    assert (
        "WARNING: one leakage group contains 12 queries (20\u00a0% of all), and the parts have the requested"
        in shown
    )


def test_a_large_group_that_fills_most_of_a_part_is_refused(store: Store, tmp_path: Path) -> None:
    chained(store, tmp_path, 12, 8)
    with pytest.raises(RefusedError, match=r"12 of 20 queries .*, and it is 12 of the 14 queries of dev\."):
        make_split(store, SplitRequest(rules=LEXICAL))


def test_a_split_of_one_part_is_never_refused_for_what_ties_its_queries(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can leak between the parts: a giant group, a missing model and a missing time do no harm."""
    chained(store, tmp_path, 12, 8)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    report = make_split(store, SplitRequest((("dev", 1.0),)))
    assert set(parts_of(store).values()) == {"dev"}
    assert (report.certificate.largest, report.large_groups) == (12, ())
    assert make_split(store, SplitRequest((("dev", 1.0),), by_time=True)).by_time is None


def test_without_the_embedding_packages_a_split_by_default_looks_for_no_paraphrases_and_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(store, tmp_path, own())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    report = make_split(store, SplitRequest())
    assert NO_PARAPHRASES in report.sentences
    assert report.split_id == make_split(store, SplitRequest(rules=LEXICAL)).split_id
    with pytest.raises(RefusedError, match="--no-paraphrase"):
        make_split(store, SplitRequest(rules=Rules(paraphrase=0.85)))


def versions_of_policies(store: Store, folder: Path) -> None:
    """Twelve policies in two versions with nearly the same words, and queries of one pattern; half of the
    queries are about the first policy."""
    shared = " ".join(f"clause{number}" for number in range(60))
    documents, queries, given = [], [], []
    for place, policy in enumerate([*NAMES, "oak", "pine"]):
        for year in ("2024", "2025"):
            name = f"{policy}-{year}"
            documents.append({"id": name, "text": f"{shared} {policy} {year}", "policy": policy})
            for number in range(11 if place == 0 else 1):
                text = f"the {number} limit of the {policy} policy in {year}"
                queries.append(Query(text, text, normalise_query(text), "imported"))
                given.append(ImportedJudgment(text, name, "rater", 3))
    path = folder / "policies.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in documents), encoding="utf-8")
    import_corpus(store, path, CorpusFields(group="policy"))
    add_judgments(store, given, "ratings.csv", queries)


def test_versions_of_policies_are_split_by_their_group_with_one_option(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words that all policies share join no groups, and a large group is what was asked for."""
    versions_of_policies(store, tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    report = make_split(store, SplitRequest(rules=Rules(keys=("group",))))
    assert (report.certificate.groups, report.certificate.largest) == (12, 22)
    told_apart = {check.kind: check.told_apart for check in report.certificate.checks}
    assert told_apart[QUERY_TEXT].similarity > 0.65
    assert told_apart["near-duplicate document"].similarity > 0.8
    parts = parts_of(store)
    assert all(parts[text] == parts[text.replace("2024", "2025")] for text in parts)
    with pytest.raises(RefusedError, match="contains 22 of 44"):
        make_split(store, SplitRequest(rules=Rules(keys=("group",)), largest_group=0.3))


def _share(part: str, ideal: float, reached: int, dimension: str = "all", level: str = "all") -> PartShare:
    return PartShare(part, dimension, level, ideal, reached)


@pytest.mark.parametrize(
    ("shares", "spoils"),
    [
        ([_share("a", 50, 50), _share("b", 50, 50)], ""),
        ([_share("a", 46, 50), _share("b", 54, 50)], ""),
        ([_share("a", 40, 50), _share("b", 60, 50)], "a has 50 queries instead of the requested 40.0"),
        (
            [_share("a", 50, 50), _share("a", 9, 14, "stratum", "tail")],
            "a has 14 queries of the stratum “tail”",
        ),
        ([_share("a", 50, 50), _share("a", 9, 11, "stratum", "tail")], ""),
        ([_share("a", 50, 50), _share("a", 20, 40, "stratum", "head")], ""),
        ([_share("a", 24, 24), _share("b", 76, 76)], "it is 13 of the 24 queries of a"),
    ],
)
def test_a_group_spoils_what_it_fills_or_keeps_from_its_share(shares: list[PartShare], spoils: str) -> None:
    members = [str(number) for number in range(13)]
    levels = {name: frozenset({("stratum", "tail")}) for name in members}
    problem = find_balance_problem(members, dict.fromkeys(members, "a"), shares, levels, is_balanced=True)
    assert problem.startswith(spoils) if spoils else problem == ""


def test_documents_on_both_sides_are_counted_where_they_were_not_looked_for(
    store: Store, tmp_path: Path
) -> None:
    judge(store, tmp_path, {(query, "amber"): 3 for query in NAMES} | own())
    report = make_split(store, SplitRequest(rules=replace(LEXICAL, shared=False, document=None)))
    assert summarize_certificate(report.certificate)[0] == (
        "1 document is relevant to queries of different parts, because the split ignored shared "
        "documents. No other tie crosses the parts."
    )


def test_ties_cut_by_name_free_the_groups_and_are_residual_leakage_everywhere(
    store: Store, tmp_path: Path
) -> None:
    names = chained(store, tmp_path, 12, 8)
    text = f"  {names[5].upper()}"  # by its text, which is its id in another case
    report = make_split(
        store,
        SplitRequest(
            (("a", 0.5), ("b", 0.5)), rules=replace(LEXICAL, cut=((names[6], text),)), largest_group=0.3
        ),
    )
    first, second = sorted(names[5:7])
    assert report.certificate.parameters["cut"] == [[first, second]]
    assert [edge[:3] for edge in report.cut] == [(first, second, "shared document")]
    assert report.certificate.largest == 6
    crossing = parts_of(store)[first] != parts_of(store)[second]
    assert crossing == bool(report.certificate.residual)
    assert report.certificate.leaks == ()
    with pytest.raises(InputError, match="'nothing' is not a graded query's id or text"):
        make_split(store, SplitRequest(rules=replace(LEXICAL, cut=((names[0], "nothing"),))))


def test_small_groups_are_never_too_large(store: Store, tmp_path: Path) -> None:
    links = dict.fromkeys(zip(NAMES[1:5], NAMES[:4], strict=True), 3)
    judge(store, tmp_path, own() | links)
    report = make_split(store, SplitRequest(rules=LEXICAL))
    assert (report.certificate.largest, report.large_groups) == (5, ())


def test_a_part_that_would_stay_empty_is_refused_with_the_chain(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, {(query, "amber"): 3 for query in NAMES})
    with pytest.raises(
        RefusedError, match=r"(?s)No query is left for test.*the largest of 10.*--relevant-grade"
    ):
        make_split(store, SplitRequest(rules=LEXICAL))
    assert parts_of(store) == {}


def test_nothing_graded_is_refused_with_the_way_out(store: Store, tmp_path: Path) -> None:
    judge(store, tmp_path, {("amber", "amber"): None})
    with pytest.raises(RefusedError, match="No query has a grade yet"):
        make_split(store, SplitRequest(rules=LEXICAL))


@pytest.mark.parametrize(
    ("parts", "more", "sentence"),
    [
        (
            {"dev": 0.7, "test": 0.2},
            {},
            "the parts dev 0.7, test 0.2 sum to 0.9; expected fractions that sum to 1",
        ),
        ({"dev": 1.5, "test": -0.5}, {}, "expected fractions above 0"),
        ({"../dev": 1.0}, {}, "the part name '../dev'"),
        ({"dev\n": 1.0}, {}, "the part name 'dev\\n'"),
        ({"dev": 1.0}, {"rules": Rules(query=0.0)}, "“Minimum similarity of query texts”: 0 is out of range"),
        ({"dev": 1.0}, {"largest_group": 1.5}, "A largest group of 1.5"),
        (
            {"dev": 1.0},
            {"relevant_grade": 0},
            "The lowest relevant grade is 0; expected a grade above the lowest grade of the scale: 1, 2, 3",
        ),
    ],
)
def test_wrong_options_are_sentences(
    store: Store, tmp_path: Path, parts: dict[str, float], more: dict[str, object], sentence: str
) -> None:
    judge(store, tmp_path, own(NAMES[:2]))
    with pytest.raises(InputError) as caught:
        make_split(store, SplitRequest(tuple(parts.items()), **more))  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_a_pair_that_minhash_misses_is_found_by_the_check_and_becomes_an_edge() -> None:
    inputs = SplitInputs({"a": "ycxnkkcoxaxtymutu", "b": "ycxnkkcoxaxtymfxc", "c": "gamma"}, {}, {})
    proposed = find_edges(inputs, LEXICAL).edges
    given = GradedQueries(inputs, dict.fromkeys("abc", frozenset({("stratum", "head")})), 1, "corpus", {})
    parts = {"dev": 0.5, "test": 0.5}
    found = [
        assign_and_check(
            given, SplitRequest(tuple(parts.items()), seed, LEXICAL), NOTHING_CARRIED_OVER, proposed, silent
        )
        for seed in range(8)
    ]
    assert proposed == []
    for settled_as in found:
        assert settled_as.findings.leaks == ()
        assert settled_as.parts["a"] == settled_as.parts["b"]
        assert not settled_as.missed or settled_as.groups["b"] == "a"
    assert next(each.missed for each in found if each.missed) == [Edge("a", "b", QUERY_TEXT, 2 / 3)]


def test_a_split_names_the_model_and_not_the_folder_that_it_lay_in(store: Store, tmp_path: Path) -> None:
    """The folder is another one elsewhere, and a release has the same id there."""
    judge(store, tmp_path, own())
    with store.transaction() as cursor:
        for place, name in enumerate(NAMES):
            vector = [float(number == place) for number in range(len(NAMES))]
            cursor.execute("INSERT INTO embeddings VALUES ('mini', ?, ?)", [digest("query", name), vector])
    found = []
    for folder in ("here", "there"):
        (tmp_path / folder / "mini").mkdir(parents=True)
        found.append(make_split(store, SplitRequest(rules=Rules(model=str(tmp_path / folder / "mini")))))
    assert found[0].certificate.parameters["model"] == "mini"
    assert (found[1].split_id, found[1].created) == (found[0].split_id, False)
