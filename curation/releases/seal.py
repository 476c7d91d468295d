"""The seal of a release: which parts a freeze seals, how grades leave, and the log of sealed evaluations.

A gold set that systems are tuned on measures memory. So each release says which parts are sealed, and
whatever hands out the grades of a release (an export, a comparison, an evaluation) calls `open_sealed` first.
The entry is committed before anybody passes: who fails or is stopped afterwards is in the log as well. The
same grades in the project that goes on are behind `curation.people.seal_access`.

A sealed part that everybody evaluates on becomes a part that systems are chosen on. So a sealed evaluation is
logged, with who and why, before its figures are handed out, and every report says how many there were. A
refused request is logged and counted in the same way, because a refusal also reveals something.

Leads see all figures. Evaluators see one rounded figure of each system, a number of times a month for each
part (`MONTHLY`, or what a lead chose). A part is counted by its name in all releases: releases of one project
share grades.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.people.seal_access import TEST, Unsealing, sealed_parts, write_opening
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, record_event, utc_now
from curation.store.settings import get_setting, put_setting

MONTHLY = 10
"""Sealed evaluations of one evaluator on one part in a month (UTC), where no lead chose another number."""
_SETTING = "sealed evaluations a month"


def chosen_seals(parts: Collection[str], wanted: Collection[str] = ()) -> tuple[str, ...]:
    """The parts of a split that a freeze seals: the one named test, where there is one, and those wanted.

    Test cannot be left open by naming others: the same labels, frozen once more, would leave by no gate.

    Raises
    ------
    InputError: the split has no such part.
    """
    refuse_unknown_parts(parts, wanted)
    return tuple(sorted({*wanted, *(part for part in parts if part == TEST)}))


def refuse_unknown_parts(parts: Iterable[str], wanted: Iterable[str]) -> None:
    """Stop where something other than a part is asked for, naming all of it."""
    known = sorted(parts)
    problems = [
        f"The split has no part {name!r}; it has {', '.join(known)}."
        for name in sorted(set(wanted).difference(known))
    ]
    refuse_problems(problems)


def open_sealed(
    store: Store,
    name: str | FrozenRelease,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    parts: Collection[str] | None = None,
) -> Unsealing | None:
    """Let grades of a release out, and write down to whom, for what and why; None if none is sealed.

    Call it before the first of these grades is read for anybody. A file has no log: of one with sealed grades
    the reason is demanded, and written nowhere.

    Parameters
    ----------
    name: or the release as it was opened before.
    purpose: what is done with the grades, such as 'export as beir'.
    parts: the parts whose grades are wanted; by default all.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason, or by somebody who is no lead; the release is not
        as it was frozen, or a newer goldgrade froze it.
    """
    release = load_release(store, name)
    wanted = release.header["queries"] if parts is None else parts
    refuse_unknown_parts(release.header["queries"], wanted)
    sealed = sorted(set(sealed_parts(release.header)).intersection(wanted))
    if release.file is not None:
        refuse_not_in_file(release, wanted)
    if not sealed:
        return None
    name = release.row.name
    if reason is None or not reason.strip():
        raise _no_reason(release, sealed)
    if release.file is not None:
        return None
    opening = Unsealing(release.row.release_id, name, sealed, purpose, reason.strip(), actor, utc_now())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        write_opening(cursor, opening)
    return opening


def refuse_not_in_file(release: FrozenRelease, parts: Iterable[str]) -> None:
    """Stop where grades of parts are wanted that a packed release does not have."""
    missing = sorted(set(parts).difference(release.file.with_grades)) if release.file else []
    if missing and release.file:
        raise RefusedError(
            f"{release.file.path} has no grades of {', '.join(missing)}: sealed grades stay in the project, "
            "unless somebody packs them and says why. Leave the part out, or ask who leads the project.",
            command=f"{_flags('--without-grades', missing)} of an export leaves it out, and so does "
            f"{_flags('--part', release.file.with_grades)}. `goldgrade export NAME --out FILE "
            "--reason WHY` packs it.",
        )


def _no_reason(release: FrozenRelease, sealed: Collection[str]) -> RefusedError:
    name = release.row.name if release.file is None else release.file.path
    logged = "is logged with name and time" if release.file is None else "a packed release cannot log"
    return RefusedError(
        f"The grades of {', '.join(sealed)} in the release {release.row.name!r} are sealed. Who takes them "
        f"says why, which {logged}. Without them it can be given to anybody.",
        command='--reason "why" says it.'
        + ("" if release.file else f" `goldgrade releases {name}` shows the log.")
        + f" Without them: `goldgrade export {name} --format leaderboard --out DIR`, or any other format "
        "with "
        f"{_flags('--without-grades', sealed)}.",
    )


def _flags(flag: str, parts: Iterable[str]) -> str:
    return " ".join(f"{flag} {part}" for part in parts)


class SealedEvaluation(NamedTuple):
    """One system on sealed parts.

    Attributes
    ----------
    name: the release's, as it was asked for.
    parts: the sealed parts; `evaluated` are all parts that were evaluated together.
    system: the name of a run, or of a file of answers.
    rounded: nothing but one rounded figure was shown.
    figures: JSON, measure → value, low, high, n, judged; None if the request was refused.
    refused: the sentence of the refusal.
    """

    evaluation_id: str
    release_id: str
    name: str
    parts: list[str]
    evaluated: list[str]
    system: str
    of_answers: bool
    rounded: bool
    figures: str | None
    reason: str
    evaluated_by: str
    evaluated_at: datetime
    refused: str | None = None

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        """Measure → the figure that was shown; empty where the request was refused."""
        return {} if self.figures is None else dict(json.loads(self.figures))


class SealedCount(NamedTuple):
    """How often sealed parts were evaluated, for the report of one more evaluation.

    Attributes
    ----------
    evaluations, refused: of systems that were scored, and of systems whose request was refused.
    people: who asked. left: what an evaluator has left this month; None of leads.
    """

    parts: tuple[str, ...]
    evaluations: int
    refused: int
    people: int
    reason: str
    left: int | None = None

    @property
    def sentence(self) -> str:
        """The count for people."""
        parts = ", ".join(self.parts)
        sentence = (
            f"With this evaluation {parts} has {pluralize(self.evaluations, 'sealed evaluation')} and "
            f"{pluralize(self.refused, 'refused request')}, by "
            f"{pluralize(self.people, 'person', 'people')}. The "
            "best of many systems was partly lucky."
        )
        if self.left is not None:
            sentence += f" You have {pluralize(self.left, 'sealed evaluation')} of {parts} left this month."
        return sentence


def sealed_evaluations(cursor: Cursor, release_id: str) -> list[SealedEvaluation]:
    """All sealed evaluations of a release's content, under whatever name, in the order of writing."""
    sql = f"""
        SELECT {", ".join(SealedEvaluation._fields)} FROM sealed_evaluations
        WHERE release_id = ? ORDER BY rowid
    """  # noqa: S608
    return fetch(cursor, SealedEvaluation, sql, [release_id])


def query_values(cursor: Cursor, evaluation_ids: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Evaluation id → query id → its value by the first measure; None if it has no value."""
    sql = """
        SELECT evaluation_id, query_id, value FROM sealed_evaluation_values
        WHERE evaluation_id IN (SELECT unnest(?::TEXT[])) ORDER BY ALL
    """
    values: dict[str, dict[str, float | None]] = {}
    for evaluation_id, query_id, value in cursor.execute(sql, [list(evaluation_ids)]).fetchall():
        values.setdefault(evaluation_id, {})[query_id] = value
    return values


def log_sealed_evaluation(
    cursor: Cursor, rows: Sequence[SealedEvaluation], values: Sequence[Mapping[str, float | None]] = ()
) -> SealedCount:
    """Log systems of one request, within the transaction before their figures are handed out.

    Parameters
    ----------
    rows: without an id, which they get here.
    values: for each row the values of its queries by the first measure.
    """
    first = rows[0]
    (number,) = cursor.execute("SELECT count(*) FROM sealed_evaluations").fetchall()[0]
    ids = [
        digest("sealed evaluation", number + offset, row.release_id, row.system, str(row.evaluated_at))
        for offset, row in enumerate(rows)
    ]
    append_rows(
        cursor,
        "sealed_evaluations",
        [row._replace(evaluation_id=name) for name, row in zip(ids, rows, strict=True)],
    )
    append_rows(
        cursor,
        "sealed_evaluation_values",
        [
            (name, *value)
            for name, values_of_row in zip(ids, values, strict=False)
            for value in values_of_row.items()
        ],
        ("evaluation_id", "query_id", "value"),
    )
    detail = {
        "release": first.release_id,
        "parts": first.parts,
        "systems": [row.system for row in rows],
        "reason": first.reason,
        "refused": first.refused is not None,
    }
    record_event(cursor, "sealed evaluation", detail, first.evaluated_by)
    return _count(cursor, first)


def _count(cursor: Cursor, row: SealedEvaluation) -> SealedCount:
    sql = """
        SELECT count(*) FILTER (refused IS NULL), count(*) FILTER (refused IS NOT NULL),
               count(DISTINCT evaluated_by)
        FROM sealed_evaluations WHERE release_id = ? AND list_has_any(parts, ?::TEXT[])
    """
    done, refused, people = cursor.execute(sql, [row.release_id, row.parts]).fetchall()[0]
    left = left_this_month(cursor, row.evaluated_by, row.parts, row.evaluated_at) if row.rounded else None
    return SealedCount(tuple(row.parts), done, refused, people, row.reason, left)


def left_this_month(cursor: Cursor, person: str, parts: Sequence[str], now: datetime) -> int:
    """How many sealed evaluations of these parts an evaluator has left in the month (UTC) of `now`.

    What somebody was refused under the name before the account was made does not count.
    """
    sql = """
        SELECT count(*) FROM sealed_evaluations JOIN annotators a ON a.name = evaluated_by
        WHERE evaluated_by = ? AND list_has_any(parts, ?::TEXT[]) AND evaluated_at >= a.added_at
          AND date_trunc('month', evaluated_at) = date_trunc('month', ?::TIMESTAMP)
    """
    (taken,) = cursor.execute(sql, [person, list(parts), now]).fetchall()[0]
    return max(0, monthly_limit(cursor) - int(taken))


def refuse_over_limit(cursor: Cursor, person: str, parts: Sequence[str], systems: int, now: datetime) -> None:
    """Stop where an evaluator has fewer sealed evaluations left this month than systems are asked for.

    Raises
    ------
    RefusedError: so it is.
    """
    left = left_this_month(cursor, person, parts, now)
    if left < systems:
        raise RefusedError(
            f"{person} has {pluralize(left, 'sealed evaluation')} of {', '.join(parts)} left this month, and "
            f"this request is for {pluralize(systems, 'system')}. Each evaluator has "
            f"{monthly_limit(cursor)} a "
            "month for each sealed part, refused requests included. A lead can choose another number.",
            command="`goldgrade releases --sealed-limit NUMBER` sets it.",
        )


def monthly_limit(cursor: Cursor) -> int:
    """How many sealed evaluations an evaluator has for each part in a month."""
    return int(get_setting(cursor, _SETTING) or MONTHLY)


def set_monthly_limit(store: Store, number: int, actor: str = COMMAND_LINE) -> None:
    """Choose how many sealed evaluations each evaluator has for each part in a month.

    Raises
    ------
    InputError: the number is below 0.
    NotFoundError, RefusedError: the project does not know the actor, or they are no lead.
    """
    if number < 0:
        raise InputError(f"{number} sealed evaluations a month: expected 0 or more.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        before = monthly_limit(cursor)
        if before != number:
            put_setting(cursor, _SETTING, str(number))
            detail = {"before": before, "now": number}
            record_event(cursor, "limit of sealed evaluations", detail, actor)
