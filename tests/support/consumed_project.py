"""A small gold set, and one run over it."""

from __future__ import annotations

from pathlib import Path

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.operations.project import init_project
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, PARTS, Qrels, write_corpus

Run = dict[str, dict[str, float]]

TOPICS = {
    "kettle": "boils water for tea in a steel jug",
    "violin": "has four strings and a wooden bow",
    "glacier": "moves ice slowly down a valley",
    "sourdough": "rises overnight with wild yeast",
    "router": "sends packets between two networks",
    "tractor": "pulls a plough through heavy soil",
    "origami": "folds one sheet into a paper crane",
    "passport": "lets a traveller cross the border",
}
SAID = (
    "The {topic} {does}: everything about it, with pictures.",
    "What a {topic} costs, and where to find a cheap one.",
    "Ten people tell how they lost their {topic} on a long journey.",
    "A {topic} museum opens; the mayor spoke for an hour about the roof.",
    "Crossword: six letters, not a {topic}.",
    "Ümläute – “quotes”, commas, and\ttabs near a {topic}\nand a second line.",
)
GRADES = (3, 2, 1, 0, 0, 1)


def query_id(topic: str) -> str:
    """Ids with leading zeros: nobody may take them for numbers."""
    return f"{list(TOPICS).index(topic) + 1:03d}"


def document_ids(topic: str) -> list[str]:
    return [f"{topic}-{number}" for number in range(len(SAID))]


def expected() -> Qrels:
    """The grades as they were given; each query also has one not relevant document of the next topic."""
    topics = list(TOPICS)
    found: Qrels = {}
    for topic, other in zip(topics, [*topics[1:], topics[0]], strict=True):
        grades = dict(zip(document_ids(topic), GRADES, strict=True))
        found[query_id(topic)] = grades | {f"{other}-3": 0}
    return found


def consumed_project(folder: Path) -> Store:
    """Corpus, queries, a pool with ranks, grades of two annotators, a split and the release v1."""
    store = init_project(folder / "project.duckdb")
    rows = [
        {
            "id": name,
            "title": f"{topic.title()}, part {number}",
            "text": said.format(topic=topic, does=TOPICS[topic]),
            "url": f"https://example.org/{name}" if number % 2 else "",
        }
        for topic in TOPICS
        for number, (name, said) in enumerate(zip(document_ids(topic), SAID, strict=True))
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    asked = [
        Query(query_id(topic), f"{topic} that {does}", normalise_query(f"{topic} that {does}"), "imported")
        for topic, does in TOPICS.items()
    ]
    for annotator in ("zoe", "abe"):
        judged = [
            ImportedJudgment(query, document, annotator, grade)
            for query, grades in expected().items()
            for document, grade in grades.items()
        ]
        add_judgments(store, judged, f"{annotator}.csv", asked)
    build_pool(store, PoolRequest(["bm25"], depth=10, random_negatives=0, seed=1))
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(store, "v1")
    return store


def fixed_run() -> Run:
    """Eight documents a query in an order of its own, some of them never judged; no two scores are equal."""
    everything = [name for topic in TOPICS for name in document_ids(topic)]
    run: Run = {}
    for query, grades in expected().items():
        known = sorted(grades, key=lambda name: digest("run", query, name))[:5]
        others = sorted(set(everything) - grades.keys(), key=lambda name: digest("other", query, name))[:3]
        ranked = sorted([*known, *others], key=lambda name: digest("order", query, name))
        run[query] = {name: float(len(ranked) - place) for place, name in enumerate(ranked)}
    return run
