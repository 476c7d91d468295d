"""A project of the size that one works with: many documents, people and showings, put in as rows."""

from __future__ import annotations

import random
from pathlib import Path

from app.signin.cookies import CookieCodec
from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.operations.project import init_project
from curation.people.sign_ins import UNKNOWN_CLIENT, open_sign_in
from curation.store import Store, append, get_setting, utc_now

WORDS_OF_A_DOCUMENT = 180
DOCUMENTS_OF_A_QUERY = 50


def build(path: Path, people: int, presentations: int, documents: int = 20_000) -> Store:
    """One round in which each of `people` has an equal part of the showings, 50 documents a query."""
    store = init_project(path)
    choose = random.Random(7)
    words = [
        f"{choose.choice('bcdfglmnprst')}{choose.choice('aeiou')}{digest(str(n))[:5]}" for n in range(6_000)
    ]
    bodies = [" ".join(choose.choices(words, k=WORDS_OF_A_DOCUMENT)) for _ in range(documents)]
    hashes = [digest("document", number) for number in range(documents)]
    ids = [f"d{number}" for number in range(documents)]
    each = presentations // people
    queries = max(1, documents // DOCUMENTS_OF_A_QUERY)
    texts = [f"{words[n]} {words[n + queries]}" for n in range(queries)]
    with store.transaction() as cursor:
        titles = [body[:60] for body in bodies]
        rows = {"content_hash": hashes, "document_id": ids, "title": titles, "body": bodies}
        append(cursor, "documents", {**rows, "metadata": ["{}"] * documents})
        append(
            cursor,
            "snapshot_documents",
            {"snapshot_id": ["s"] * documents, "document_id": ids, "content_hash": hashes},
        )
        append(
            cursor,
            "queries",
            {
                "query_id": [f"q{n}" for n in range(queries)],
                "text": texts,
                "normalised": [normalise_query(text) for text in texts],
                "source": ["written"] * queries,
                "metadata": ["{}"] * queries,
            },
        )
        guide = get_setting(cursor, "guide")
        append(
            cursor,
            "rounds",
            {
                "round_id": ["r"],
                "name": ["one"],
                "kind": ["labeling"],
                "guide_hash": [guide],
                "parameters": ["{}"],
                "opened_at": [utc_now()],
                "sequence": [0],
            },
        )
        names = [name_of(number) for number in range(people)]
        now = utc_now()
        append(
            cursor,
            "annotators",
            {
                "name": names,
                "role": ["annotator"] * people,
                "imported": [False] * people,
                "added_at": [now] * people,
            },
        )
        shown = [
            (person, place, (person * 37 + place) % documents)
            for person in range(people)
            for place in range(each)
        ]
        append(
            cursor,
            "presentations",
            {
                "presentation_id": [digest("showing", person, place) for person, place, _ in shown],
                "round_id": ["r"] * len(shown),
                "annotator": [names[person] for person, _, _ in shown],
                "query_id": [f"q{document // DOCUMENTS_OF_A_QUERY % queries}" for _, _, document in shown],
                "document_id": [ids[document] for _, _, document in shown],
                "content_hash": [hashes[document] for _, _, document in shown],
                "position": [place for _, place, _ in shown],
            },
        )
    return store


def name_of(number: int) -> str:
    """The name of an annotator."""
    return f"person{number:03}"


def cookie_of(store: Store, name: str) -> tuple[str, str]:
    """Name and value of the cookie by which an annotator without a password is signed in."""
    with store.transaction() as cursor:
        sessions = CookieCodec(bytes.fromhex(get_setting(cursor, "cookie_key") or ""))
        key = open_sign_in(cursor, name, UNKNOWN_CLIENT)
    return sessions.cookie, sessions.issue_session_cookie(key or "")
