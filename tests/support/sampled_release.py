"""A release of queries drawn from traffic, some without a relevant document, and a run over it."""

from __future__ import annotations

from pathlib import Path

from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.imported import add_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.freezing import freeze
from tests.support.gold_project import PARTS, add_pool, write_corpus
from tests.support.projects import copied, new_project, rows_of

WORDS = [digest("word", number)[:6] for number in range(60)]
DOCUMENTS = 12
"""Documents about each word; the last one is not judged."""


def sampled_release(folder: Path) -> Store:
    """The project; its run is in `folder`."""
    store = _sampled_release(folder)
    write_run(store, folder / "near.trec")
    return store


@copied
def _sampled_release(folder: Path) -> Store:
    store = new_project(folder / "project.duckdb")
    rows = [
        {"id": document, "title": f"Title {document}", "text": f'Said “{document}”,\nor "so"'}
        for word in WORDS
        for document in documents_of(f"topic {word}")
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    log = (f"topic {word},{1 + 400 // place}" for place, word in enumerate(WORDS, 1))
    (folder / "log.csv").write_text("\n".join(["query,count", *log]))
    import_traffic(store, folder / "log.csv")
    draw_sample(store, DrawRequest(36, 1))
    texts = dict(rows_of(store, "SELECT query_id, text FROM queries"))
    given = [
        ImportedJudgment(query, document, who, _grade(text, document))
        for query, text in texts.items()
        for document in documents_of(text)[:-1]
        for who in ("ada", "ben")
    ]
    add_judgments(store, given, "given.csv")
    ranks = {(query, documents_of(text)[rank]): rank for query, text in texts.items() for rank in (1, 2)}
    add_pool(store, ranks)
    answers = (f"{text},“{text}” is so" for text in sorted(texts.values())[::2])
    (folder / "answers.csv").write_text("\n".join(["query,answer", *answers]))
    import_answers(store, folder / "answers.csv")
    make_split(
        store, SplitRequest(tuple(PARTS.items()), 1, Rules(query=None, paraphrase=None, document=None))
    )
    freeze(store, "v1")
    return store


def documents_of(text: str) -> list[str]:
    return [f"{text.split()[-1]}-{number:02}" for number in range(DOCUMENTS)]


def _drawn(*of: str) -> int:
    return int(digest(*of)[:4], 16)


def _grade(text: str, document: str) -> int:
    """One query in six has nothing relevant."""
    return 0 if _drawn(text) % 6 == 0 else max(0, _drawn("grade", document) % 7 - 3)


def write_run(store: Store, path: Path) -> None:
    """A system's lists, with equal scores and an unjudged document; one query in nine is missed."""
    lines = [
        f"{query} Q0 {document} 0 {_drawn('near', document) // 6000} near\n"
        for query, text in sorted(rows_of(store, "SELECT query_id, text FROM queries"))
        if _drawn("missed", text) % 9
        for document in documents_of(text)
    ]
    path.write_text("".join(lines))
