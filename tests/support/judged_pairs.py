"""A project whose pairs have a true grade that a model can read off the document, for tests of judges."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from curation.core.digests import digest
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.store import Store
from tests.support.gold_project import add_pool
from tests.support.pool_project import put_texts
from tests.support.projects import add_names

QUERIES = [f"q{number:02}" for number in range(16)]
GRADED = QUERIES[:12]
"""The queries that people graded."""
PAIRS = [(query_id, f"{query_id}.{place}") for query_id in QUERIES for place in range(3)]
Character = Callable[[str, Any], str]
"""Prompt and material → the model's answer."""


def true_grade(document_id: str) -> int:
    return int(digest("grade", document_id), 16) % 4


def text_of(document_id: str) -> str:
    return f"document {document_id.replace('.', 'x')} of level {true_grade(document_id)} and more words"


def build_pairs(store: Store) -> Store:
    """16 queries with a pool of three documents each."""
    folder = store.path.parent
    texts = {document_id: text_of(document_id) for _, document_id in PAIRS}
    put_texts(store, folder, texts, {query_id: f"words {digest(query_id)[:9]}" for query_id in QUERIES})
    add_pool(store, {pair: rank % 3 + 1 for rank, pair in enumerate(PAIRS)})
    return store


def build_judged_pairs(store: Store) -> Store:
    """The same; two people graded 12 of the queries, ben with some errors."""
    add_names(build_pairs(store), "ada", "ben")
    for name in ("ada", "ben"):
        given = []
        for number, (query_id, document_id) in enumerate(PAIRS):
            grade = true_grade(document_id)
            if name == "ben" and number % 12 == 5:
                grade = max(0, grade - 1) or 1
            if query_id in GRADED:
                given.append(ImportedJudgment(query_id, document_id, name, grade))
        add_judgments(store, given, f"{name}.csv")
    return store


def level(material: Any) -> int:
    """The true grade of the document in the material of a call."""
    return int(material["document"]["text"].split("of level ")[1][0])


def says(grade: object, reason: str = "because", **more: Any) -> str:
    return json.dumps({"instructions": "", "reason": reason, "quotes": [], "grade": grade, **more})


def good(prompt: str, material: Any) -> str:
    return says(level(material))


def too_kind(prompt: str, material: Any) -> str:
    return says(min(3, level(material) + 1))


def at_random(prompt: str, material: Any) -> str:
    return says(int(digest("random", prompt, material), 16) % 4)


def first_in_prompt(prompt: str, material: Any) -> str:
    """It likes the grade that the prompt names first."""
    return says(json.loads(prompt.partition("The guide:")[2].strip())["scale"][0]["grade"])


CHARACTERS: dict[str, Character] = {
    "good": good,
    "too-kind": too_kind,
    "random": at_random,
    "first": first_in_prompt,
}
