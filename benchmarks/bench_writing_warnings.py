"""How often the checks of written queries warn falsely: real queries with relevant and with random documents.

Of each query up to five relevant documents and five others of the same collection, by seed. The four figures
of a collection are shares of pairs that are said not to be about each other: of relevant and of random
documents without a word in common, then of those that are not near in meaning either, which is the rule.

Usage: python -m benchmarks.bench_writing_warnings [collections ...]
Smallest: python -m benchmarks.bench_writing_warnings med
Needs: the embedding model
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchmarks.coverage_collections import SHARED, SMART, rated_queries
from benchmarks.steps import shared_data
from curation.coverage.writing.checks import NEAR, STYLES, reads_as_query, shares_words
from curation.retrieval.embeddings import DEFAULT_MODEL, find_model, open_model
from curation.retrieval.terms import is_question
from curation.text import normalise_query
from tests.support.smart import qrels, records

PAIRS = 5
EXCITE = SHARED / "excite_log" / "excite-small.log"
PASSAGE = 1_000
"""Characters of a passage of the long documents of `evidence`."""


class Written(NamedTuple):
    """Documents and queries by id, and the relevant documents of each query."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, set[str]]


def smart(name: str) -> Written:
    stem = SHARED / "smart" / name / name.upper()
    grades = qrels(stem.with_suffix(".REL"))
    relevant = {query: {one for one, grade in held.items() if grade > 0} for query, held in grades.items()}
    return Written(records(stem.with_suffix(".ALL")), records(stem.with_suffix(".QRY")), relevant)


def lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def icecat() -> Written:
    queries, grades = rated_queries()
    relevant = {query: {one for one, grade in held.items() if grade >= 2} for query, held in grades.items()}
    products = lines("chorus_icecat/products.jsonl.gz")
    documents = {
        str(one["id"]): f"{one.get('title') or ''}\n{one.get('short_description') or ''}" for one in products
    }
    return Written(documents, queries, relevant)


def esci() -> Written:
    fields = ("title", "description", "bullet_points")
    documents = {
        one["asin"]: "\n".join(filter(None, map(one.get, fields)))
        for one in lines("esci_us/products.json.gz")
    }
    judged = json.loads((SHARED / "esci_us" / "esci_us_judgments.json").read_text("utf-8"))["judgmentRatings"]
    relevant = {
        one["query"]: {rating["docId"] for rating in one["ratings"] if float(rating["rating"]) == 100}
        for one in judged
    }
    return Written(documents, {query: query for query in relevant}, relevant)


def evidence() -> Written:
    """Questions by a language model, filtered by people, and passages of three long documents."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted((SHARED / "evidence").glob("*.md"))}
    documents = {
        f"{name}/{start // PASSAGE}": text[start : start + PASSAGE]
        for name, text in texts.items()
        for start in range(0, len(text), PASSAGE)
    }
    with (SHARED / "evidence" / "questions.csv").open(encoding="utf-8", newline="") as file:
        relevant = {
            row["question"]: {
                f"{row['corpus_id']}/{one['start_index'] // PASSAGE}" for one in json.loads(row["references"])
            }
            for row in csv.DictReader(file)
        }
    return Written(documents, {query: query for query in relevant}, relevant)


COLLECTIONS: dict[str, Callable[[], Written]] = {
    **{name: partial(smart, name) for name in SMART},
    "icecat": icecat,
    "esci": esci,
    "evidence": evidence,
}


def pairs(found: Written) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Texts of queries with relevant documents, and with others."""
    drawn, near, far = random.Random(1), [], []
    held = {key: text for key, text in found.documents.items() if text.strip()}
    for query in sorted(found.queries):
        good = sorted(found.relevant.get(query, set()) & held.keys())
        others = [one for one in drawn.sample(sorted(held), 3 * PAIRS) if one not in good][:PAIRS]
        text = found.queries[query]
        near += [(text, held[one]) for one in drawn.sample(good, min(PAIRS, len(good)))]
        far += [(text, held[one]) for one in others if good]
    return near, far


def elsewhere(pairs: list[tuple[str, str]], encoder: Any) -> tuple[float, float]:
    """The shares of pairs without a word in common, and of those of them that are not near either."""
    apart = [pair for pair in pairs if not shares_words(*pair)]
    if not apart:
        return 0.0, 0.0
    options: Any = {"batch_size": 8, "normalize_embeddings": True, "show_progress_bar": False}
    asked = encoder.encode_query([text for text, _ in apart], **options)
    read = encoder.encode_document([text for _, text in apart], **options)
    return len(apart) / len(pairs), float(((asked * read).sum(axis=1) < NEAR).sum()) / len(pairs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", help=f"of {', '.join(COLLECTIONS)}; all without")
    names = parser.parse_args().collections or COLLECTIONS
    shared_data()
    encoder = open_model(None, find_model(DEFAULT_MODEL))
    print("Queries of 1 to 4 words, and questions, that are said not to read as a query:")
    logged = [line.split("\t")[2].strip() for line in EXCITE.read_text("latin-1").splitlines()]
    report("excite_log", sorted(set(filter(None, logged))))
    for name in names:
        found = COLLECTIONS[name]()
        report(name, [text for query, text in found.queries.items() if found.relevant.get(query)])
        shares = [share for held in pairs(found) for share in elsewhere(held, encoder)]
        print(f"| {name} | " + " | ".join(f"{shares[at]:.3f}" for at in (0, 2, 1, 3)) + " |", flush=True)


def report(name: str, texts: Sequence[str]) -> None:
    asks = [text for text in texts if is_question(normalise_query(text))]
    keys = [text for text in texts if STYLES["short names"].holds(text) or STYLES["medium names"].holds(text)]
    for kind, held, style in (("questions", asks, "question names"), ("key words", keys, "short names")):
        bad = [text for text in held if not reads_as_query(text, STYLES[style])]
        print(f"{name}: {len(bad)} of {len(held)} {kind}, such as {bad[:5]}")


if __name__ == "__main__":
    main()
