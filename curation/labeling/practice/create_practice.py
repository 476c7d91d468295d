"""Creating practice rounds: who practises on which queries.

The pairs are those that the reviewer decided, or a file's. The round keeps all of them, so that another
attempt draws other queries of the same stock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.core.text import amount, digest
from curation.guides.guide import current_guide
from curation.ingest.importers.left.reading import bring_texts
from curation.labeling.practice.practice_file import PracticeFile
from curation.labeling.practice.status import PASS_MARK
from curation.labeling.rounds.assignment import order
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import (
    MOST_PER_QUERY,
    ControlItem,
    ControlItemPool,
    read_control_items,
    write_control_items,
)
from curation.labeling.rounds.create_round import BUSY, project_fingerprint, refuse_who_cannot_judge
from curation.labeling.rounds.layout import presentations_of
from curation.labeling.rounds.rounds import refuse_taken, write_round
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import LEAVES_OUT, SealAccess, unseal
from curation.store import Cursor, Store, append_rows, record_event
from curation.store.retry import write_if_unchanged
from curation.store.rows import Presentation
from curation.store.settings import COMMAND_LINE

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


_HAD = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE annotator IN (SELECT unnest(?::TEXT[]))
"""


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

    door = unseal(store, f"practise in {name}", reason, author)
    if door.reason is not None:
        parameters["sealed"] = door.reason

    def read(cursor: Cursor) -> tuple[str, ControlItemPool | PracticeFile, set[tuple[str, str, str]]]:
        require_author(cursor, author, "lead")
        refuse_who_cannot_judge(require_annotators(cursor, names))
        refuse_taken(cursor, name)
        stock = (
            PracticeFile(cursor, path, fields or {}, door)
            if path is not None
            else _shown_items(read_control_items(cursor), door)
        )
        return current_guide(cursor).guide_hash, stock, set(cursor.execute(_HAD, [names]).fetchall())

    def plan(
        inputs: tuple[str, ControlItemPool | PracticeFile, set[tuple[str, str, str]]],
    ) -> tuple[PracticeOpened, list[Presentation], Sequence[ControlItem]]:
        guide_hash, stock, had = inputs
        pool = stock.read() if isinstance(stock, PracticeFile) else stock
        opened, rows = _plan(name, parameters, guide_hash, pool, had)
        bring_texts(store, (row.document_id for row in rows))
        return opened, rows, pool.items

    def write(
        cursor: Cursor, planned: tuple[PracticeOpened, list[Presentation], Sequence[ControlItem]]
    ) -> None:
        opened, rows, items = planned
        write_round(cursor, opened.round_id, name, "practice", opened.guide_hash, parameters)
        append_rows(cursor, "presentations", rows)
        write_control_items(cursor, opened.round_id, items)
        record_event(cursor, "open practice", {"name": name, **parameters, "known": len(items)}, author)

    opened, *_ = write_if_unchanged(
        store,
        fingerprint=project_fingerprint,
        read=read,
        plan=plan,
        write=write,
        busy=BUSY,
    )
    return opened


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


def _plan(
    name: str,
    parameters: dict[str, Any],
    guide_hash: str,
    pool: ControlItemPool,
    had: set[tuple[str, str, str]],
) -> tuple[PracticeOpened, list[Presentation]]:
    if not pool.items:
        raise _nothing_known(pool)
    round_id = digest("round", name, guide_hash, parameters)
    rows: list[Presentation] = []
    queries: dict[str, int] = {}
    short = 0
    for who in parameters["annotators"]:
        fresh = [item for item in pool.items if (who, *item.pair) not in had]
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
        guide_hash=guide_hash,
        pass_mark=parameters["pass_mark"],
        known=len(pool.items),
        queries=queries,
        per_annotator=dict(Counter(row.annotator for row in rows)),
        left_out=left_out,
    )
    return opened, rows


def _shown_items(pool: ControlItemPool, door: SealAccess) -> ControlItemPool:
    """The pairs whose grade may be shown; the others are counted."""
    items = tuple(item for item in pool.items if door.shows(item.candidate.query_id))
    sealed = len(pool.items) - len(items)
    left_out = pool.left_out | ({LEAVES_OUT: sealed} if sealed else {})
    return pool._replace(items=items, left_out=left_out)


def _nothing_known(pool: ControlItemPool) -> RefusedError:
    why = "; ".join(f"{count:,} {reason}" for reason, count in pool.left_out.items())
    return RefusedError(
        f"There are no known pairs to practise on{f' ({why})' if why else ''}. Decide some, or give a file "
        "of query, document, grade and explanation.",
        command="`goldgrade adjudicate` decides pairs, and --file names such a file.",
    )
