"""Keys, times and embeddings: what ties queries besides their words and their labels.

Read or computed only as far as the rules ask for them. A query is found in the traffic by its normalised
text: other spellings that were sampled together with it bring neither their sessions nor their times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.splits.material import Material
from curation.splits.paraphrases import query_vectors
from curation.splits.rules import GROUP, SESSION, Rules
from curation.store import Cursor, Store

Keys = dict[str, set[tuple[str, str]]]


def with_keys(
    store: Store, material: Material, rules: Rules, progress: Progress = silent, dated: bool = False
) -> Material:
    """The material with the keys, times (also where `dated`) and embeddings that the rules ask for.

    Raises
    ------
    InputError: no query or relevant document has a key, or no query a time, that is asked for.
    RefusedError: embeddings are missing and the model is not here.
    """
    if rules.keys or rules.time_block is not None or dated:
        with store.reading() as cursor:
            keys = _keys(cursor, material, rules.keys)
            times = _times(cursor, material) if rules.time_block is not None or dated else {}
        if rules.time_block is not None and not times:
            raise InputError(
                "--time-block: the traffic has no time of any of these queries: `goldset import traffic "
                "--time-field`"
            )
        material = replace(
            material, keys={name: frozenset(found) for name, found in sorted(keys.items())}, times=times
        )
    if rules.paraphrase is None:
        return material
    vectors = query_vectors(store, material.queries, rules.model, progress, rules.numbers)
    return replace(material, vectors=vectors)


def _keys(cursor: Cursor, material: Material, kinds: Sequence[str]) -> Keys:
    keys: Keys = defaultdict(set)
    problems = []
    for kind in dict.fromkeys(kinds):
        if kind == SESSION:
            found = cursor.execute(_SESSIONS, {"queries": list(material.queries)}).fetchall()
            missing = "the traffic has no sessions of these queries: `goldset import traffic --session-field`"
        elif kind == GROUP:
            found = _groups(cursor, material)
            missing = "no relevant document has a group: `goldset import corpus --group-field`"
        else:
            pointer = "/" + kind.replace("~", "~0").replace("/", "~1")
            found = cursor.execute(_FIELD, {"queries": list(material.queries), "pointer": pointer}).fetchall()
            missing = f"no query has a field {kind!r}; expected session, group or one of {_fields(cursor)}"
        if not found:
            problems.append(f"--same {kind}: {missing}")
        for query_id, value in found:
            keys[query_id].add((kind, value))
    if problems:
        raise InputError(problems)
    return keys


def _groups(cursor: Cursor, material: Material) -> list[tuple[str, str]]:
    """Query id and group of each of its relevant documents that has one."""
    rows = cursor.execute(_GROUPS, {"documents": list(material.documents)}).fetchall()
    group_of = dict(rows)
    return [
        (query_id, group_of[document_id])
        for query_id, documents in material.relevant.items()
        for document_id in sorted(documents)
        if document_id in group_of
    ]


def _times(cursor: Cursor, material: Material) -> dict[str, datetime]:
    return dict(cursor.execute(_TIMES, {"queries": list(material.queries)}).fetchall())


def _fields(cursor: Cursor) -> str:
    rows = cursor.execute(
        "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM queries ORDER BY name"
    ).fetchall()
    return ", ".join(name for (name,) in rows) or "(none)"


_SESSIONS = """
    SELECT DISTINCT q.query_id, t.session
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.session IS NOT NULL
    ORDER BY ALL
"""
_TIMES = """
    SELECT q.query_id, min(t.time)
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.time IS NOT NULL
    GROUP BY q.query_id ORDER BY q.query_id
"""
_GROUPS = """
    SELECT s.document_id, d.group_key
    FROM snapshot_documents s JOIN documents d USING (content_hash)
    WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')
      AND list_contains($documents, s.document_id) AND nullif(d.group_key, '') IS NOT NULL
    ORDER BY s.document_id
"""
_FIELD = """
    SELECT query_id, metadata->>$pointer AS value FROM queries
    WHERE list_contains($queries, query_id) AND nullif(metadata->>$pointer, '') IS NOT NULL
    ORDER BY query_id
"""
