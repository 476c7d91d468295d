"""A release of queries drawn from traffic, some without a relevant document, and a run over it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from curation.core.text import digest
from curation.ingest.importers.answers.reference_answers import import_answers
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.judgments.imported import add_judgments
from curation.queries.sampling.sample import draw_sample
from curation.releases.freeze.freeze import freeze
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, open_store
from tests.support.gold_project import PARTS, add_pool, write_corpus
from tests.support.once import once_a_run
from tests.support.projects import new_project, rows_of

WORDS = [digest("word", number)[:6] for number in range(60)]
DOCUMENTS = 12
"""Of each word; the last one is not judged."""


def sampled_release(folder: Path) -> Store:
    """A copy of a project that was built once; its run is in `folder`."""
    path = folder / "project.duckdb"
    path.write_bytes(_sampled_release())
    store = open_store(path)
    write_run(store, folder / "near.trec")
    return store


@once_a_run
def _sampled_release() -> bytes:
    with TemporaryDirectory() as name:
        folder = Path(name)
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
        draw_sample(store, 36, 1)
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
        make_split(store, PARTS, 1, Rules(query=None, paraphrase=None, document=None))
        freeze(store, "v1")
        store.close()
        return store.path.read_bytes()


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
