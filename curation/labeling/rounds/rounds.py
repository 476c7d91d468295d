"""Rounds: campaigns of labeling, opened over the candidates, and found again by name.

The members of a round: those it opened with and who joined, less those whose work was reassigned.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from curation.errors import NotFoundError, refuse_problems
from curation.labeling.rounds.assignment import CandidateRow, Chosen, choose_candidates, read_candidates
from curation.labeling.rounds.layout import ASK_FROM, RoundLayout
from curation.labeling.rounds.opening import NO_CANDIDATES, RoundOpened, open_over
from curation.labeling.rounds.upcoming import ASKED_FROM
from curation.people.annotators import able_to_judge
from curation.store import COMMAND_LINE, Cursor, Round, Store, fetch
from curation.text import amount, seeded

PILOT_QUERIES = 10


def open_round(
    store: Store,
    name: str,
    annotators: Sequence[str],
    *,
    overlap: int = 2,
    duplicates: float = 0.08,
    seed: int = 0,
    again: bool = False,
    kind: str = "labeling",
    control_items: float = 0.0,
    per_day: int | None = None,
    queries: int = PILOT_QUERIES,
    ask_from: int = ASK_FROM,
    author: str = COMMAND_LINE,
) -> RoundOpened:
    """Open a round over the candidates of the queries in play that no round has shown yet.

    A pilot shows the same few queries to everyone, without blind duplicates or control items. It does not
    count: its candidates can be judged in a labeling round afterwards.

    Parameters
    ----------
    overlap: how many annotators judge each candidate.
    duplicates: blind duplicates as a share of each annotator's first showings, 0 to 0.5.
    again: include the candidates that a round has shown or that are judged.
    kind: 'labeling' or 'pilot'; a pilot's overlap is everyone.
    control_items: share of control items planted blind among each annotator's first showings, 0 to 0.5.
    per_day: answers expected of an annotator in a day; blind duplicates then come at least so many
        presentations later, where the order is long enough.
    queries: how many queries a pilot has.
    ask_from: annotators say whether the corpus answers a query of which they have so many items or more, a
        repeat counted like any other; 0 never asks.
    author: who opens it, for the audit trail: a lead or the command line.

    Raises
    ------
    InputError: the numbers do not fit together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """
    if kind == "pilot":
        layout = _pilot_layout(name, annotators, seed, queries, ask_from)
    else:
        share = (overlap, duplicates, seed, control_items, per_day, ask_from)
        layout = RoundLayout(name, kind, annotators, *share).checked()

    def read(cursor: Cursor) -> tuple[list[CandidateRow], set[str]]:
        return read_candidates(cursor, pilots=kind == "pilot")

    def choose(found: tuple[list[CandidateRow], set[str]]) -> Chosen:
        chosen = choose_candidates(*found, again)
        return _some_queries(chosen, queries, seed) if kind == "pilot" else chosen

    return open_over(store, layout, read, choose, author)


def why_no_round(cursor: Cursor) -> str | None:
    """Why no round can be opened over a pool, whatever is asked; None where one may be."""
    if not cursor.execute("SELECT 1 FROM candidates LIMIT 1").fetchall():
        return NO_CANDIDATES
    return None if able_to_judge(cursor) else "Nobody can judge yet. Add people under People."


def list_rounds(cursor: Cursor) -> list[Round]:
    """All rounds, oldest first."""
    return fetch(cursor, Round, f"{_ROUNDS} ORDER BY sequence")


def find_round(cursor: Cursor, name: str) -> Round:
    """The round of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    found = fetch(cursor, Round, f"{_ROUNDS} WHERE name = ?", [name])
    if found:
        return found[0]
    names = ", ".join(item.name for item in list_rounds(cursor)) or "none yet"
    raise NotFoundError(f"There is no round {name!r}. Rounds of this project: {names}.")


def round_parameters(cursor: Cursor, round_id: str) -> dict[str, Any]:
    """The parameters with which a round was opened."""
    stored = cursor.execute("SELECT parameters FROM rounds WHERE round_id = ?", [round_id]).fetchall()[0][0]
    return dict(json.loads(stored))


def asked_from(cursor: Cursor, name: str) -> int:
    """From how many items of a query on a round asks whether the corpus answers it; 0 for never.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    sql = f"SELECT {ASKED_FROM} FROM rounds WHERE round_id = ?"  # noqa: S608  a constant
    return int(cursor.execute(sql, [find_round(cursor, name).round_id]).fetchall()[0][0])


def _pilot_layout(
    name: str, annotators: Sequence[str], seed: int, queries: int, ask_from: int
) -> RoundLayout:
    everyone = len(set(annotators))
    layout = RoundLayout(name, "pilot", annotators, everyone, 0.0, seed, ask_from=ask_from).checked()
    problems = []
    if everyone < 2:
        problems.append("a pilot compares annotators: name at least two")
    if queries < 1:
        problems.append(
            f"{amount(queries, 'query', 'queries')}: a pilot has at least 1, usually {PILOT_QUERIES}"
        )
    refuse_problems(problems)
    return layout


def _some_queries(chosen: Chosen, count: int, seed: int) -> Chosen:
    """The candidates of `count` of the queries, by a seeded order."""
    queries = set(seeded({candidate.query_id for candidate in chosen.candidates}, seed, str)[:count])
    kept = [candidate for candidate in chosen.candidates if candidate.query_id in queries]
    left_out = dict(chosen.left_out)
    if len(kept) < len(chosen.candidates):
        left_out["the query is not among the pilot's"] = len(chosen.candidates) - len(kept)
    return Chosen(kept, {**chosen.parameters, "queries": count}, left_out)


_ROUNDS = "SELECT round_id, name, kind, guide_hash, parameters, opened_at FROM rounds"


def members(cursor: Cursor, round_id: str) -> list[str]:
    """The names of a round's members, in the order in which they joined."""
    names = dict.fromkeys(round_parameters(cursor, round_id).get("annotators", []))
    for kind, text in cursor.execute(_EVENTS, [round_id]).fetchall():
        detail = json.loads(text)
        if kind == "reassign":
            names.pop(detail["from"], None)
            names.update(dict.fromkeys(detail["to"]))
        else:
            names.update(dict.fromkeys(detail.get("annotators", [])))
    return list(names)


_EVENTS = """
SELECT kind, detail FROM round_events
WHERE round_id = ? AND kind IN ('reassign', 'extend') ORDER BY revision
"""
