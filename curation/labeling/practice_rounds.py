"""Opening practice rounds, and the lead's word on who may practise again or go on.

The known pairs are those that the reviewer decided, or a file's. All of them are kept with the round, so
that practising again draws other queries of the same stock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError
from curation.labeling.annotators import require_annotators, require_author
from curation.labeling.guides import Guide, current_guide
from curation.labeling.judgments import LONGEST_NOTE
from curation.labeling.known import MOST_PER_QUERY, KnownPair, Pool, read_pool, write_known
from curation.labeling.layouts import presentations_of
from curation.labeling.lifecycle import append_round_event, round_state
from curation.labeling.orders import Candidate, order
from curation.labeling.practice import PASS_MARK, Standing, standings
from curation.labeling.round_opening import TRIES, project_mark, refuse_taken, refuse_who_cannot_sign_in
from curation.sources.corpus import current_snapshot
from curation.sources.numbers import whole_number
from curation.sources.queries import KnownQueries
from curation.sources.records import Record, Records, text_of
from curation.store import Cursor, Store, append_rows, record_event, utc_now
from curation.store.rows import Presentation
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest

QUERIES = 10

FIELDS = {
    "--query-field": ("query", "query_id", "query-id"),
    "--document-field": ("document", "document_id", "doc_id", "corpus-id"),
    "--grade-field": ("grade", "relevance", "score", "label"),
    "--explanation-field": ("explanation", "reason", "why"),
}


@dataclass(frozen=True)
class PracticeOpened:
    """A new practice round.

    Attributes
    ----------
    known: known pairs that the round keeps in stock.
    queries, per_annotator: name → queries, and items, that each has before them.
    left_out: reason → number of pairs, or of queries that somebody is short of.
    """

    round: str
    round_id: str
    guide_hash: str
    pass_mark: float
    known: int
    queries: dict[str, int]
    per_annotator: dict[str, int]
    left_out: dict[str, int]


class _File(NamedTuple):
    """What a file's lines are compared with."""

    queries: KnownQueries
    documents: dict[str, str]
    guide: Guide


def open_practice(
    store: Store,
    name: str,
    annotators: Sequence[str],
    *,
    queries: int = QUERIES,
    pass_mark: float = PASS_MARK,
    within: int = 0,
    seed: int = 0,
    path: Path | None = None,
    fields: Mapping[str, str | None] | None = None,
    author: str = COMMAND_LINE,
) -> PracticeOpened:
    """Give annotators known queries to practise on before everything else.

    Parameters
    ----------
    queries: whole queries for each, with at most 5 of their documents.
    pass_mark: share of right answers needed, above 0 up to 1.
    within: an answer so many steps beside the expected grade is right, too.
    path: a file of known pairs with their explanations; None takes what the reviewer decided, with the
        reasons. Nobody gets a pair that they have judged.
    fields: option (`--query-field`, …) → name of the file's column, where it is not a usual one.

    Raises
    ------
    InputError: the numbers or the file's lines do not fit; all problems together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in or knows every pair, or there are no known pairs.
    """
    names = list(dict.fromkeys(annotators))
    _check(name, names, queries, pass_mark, within)
    parameters: dict[str, Any] = {
        "annotators": names,
        "queries": queries,
        "pass_mark": pass_mark,
        "within": within,
        "seed": seed,
        "source": path.name if path else "adjudications",
    }
    for _ in range(TRIES):
        with store.reading() as cursor:
            mark = project_mark(cursor)
            require_author(cursor, author, "lead")
            refuse_who_cannot_sign_in(require_annotators(cursor, names))
            refuse_taken(cursor, name)
            pool = read_pool(cursor) if path is None else None
            facts = _facts(cursor) if path is not None else None
            had = set(cursor.execute(_HAD, [names]).fetchall())
        if path is not None and facts is not None:
            pool = Pool(tuple(_read_file(path, facts, fields or {})), frozenset(), {})
        if pool is None or not pool.pairs:
            raise RefusedError(_nothing_known(pool))
        opened, rows = _plan(name, str(mark[0]), parameters, pool, had)
        with store.transaction() as cursor:
            refuse_taken(cursor, name)
            if project_mark(cursor) == mark:
                _write(cursor, opened, parameters, rows, pool.pairs, author)
                return opened
    raise RefusedError("Other commands kept changing the project while the round was worked out. Try again.")


def practise_again(store: Store, name: str, annotator: str, author: str = COMMAND_LINE) -> Standing:
    """Let somebody practise once more, on other known queries as far as there are any.

    Raises
    ------
    NotFoundError: the round or annotator is unknown.
    RefusedError: it is no practice round, closed, not theirs or passed, or they are in the middle of it.
    """
    with store.transaction() as cursor:
        before = _standing_to_change(cursor, name, annotator, author)
        if before.state.passed is None:
            raise RefusedError(
                f"{annotator} is in the middle of {name}: {before.state.answered} of {before.state.total} "
                "are answered. Once all are, `goldset practice again` gives another set."
            )
        rows = _another_set(cursor, before, annotator)
        append_rows(cursor, "presentations", rows)
        detail = {"practice": "again", "annotator": annotator, "from": rows[0].position}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "practise again", {"name": name, **detail, "items": len(rows)}, author)
        return standings(cursor, annotator, before.round_id)[0]


def let_pass(store: Store, name: str, annotator: str, reason: str, author: str = COMMAND_LINE) -> Standing:
    """Let somebody go on to the real queue whatever their practice says.

    Raises
    ------
    InputError: there is no reason.
    NotFoundError, RefusedError: as for `practise_again`.
    """
    if not reason.strip():
        raise InputError("letting somebody pass needs a --reason")
    with store.transaction() as cursor:
        before = _standing_to_change(cursor, name, annotator, author)
        detail = {"practice": "pass", "annotator": annotator, "reason": reason.strip()}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "let pass practice", {"name": name, **detail}, author)
        return standings(cursor, annotator, before.round_id)[0]


def _check(name: str, names: Sequence[str], queries: int, pass_mark: float, within: int) -> None:
    problems = []
    if not name.strip():
        problems.append("the round needs a name")
    if not names:
        problems.append("name at least one annotator with --annotators")
    if queries < 1:
        problems.append(f"--queries {queries}: practice has at least 1 query, usually {QUERIES}")
    if not 0 < pass_mark <= 1:
        problems.append(f"--pass-mark {pass_mark} is not a share above 0 and up to 1, such as {PASS_MARK}")
    if within < 0:
        problems.append(
            f"--within {within}: expected 0 for the expected grade alone, or 1 for a step beside it"
        )
    if problems:
        raise InputError(problems)


def _plan(
    name: str,
    guide_hash: str,
    parameters: dict[str, Any],
    pool: Pool,
    had: Collection[tuple[str, str, str]],
) -> tuple[PracticeOpened, list[Presentation]]:
    round_id = digest("round", name, guide_hash, parameters)
    rows: list[Presentation] = []
    queries: dict[str, int] = {}
    short = 0
    for who in parameters["annotators"]:
        fresh = [known for known in pool.pairs if (who, *known.pair) not in had]
        work = _draw(fresh, parameters["queries"], f"{parameters['seed']}:0")
        if not work:
            raise RefusedError(
                f"{who} has judged every known pair already and can skip practice: leave them out, or give "
                "other pairs with --file."
            )
        short += parameters["queries"] - len(work)
        queries[who] = len(work)
        rows.extend(presentations_of(round_id, who, order(work, 0.0, f"{parameters['seed']}:{who}")))
    left_out = dict(pool.left_out)
    if short:
        left_out["practice queries: fewer are known than asked for"] = short
    counts = dict(Counter(row.annotator for row in rows))
    opened = PracticeOpened(
        name, round_id, guide_hash, parameters["pass_mark"], len(pool.pairs), queries, counts, left_out
    )
    return opened, rows


def _draw(
    known: Sequence[KnownPair], queries: int, salt: str, used: Collection[str] = ()
) -> dict[str, list[Candidate]]:
    """Whole queries by a seeded order: those not used before first, those with a single document last."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for item in known:
        groups[item.candidate.query_id].append(item.candidate)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query in used, len(groups[query]) == 1, digest(salt, "practice", query)

    return {
        query: sorted(groups[query], key=lambda c: digest(salt, "practice", *c[:2]))[:MOST_PER_QUERY]
        for query in sorted(groups, key=rank)[:queries]
    }


def _write(
    cursor: Cursor,
    opened: PracticeOpened,
    parameters: Mapping[str, Any],
    rows: Sequence[Presentation],
    known: Sequence[KnownPair],
    author: str,
) -> None:
    cursor.execute(
        "INSERT INTO rounds VALUES (?, ?, 'practice', ?, ?, ?)",
        [opened.round_id, opened.round, opened.guide_hash, canonical_json(parameters), utc_now()],
    )
    append_rows(cursor, "presentations", rows)
    write_known(cursor, opened.round_id, known)
    record_event(cursor, "open practice", {"name": opened.round, **parameters, "known": len(known)}, author)


def _standing_to_change(cursor: Cursor, name: str, annotator: str, author: str) -> Standing:
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    require_annotators(cursor, [annotator])
    if state.kind != "practice":
        raise RefusedError(f"{name} is a {state.kind} round, not a practice round.")
    if state.closed:
        raise RefusedError(f"{name} is closed: it stands in nobody's way.")
    found = standings(cursor, annotator, state.round_id)
    if not found:
        raise RefusedError(f"{annotator} has nothing to practise in {name}.")
    if found[0].state.passed:
        raise RefusedError(f"{annotator} has passed {name} already.")
    return found[0]


def _another_set(cursor: Cursor, before: Standing, annotator: str) -> list[Presentation]:
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [before.round_id]).fetchall()[
        0
    ][0]
    parameters = json.loads(stored)
    shown = cursor.execute(_SHOWN, [before.round_id, annotator]).fetchall()
    start = 1 + max(row[1] for row in shown)
    stock = cursor.execute(_STOCK, [current_snapshot(cursor), before.round_id, annotator]).fetchall()
    known = [KnownPair(Candidate(query, document, content), 0, None) for query, document, content in stock]
    salt = f"{parameters['seed']}:{start}"
    work = _draw(known, parameters["queries"], salt, {row[0] for row in shown})
    if not work:
        raise RefusedError(
            f"No document of {before.round}'s known pairs is in the corpus any more: open another "
            "practice round."
        )
    return presentations_of(before.round_id, annotator, order(work, 0.0, f"{salt}:{annotator}"), start)


def _facts(cursor: Cursor) -> _File:
    documents = cursor.execute(
        "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ?",
        [current_snapshot(cursor)],
    ).fetchall()
    return _File(KnownQueries(cursor), dict(documents), current_guide(cursor))


def _read_file(path: Path, facts: _File, fields: Mapping[str, str | None]) -> list[KnownPair]:
    records = Records(path)
    columns = {
        option: records.need(option, fields.get(option), usual, f"the {option[2:].removesuffix('-field')}")
        for option, usual in FIELDS.items()
    }
    found: dict[tuple[str, str], tuple[KnownPair, int]] = {}
    for record in records:
        known = _read_pair(records, record, columns, facts)
        if known is None:
            continue
        before, line = found.setdefault(known.pair, (known, record.line))
        if before.grade != known.grade:
            records.problems.add(
                record.line,
                f"the pair ({known.pair[0]}, {known.pair[1]}) has the grade {known.grade} here and "
                f"{before.grade} on {records.unit} {line}: keep one of the two",
            )
    return [found[pair][0] for pair in sorted(found)]


def _read_pair(
    records: Records, record: Record, columns: Mapping[str, str | None], facts: _File
) -> KnownPair | None:
    """The pair on a line, or None with its problems noted."""
    query, document, grade, explanation = (
        text_of(record.fields.get(column or "")).strip() for column in columns.values()
    )
    problems = []
    query_id = None
    try:
        found = facts.queries.find(query)
        query_id = found and found.query_id
        if found is None:
            problems.append(f"the project has no query {query!r}")
    except InputError as error:
        problems.extend(error.problems)
    if document not in facts.documents:
        problems.append(f"the corpus has no document {document!r}")
    value = whole_number(grade)
    if value is None:
        problems.append(f"the grade {grade!r} is no whole number")
    elif facts.guide.outside(value):
        problems.append(facts.guide.outside(value))
    if not explanation:
        problems.append("a practice pair needs its explanation")
    elif len(explanation) > LONGEST_NOTE:
        problems.append(f"an explanation has at most {LONGEST_NOTE:,} characters, not {len(explanation):,}")
    for problem in problems:
        records.problems.add(record.line, problem)
    if problems or query_id is None or value is None:
        return None
    return KnownPair(Candidate(query_id, document, facts.documents[document]), value, explanation)


def _nothing_known(pool: Pool | None) -> str:
    why = "; ".join(f"{count:,} {reason}" for reason, count in (pool.left_out if pool else {}).items())
    return (
        f"There are no known pairs to practise on{f' ({why})' if why else ''}. Decide some with "
        "`goldset adjudicate`, or give a file of query, document, grade and explanation with --file."
    )


_HAD = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE annotator IN (SELECT unnest(?::TEXT[]))
"""

_SHOWN = "SELECT query_id, position FROM presentations WHERE round_id = ? AND annotator = ?"

_STOCK = """
SELECT k.query_id, k.document_id, s.content_hash
FROM known_answers k JOIN snapshot_documents s ON s.document_id = k.document_id AND s.snapshot_id = ?
WHERE k.round_id = ? AND NOT EXISTS (
    FROM live_presentations p
    WHERE p.annotator = ? AND p.round_id <> k.round_id
      AND p.query_id = k.query_id AND p.document_id = k.document_id)
ORDER BY k.query_id, k.document_id
"""
