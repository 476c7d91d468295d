"""A lead's file of pairs to practise on: query, document, expected grade and its explanation.

Opening practice rounds: who practises on which queries.

The pairs are those that the reviewer decided, or a file's. The round keeps all of them, so that another
attempt draws other queries of the same stock.

A lead's decisions about one annotator's practice: another attempt, or letting them pass.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from curation.door import LEAVES_OUT, Door, open_door, shut_door
from curation.errors import InputError, RefusedError
from curation.files.records import Records
from curation.files.values import text_of, whole_number
from curation.guides.guide import current_guide
from curation.labeling.practice.status import PASS_MARK, PracticeStatus, practice_statuses, shows_sealed
from curation.labeling.rounds.assignment import Candidate, order
from curation.labeling.rounds.layout import (
    MOST_PER_QUERY,
    ControlItem,
    ControlItemPool,
    presentations_of,
    read_control_items,
    write_control_items,
)
from curation.labeling.rounds.lifecycle import append_round_event, round_state
from curation.labeling.rounds.rounds import (
    BUSY,
    project_fingerprint,
    refuse_taken,
    refuse_who_cannot_judge,
    round_parameters,
    write_round,
)
from curation.people.annotators import require_annotators, require_author
from curation.sources.left.reading import bring_texts
from curation.sources.queries import KnownQueries, NamedBy, named_by
from curation.sources.unknown_names import like_known
from curation.store import Cursor, Store, append_rows, record_event
from curation.store.documents import current_snapshot, snapshot_versions
from curation.store.retry import write_if_unchanged
from curation.store.rows import Presentation
from curation.store.settings import COMMAND_LINE
from curation.text import LONGEST_NOTE, alike, amount, digest

FIELDS = {
    "--query-field": ("query", "query_id", "query-id"),
    "--document-field": ("document", "document_id", "doc_id", "corpus-id"),
    "--grade-field": ("grade", "relevance", "score", "label"),
    "--explanation-field": ("explanation", "reason", "why"),
}


class PracticeFile:
    """A file of pairs, and what its lines are compared with: the project's queries, documents and guide."""

    def __init__(self, cursor: Cursor, path: Path, columns: Mapping[str, str | None], door: Door) -> None:
        self._path = path
        self._columns = columns
        self._door = door
        self._queries = KnownQueries.read(cursor)
        self._guide = current_guide(cursor)
        self._hashes = snapshot_versions(cursor, current_snapshot(cursor))

    def read(self) -> ControlItemPool:
        """The pairs of the file, by query and document id.

        Raises
        ------
        InputError: the file cannot be read, or lines do not fit; all problems together.
        """
        records = Records(self._path)
        columns = [
            records.need(
                option,
                self._columns.get(option),
                usual,
                f"the {option[2:].removesuffix('-field')}",
                ids=option != "--grade-field",
            )
            for option, usual in FIELDS.items()
        ]
        found: dict[tuple[str, str], tuple[ControlItem, int]] = {}
        for record in records:
            texts = [text_of(record.fields.get(column or "")).strip() for column in columns]
            item, problems = self._item(named_by(columns[0] or ""), *texts)
            for problem in problems:
                records.problems.add(record.line, problem)
            if item is None:
                continue
            before, line = found.setdefault(item.pair, (item, record.line))
            if before.grade != item.grade:
                records.problems.add(
                    record.line,
                    f"the pair ({item.pair[0]}, {item.pair[1]}) has the grade {item.grade} here and "
                    f"{before.grade} on {records.unit} {line}: keep one of the two",
                )
        return ControlItemPool(tuple(found[pair][0] for pair in sorted(found)), frozenset(), {})

    def _item(
        self, named: NamedBy | None, query: str, document: str, grade: str, explanation: str
    ) -> tuple[ControlItem | None, list[str]]:
        """The pair of a line, or None and what is wrong with it."""
        problems = []
        known = None
        try:
            known = self._queries.find(query, named)
            if known is None:
                like = like_known(query, self._queries.alike)
                problems.append(f"the project has no query {query!r}{like}")
            elif not self._door.shows(known.query_id):
                problems.append(
                    f"a release seals the grades of the query {query!r}, and practice shows them; leave the "
                    'line out, or say why with --reason "why", which is logged'
                )
        except InputError as error:
            problems.extend(error.problems)
        if document not in self._hashes:
            like = like_known(document, partial(alike, known=self._hashes))
            problems.append(f"the corpus has no document {document!r}{like}")
        value = whole_number(grade)
        if value is None:
            problems.append(f"the grade {grade!r} is no whole number")
        elif self._guide.outside(value):
            problems.append(self._guide.outside(value))
        if not explanation:
            problems.append("a practice pair needs its explanation")
        elif len(explanation) > LONGEST_NOTE:
            problems.append(
                f"an explanation has at most {LONGEST_NOTE:,} characters, not {len(explanation):,}"
            )
        if problems or known is None or value is None:
            return None, problems
        return ControlItem(
            Candidate(known.query_id, document, self._hashes[document]), value, explanation
        ), []


QUERIES = 10


@dataclass(frozen=True)
class PracticeOpened:
    """A new practice round.

    Attributes
    ----------
    known: pairs that the round keeps in stock.
    queries, per_annotator: name → number of queries, and of items, to practise on.
    left_out: reason → number of pairs, or of queries that an annotator is short of.
    """

    round: str
    round_id: str
    guide_hash: str
    pass_mark: float
    known: int
    queries: dict[str, int]
    per_annotator: dict[str, int]
    left_out: dict[str, int]


class _PracticeInputs(NamedTuple):
    """What a practice round is planned from; `had` holds (annotator, query id, document id)."""

    guide_hash: str
    stock: ControlItemPool | PracticeFile
    had: set[tuple[str, str, str]]


class _PracticePlan(NamedTuple):
    opened: PracticeOpened
    rows: list[Presentation]
    items: Sequence[ControlItem]


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
    reason: str | None = None,
    author: str = COMMAND_LINE,
) -> PracticeOpened:
    """Give annotators queries with known grades to practise on before everything else.

    Parameters
    ----------
    queries: whole queries for each, with at most 5 of their documents.
    pass_mark: share of right answers needed, above 0 up to 1.
    within: an answer so many steps away from the expected grade is right, too.
    path: a file of pairs with their grades and explanations; None takes what the reviewer decided, with the
        reasons. Nobody gets a pair that they have judged.
    fields: option (`--query-field`, …) → name of the file's column, where it is not a usual one.
    reason: why pairs that a release seals are among them; without one they are left out, as annotators see
        the expected grade and its explanation.

    Raises
    ------
    InputError: the numbers or the file's lines do not fit, or pairs of the file are sealed; all problems
        together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in or has had every pair, or there are no pairs.
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

    door = open_door(store, f"practise in {name}", reason, author)
    if door.reason is not None:
        parameters["sealed"] = door.reason

    def read(cursor: Cursor) -> _PracticeInputs:
        require_author(cursor, author, "lead")
        refuse_who_cannot_judge(require_annotators(cursor, names))
        refuse_taken(cursor, name)
        return _PracticeInputs(
            current_guide(cursor).guide_hash,
            _shown_items(read_control_items(cursor), door)
            if path is None
            else PracticeFile(cursor, path, fields or {}, door),
            set(cursor.execute(_HAD, [names]).fetchall()),
        )

    def plan(inputs: _PracticeInputs) -> _PracticePlan:
        planned = _plan(name, parameters, inputs)
        bring_texts(store, (row.document_id for row in planned.rows))
        return planned

    planned = write_if_unchanged(
        store,
        fingerprint=project_fingerprint,
        read=read,
        plan=plan,
        write=lambda cursor, planned: _write(cursor, planned, parameters, author),
        busy=BUSY,
    )
    return planned.opened


def draw(
    items: Sequence[ControlItem], queries: int, salt: str, used: Collection[str] = ()
) -> dict[str, list[Candidate]]:
    """Whole queries in a seeded order: those not used before first, those with a single document last."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for item in items:
        groups[item.candidate.query_id].append(item.candidate)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query in used, len(groups[query]) == 1, digest(salt, "practice", query)

    return {
        query: sorted(groups[query], key=lambda c: digest(salt, "practice", *c[:2]))[:MOST_PER_QUERY]
        for query in sorted(groups, key=rank)[:queries]
    }


def _check(name: str, names: Sequence[str], queries: int, pass_mark: float, within: int) -> None:
    problems = []
    if not name.strip():
        problems.append("the round needs a name")
    if not names:
        problems.append("name at least one annotator")
    if queries < 1:
        problems.append(
            f"{amount(queries, 'query', 'queries')}: practice has at least 1 query, usually {QUERIES}"
        )
    if not 0 < pass_mark <= 1:
        problems.append(f"A pass mark of {pass_mark} is not a share above 0 and up to 1, such as {PASS_MARK}")
    if within < 0:
        problems.append(
            f"Grades within {within} steps cannot count as right; expected 0 for the expected grade alone, "
            "or 1 for a step away from it"
        )
    if problems:
        raise InputError(problems)


def _plan(name: str, parameters: dict[str, Any], inputs: _PracticeInputs) -> _PracticePlan:
    pool = inputs.stock.read() if isinstance(inputs.stock, PracticeFile) else inputs.stock
    if not pool.items:
        raise _nothing_known(pool)
    round_id = digest("round", name, inputs.guide_hash, parameters)
    rows: list[Presentation] = []
    queries: dict[str, int] = {}
    short = 0
    for who in parameters["annotators"]:
        fresh = [item for item in pool.items if (who, *item.pair) not in inputs.had]
        work = draw(fresh, parameters["queries"], f"{parameters['seed']}:0")
        if not work:
            raise RefusedError(
                f"{who} has judged every known pair already and can skip practice: leave them out, or give "
                "other pairs.",
                command="--file names a file of pairs.",
            )
        short += parameters["queries"] - len(work)
        queries[who] = len(work)
        rows.extend(presentations_of(round_id, who, order(work, 0.0, f"{parameters['seed']}:{who}")))
    left_out = dict(pool.left_out)
    if short:
        left_out["practice queries: fewer are known than asked for"] = short
    opened = PracticeOpened(
        round=name,
        round_id=round_id,
        guide_hash=inputs.guide_hash,
        pass_mark=parameters["pass_mark"],
        known=len(pool.items),
        queries=queries,
        per_annotator=dict(Counter(row.annotator for row in rows)),
        left_out=left_out,
    )
    return _PracticePlan(opened, rows, pool.items)


def _shown_items(pool: ControlItemPool, door: Door) -> ControlItemPool:
    """The pairs whose grade may be shown; the others are counted."""
    items = tuple(item for item in pool.items if door.shows(item.candidate.query_id))
    sealed = len(pool.items) - len(items)
    left_out = pool.left_out | ({LEAVES_OUT: sealed} if sealed else {})
    return pool._replace(items=items, left_out=left_out)


def _write(cursor: Cursor, planned: _PracticePlan, parameters: Mapping[str, Any], author: str) -> None:
    opened, items = planned.opened, planned.items
    write_round(cursor, opened.round_id, opened.round, "practice", opened.guide_hash, parameters)
    append_rows(cursor, "presentations", planned.rows)
    write_control_items(cursor, opened.round_id, items)
    record_event(cursor, "open practice", {"name": opened.round, **parameters, "known": len(items)}, author)


def _nothing_known(pool: ControlItemPool) -> RefusedError:
    why = "; ".join(f"{count:,} {reason}" for reason, count in pool.left_out.items())
    return RefusedError(
        f"There are no known pairs to practise on{f' ({why})' if why else ''}. Decide some, or give a file "
        "of query, document, grade and explanation.",
        command="`goldset adjudicate` decides pairs, and --file names such a file.",
    )


_HAD = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE annotator IN (SELECT unnest(?::TEXT[]))
"""


def practise_again(store: Store, name: str, annotator: str, author: str = COMMAND_LINE) -> PracticeStatus:
    """Let somebody practise once more, on other queries as far as there are any.

    Raises
    ------
    NotFoundError: the round or annotator is unknown.
    RefusedError: it is no practice round, closed, not theirs or passed, or they are in the middle of it.
    """
    with store.transaction(appends=True) as cursor:
        before = _status_to_change(cursor, name, annotator, author)
        if before.state.passed is None:
            raise RefusedError(
                f"{annotator} is in the middle of {name}: {before.state.answered} of {before.state.total} "
                "are answered. Once all are, they can be given another set.",
                command="`goldset practice again` does.",
            )
        rows = _another_set(cursor, before, annotator)
        append_rows(cursor, "presentations", rows)
        detail = {"practice": "again", "annotator": annotator, "from": rows[0].position}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "practise again", {"name": name, **detail, "items": len(rows)}, author)
        return practice_statuses(cursor, annotator, before.round_id)[0]


def let_pass(
    store: Store, name: str, annotator: str, reason: str, author: str = COMMAND_LINE
) -> PracticeStatus:
    """Let somebody go on to the real queue whatever their practice says.

    Raises
    ------
    InputError: there is no reason.
    NotFoundError, RefusedError: as for `practise_again`.
    """
    if not reason.strip():
        raise InputError("Letting somebody pass needs a reason.", command="`--reason` gives it.")
    with store.transaction() as cursor:
        before = _status_to_change(cursor, name, annotator, author)
        detail = {"practice": "pass", "annotator": annotator, "reason": reason.strip()}
        append_round_event(cursor, before.round_id, "extend", detail, author)
        record_event(cursor, "let pass practice", {"name": name, **detail}, author)
        return practice_statuses(cursor, annotator, before.round_id)[0]


def _status_to_change(cursor: Cursor, name: str, annotator: str, author: str) -> PracticeStatus:
    require_author(cursor, author, "lead")
    state = round_state(cursor, name)
    require_annotators(cursor, [annotator])
    if state.kind != "practice":
        raise RefusedError(f"{name} is a {state.kind} round, not a practice round.")
    if state.closed:
        raise RefusedError(f"{name} is closed: nobody has to pass it any more.")
    found = practice_statuses(cursor, annotator, state.round_id)
    if not found:
        raise RefusedError(f"{annotator} has nothing to practise in {name}.")
    if found[0].state.passed:
        raise RefusedError(f"{annotator} has passed {name} already.")
    return found[0]


def _another_set(cursor: Cursor, before: PracticeStatus, annotator: str) -> list[Presentation]:
    parameters = round_parameters(cursor, before.round_id)
    shown = cursor.execute(_SHOWN, [before.round_id, annotator]).fetchall()
    start = 1 + max(row[1] for row in shown)
    stock = cursor.execute(_STOCK, [current_snapshot(cursor), before.round_id, annotator]).fetchall()
    door = None if shows_sealed(parameters) else shut_door(cursor)
    items = [ControlItem(Candidate(*row), 0, None) for row in stock if door is None or door.shows(row[0])]
    salt = f"{parameters['seed']}:{start}"
    work = draw(items, parameters["queries"], salt, {row[0] for row in shown})
    if not work:
        raise RefusedError(
            f"No known pair of {before.round} can be shown any more: its documents left the corpus, or a "
            "release seals its grades. Open another practice round."
        )
    return presentations_of(before.round_id, annotator, order(work, 0.0, f"{salt}:{annotator}"), start)


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
