"""Opening answer tasks: which queries, which documents with each, and who writes.

Each query goes to exactly `overlap` writers, as in rounds; all is fixed before anybody writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import amount, canonical_json, digest, seeded
from curation.ingest.importers.answers.reference_answers import reference_revision
from curation.ingest.importers.queries import KnownQueries
from curation.ingest.importers.query_tags import check_tags
from curation.ingest.importers.unknown_names import like_known
from curation.labeling.rounds.assignment import assign
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import refuse_who_cannot_judge
from curation.labeling.written_answers.rule import BOUND
from curation.labeling.written_answers.shown_documents import (
    DOCUMENTS,
    RELEVANT,
    SHOWS,
    EvidenceInputs,
    ShownDocuments,
    choose_evidence,
    read_evidence_inputs,
)
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import SealAccess, unseal
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    all_settings,
    append_rows,
    record_event,
    utc_now,
    write_if_unchanged,
)

BUSY = "Others kept changing the project while the answer task was planned. Try again."
KNOWN = "it has reference answers"
IN_TASK = "it is in another answer task"
OPEN_TASK = "it is in an answer task that is open"
IN_QUEUE = "somebody is still to judge documents of it, and would learn what others found relevant"
NO_DOCUMENT = "it has no document to show: build a pool"
NOT_IN_FORCE = "it is retired, or not in the current sample"
OTHERS = "it is not among those drawn"
UNTAGGED = "it does not have the tag"

_IN_TASKS = """
SELECT query_id, bool_and(closed) FROM answer_task_queries JOIN answer_task_states USING (task_id)
GROUP BY query_id
"""


class AnswerTaskPlan(NamedTuple):
    """What a task is to be.

    Attributes
    ----------
    overlap: how many writers answer each query, independently.
    queries: ids or texts; none is every query in force.
    tag: only queries that have it. most: a seeded draw of so many.
    show, documents: which documents, and how many at most (see `shown_documents`).
    bound: token F1 from which two answers agree.
    again: include queries that have reference answers or were in a task that is closed.
    """

    name: str
    writers: Sequence[str]
    overlap: int = 2
    queries: Sequence[str] = ()
    tag: str | None = None
    most: int | None = None
    show: str = RELEVANT
    documents: int = DOCUMENTS
    bound: float = BOUND
    again: bool = False
    seed: int = 0

    def checked(self) -> AnswerTaskPlan:
        """This plan with each writer and query once.

        Raises
        ------
        InputError: its parts do not fit together; all problems at once.
        """
        writers, people = list(dict.fromkeys(self.writers)), len(set(self.writers))
        problems = [] if self.name.strip() else ["the answer task needs a name"]
        if not 1 <= self.overlap <= people:
            problems.append(
                f"an overlap of {self.overlap} does not fit {amount(people, 'writer')}: it is how many "
                f"different people answer each query, between 1 and {max(1, people)}"
            )
        if not 0 < self.bound <= 1:
            problems.append(
                f"{self.bound} is no bound of token F1: expected above 0 and at most 1, such as 0.8"
            )
        if self.show not in SHOWS:
            problems.append(f"{self.show!r} are no documents to show: expected {' or '.join(SHOWS)}")
        if self.documents < 1:
            problems.append(f"{self.documents} documents: expected 1 or more")
        if self.most is not None and self.most < 1:
            problems.append(f"{self.most} queries: expected 1 or more")
        refuse_problems(problems)
        return self._replace(writers=writers, queries=list(dict.fromkeys(self.queries)))


@dataclass(frozen=True)
class AnswerTaskOpened:
    """What a new task holds.

    Attributes
    ----------
    per_writer: name → queries.
    judged: queries that are shown with documents that people judged relevant; the others have the pool's.
        `sealed` of them, because a release seals what is relevant to them.
    left_out: reason → number of queries.
    """

    task: str
    task_id: str
    queries: int
    assignments: int
    per_writer: dict[str, int]
    judged: int
    sealed: int
    left_out: dict[str, int]


def open_answer_task(
    store: Store, plan: AnswerTaskPlan, author: str = COMMAND_LINE, reason: str | None = None
) -> AnswerTaskOpened:
    """Ask people to write reference answers.

    Parameters
    ----------
    reason: why writers see which documents of sealed queries are relevant; without one they see the pool's.

    Raises
    ------
    InputError: the plan's parts do not fit together, or a text names several queries.
    NotFoundError: writers that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, nothing is left to write, the project kept
        changing, or the author is no lead.
    """
    plan = plan.checked()
    door = unseal(store, f"show writers of {plan.name} what is relevant", reason, author)

    def read(cursor: Cursor) -> _TaskInputs:
        require_author(cursor, author, "lead")
        check_tags(cursor, [] if plan.tag is None else [plan.tag])
        refuse_who_cannot_judge(require_annotators(cursor, plan.writers))
        if cursor.execute("SELECT 1 FROM answer_tasks WHERE name = ?", [plan.name]).fetchone():
            raise RefusedError(f"An answer task {plan.name!r} exists already. Choose another name.")
        return _read(cursor, plan, door)

    planned = write_if_unchanged(
        store,
        fingerprint=_fingerprint,
        read=read,
        plan=lambda found: _plan(plan, found),
        write=lambda cursor, laid: _write(cursor, laid, author),
        busy=BUSY,
    )
    return planned.opened


class _TaskInputs(NamedTuple):
    """What a task is planned from; `named` are the ids that were asked for, or None for all in force."""

    evidence: EvidenceInputs
    named: list[str] | None
    tagged: frozenset[str]
    referenced: frozenset[str]
    tasks: dict[str, bool]


class _LaidOutTask(NamedTuple):
    opened: AnswerTaskOpened
    parameters: dict[str, Any]
    evidence: ShownDocuments
    work: dict[str, list[str]]


def _read(cursor: Cursor, plan: AnswerTaskPlan, door: SealAccess) -> _TaskInputs:
    evidence = read_evidence_inputs(cursor, door)
    named = named_queries(KnownQueries.read(cursor), plan.queries) if plan.queries else None
    tagged = cursor.execute("SELECT query_id FROM current_query_tags WHERE tag = ?", [plan.tag]).fetchall()
    referenced = cursor.execute("SELECT query_id FROM current_reference_answers").fetchall()
    tasks = cursor.execute(_IN_TASKS).fetchall()
    return _TaskInputs(
        evidence,
        named,
        frozenset(row[0] for row in tagged),
        frozenset(row[0] for row in referenced),
        dict(tasks),
    )


def named_queries(known: KnownQueries, names: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    problems: list[str] = []
    for name in names:
        try:
            query = known.find(name)
        except InputError as error:
            problems += error.problems
            continue
        if query is None:
            problems.append(f"no query has the id or text {name!r}{like_known(name, known.alike)}")
        else:
            found[query.query_id] = None
    refuse_problems(problems)
    return list(found)


def _plan(plan: AnswerTaskPlan, inputs: _TaskInputs) -> _LaidOutTask:
    evidence = choose_evidence(inputs.evidence, plan.show, plan.documents)
    queries, left_out = _choose(plan, inputs, evidence)
    if not queries:
        why = "; ".join(f"{count:,}: {reason}" for reason, count in left_out.items()) or "there is none"
        raise RefusedError(f"No query is left to write answers to ({why}).")
    given = assign(
        [Candidate(query_id, "", "") for query_id in queries], plan.writers, plan.overlap, plan.seed
    )
    work = {who: seeded(mine, plan.seed, partial(_place, who)) for who, mine in given.items()}
    parameters = plan._asdict() | {"queries": sorted(plan.queries)}
    task_id = digest("answer task", parameters, queries)
    opened = AnswerTaskOpened(
        task=plan.name,
        task_id=task_id,
        queries=len(queries),
        assignments=sum(map(len, work.values())),
        per_writer={who: len(mine) for who, mine in work.items()},
        judged=len(evidence.judged & set(queries)),
        sealed=len(evidence.sealed & set(queries)),
        left_out=left_out,
    )
    return _LaidOutTask(opened, parameters, evidence, work)


def _place(who: str, query_id: str) -> tuple[str, str]:
    """What a writer's seeded order is by."""
    return who, query_id


def _choose(
    plan: AnswerTaskPlan, inputs: _TaskInputs, evidence: ShownDocuments
) -> tuple[list[str], dict[str, int]]:
    """The queries by id, and the others by reason."""
    left_out: Counter[str] = Counter()
    chosen = []
    for query_id in sorted(inputs.evidence.active if inputs.named is None else inputs.named):
        why = _why_not(query_id, plan, inputs, evidence)
        if why:
            left_out[why] += 1
        else:
            chosen.append(query_id)
    if plan.most is not None and plan.most < len(chosen):
        left_out[OTHERS] = len(chosen) - plan.most
        chosen = sorted(seeded(chosen, plan.seed, str)[: plan.most])
    return chosen, dict(left_out)


def _why_not(query_id: str, plan: AnswerTaskPlan, inputs: _TaskInputs, evidence: ShownDocuments) -> str:
    """Why a query is not in the task; '' where it is."""
    if query_id not in inputs.evidence.active:
        return NOT_IN_FORCE
    if plan.tag is not None and query_id not in inputs.tagged:
        return UNTAGGED
    if not inputs.tasks.get(query_id, True):
        return OPEN_TASK
    if query_id in inputs.referenced and not plan.again:
        return KNOWN
    if query_id in inputs.tasks and not plan.again:
        return IN_TASK
    if not evidence.documents.get(query_id):
        return NO_DOCUMENT
    return IN_QUEUE if plan.show == RELEVANT and query_id in inputs.evidence.in_queues else ""


def _write(cursor: Cursor, laid: _LaidOutTask, author: str) -> None:
    task_id, parameters = laid.opened.task_id, laid.parameters
    cursor.execute(
        "INSERT INTO answer_tasks SELECT ?, ?, ?, ?, coalesce(max(sequence), 0) + 1 FROM answer_tasks",
        [task_id, laid.opened.task, canonical_json(parameters), utc_now()],
    )
    queries = sorted({query_id for mine in laid.work.values() for query_id in mine})
    before = reference_revision(cursor, queries)
    cursor.execute(
        "INSERT INTO answer_task_queries SELECT ?, unnest(?::TEXT[]), unnest(?::INTEGER[])",
        [task_id, queries, [before.get(query_id) for query_id in queries]],
    )
    shown = [one for query_id in queries for one in laid.evidence.documents[query_id]]
    append_rows(cursor, "answer_evidence", shown, task_id=task_id)
    rows = [
        (digest("answer", task_id, who, query_id), query_id, who, place)
        for who, mine in laid.work.items()
        for place, query_id in enumerate(mine)
    ]
    names = ("assignment_id", "query_id", "writer", "position")
    append_rows(cursor, "answer_assignments", rows, names, task_id=task_id)
    detail = {**parameters, "task": laid.opened.task, "assignments": laid.opened.assignments}
    record_event(cursor, "open answer task", detail, author)


def _fingerprint(cursor: Cursor) -> object:
    """What a planned task rests on: counts of rows that are only appended, and the corpus in force."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM judgment_events),
               (SELECT count(*) FROM presentations), (SELECT count(*) FROM adjudications),
               (SELECT count(*) FROM query_tags), (SELECT count(*) FROM reference_answers),
               (SELECT count(*) FROM answer_tasks), (SELECT count(*) FROM answer_task_events)
        """
    ).fetchall()
    return counts, all_settings(cursor)
