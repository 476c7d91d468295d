"""Cleaning of a query log: rows that are not a person's query are set aside.

Over-long texts, turned pages and robots' sessions are set aside, and placeholders replace personal data. Each
row that is set aside has a reason, and the rows are counted by reason.

Turned pages. Many query logs repeat a query for each page of its results. In a session, a query that
follows the same query within half an hour is a turned page and counts once. (Half an hour without a query is
the usual end of a session.) A row with a count above 1 is never a turned page.

Robots. A session that asks more than twenty queries within a minute, or more than two hundred different
queries on a day, is a robot's session, and all its rows are set aside. Turned pages are set aside first, so
that a person who turns pages fast is not taken for a robot. Where many people share one session id (a proxy,
a shop's own server), raise the limits for robots, or switch the rule off.

The rules for turned pages and for robots need a session and a time; rows without a session or a time are
kept. This module works on columns of the log, and cleans each distinct text once. Silverstein et al. (1999),
Analysis of a very large web search engine query log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.characters import normalise_query
from curation.core.errors import InputError
from curation.core.request import option
from curation.core.statistics.arrays import Ints, Mask
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.personal_data_rules import MAX_PLAIN_LENGTH

POLICIES = ("replace", "drop")
KEPT, EMPTY, LONG, BARE, DROPPED = range(5)
"""Verdicts on the text of a query: kept, or set aside for a reason."""

Codes = NDArray[np.int32]

UNKNOWN_TIME = int(np.iinfo(np.int64).min)
_MINUTE = 60_000_000
_DAY = 1440 * _MINUTE
_SLICE = 100_000  # number of texts that are cleaned together
_WORD = rf"[!-')-9;-?A-Z\\-~]{{1,{MAX_PLAIN_LENGTH}}}"  # visible ASCII characters except ( : @ and [
_PLAIN = f"^{_WORD}(?: {_WORD})*$"

MAX_PASTE_FACTOR = 16
"""Greatest length of a text that is searched for personal data, in multiples of the longest query."""


@dataclass(frozen=True)
class CleaningRules:
    """Rules for setting aside query-log rows that are not a person's query; 0 turns a rule off.

    Raises
    ------
    InputError: the policy for personal data is unknown.
    """

    words: int = option(
        32,
        "Longest query in words",
        "Leave out queries with more words than this. 0 keeps all.",
        flag="--max-words",
        minimum=0,
    )
    characters: int = option(
        256,
        "Longest query in characters",
        "Leave out queries with more characters than this. 0 keeps all.",
        flag="--max-characters",
        minimum=0,
    )
    repeat_minutes: int = option(
        30,
        "Minutes within which repeats count once",
        "Count repeats within this many minutes of a session once. 0 counts all repeats.",
        minimum=0,
    )
    queries_a_minute: int = option(
        20,
        "Queries per minute that mark a bot",
        "Leave out sessions with more queries per minute (bots). 0 keeps all.",
        flag="--bot-per-minute",
        minimum=0,
    )
    queries_a_day: int = option(
        200,
        "Queries per day that mark a bot",
        "Leave out sessions with more queries a day than this (bots). 0 keeps all.",
        flag="--bot-per-day",
        minimum=0,
    )
    personal_data: str = option(
        "replace",
        "Personal data",
        "How to treat personal data. replace puts placeholders such as [email]; drop leaves out the rows.",
        choices=POLICIES,
    )
    known_rows: bool = option(
        False,
        "Import rows that an earlier log has",
        "Also import rows that are already in an earlier log. By default these rows are left out.",
    )

    def __post_init__(self) -> None:
        if self.personal_data not in POLICIES:
            expected = " or ".join(POLICIES)
            raise InputError(f"--personal-data is {self.personal_data!r}; expected {expected}.")

    @property
    def reasons(self) -> dict[int, str]:
        """Return the reason for setting a text aside, for each verdict."""
        return {
            EMPTY: "empty query",
            LONG: f"query that is too long (more than {self.words} words or {self.characters} characters)",
            BARE: "only personal data",
            DROPPED: "personal data",
        }

    @property
    def repeat(self) -> str:
        return (
            f"repeated query within {self.repeat_minutes} minutes of its session (the next page of results)"
        )

    @property
    def of_sessions(self) -> tuple[str, str]:
        """Return the reasons for setting a row aside that depend on the row's session."""
        return self.repeat, self.robot

    @property
    def robot(self) -> str:
        return (
            f"a bot's session (more than {self.queries_a_minute} queries in a minute "
            f"or {self.queries_a_day} different ones in a day)"
        )


class Texts(NamedTuple):
    """A query log's distinct texts after cleaning, indexed by text number.

    Attributes
    ----------
    texts, normalised: the texts and their normalized forms, without personal data; '' for a text that is set
    aside.
    queries: number of the text's normalized query, -1 for a text that is set aside, shape (T,).
    verdicts: KEPT, or the reason for setting the text aside, shape (T,).
    personal: for each kind of personal data, the numbers of the texts that contain such data.
    """

    texts: pa.StringArray
    normalised: pa.StringArray
    queries: Codes
    verdicts: NDArray[np.int8]
    personal: dict[str, list[int]]


def clean_texts(texts: pa.StringArray, rules: CleaningRules) -> Texts:
    """Redact and normalize each text, and decide whether the text is kept."""
    personal: dict[str, list[int]] = {}
    verdicts = np.zeros(len(texts), np.int8)
    columns: tuple[list[pa.Array], list[pa.Array]] = ([], [])
    for start in range(0, len(texts), _SLICE):
        part = texts.slice(start, _SLICE)
        others = ~find_plain_texts(part, rules)
        texts_cleaned = [_clean_text(raw, rules) for raw in part.filter(pa.array(others)).to_pylist()]
        numbers = start + np.flatnonzero(others)
        verdicts[numbers] = [verdict for _, _, verdict, _ in texts_cleaned]
        for number, (*_, kinds) in zip(numbers.tolist(), texts_cleaned, strict=True):
            for kind in kinds:
                personal.setdefault(kind, []).append(number)
        changed = ([text for text, *_ in texts_cleaned], [text for _, text, *_ in texts_cleaned])
        for column, plain, other in zip(columns, (part, pc.ascii_lower(part)), changed, strict=True):
            column.append(pc.replace_with_mask(plain, pa.array(others), pa.array(other, pa.string())))
    shown, normalised = (pa.concat_arrays([pa.array([], pa.string()), *column]) for column in columns)
    queries = np.where(verdicts == KEPT, normalised.dictionary_encode().indices.to_numpy(), -1)
    return Texts(shown, normalised, queries.astype(np.int32), verdicts, personal)


def find_plain_texts(texts: pa.StringArray, rules: CleaningRules) -> Mask:
    """Find the texts that only need lower-casing, not cleaning, as booleans of shape (T,).

    Plain texts are ASCII texts with single spaces and no other white space, within the limits of length. The
    characters of a plain text show that no pattern of personal data can match. Texts that this function
    leaves out may still be clean.
    """
    words = pc.add(pc.count_substring(texts, " "), 1)
    bounds = (
        (pc.count_substring_regex(texts, "[-.0-9]"), 5),
        (pc.count_substring(texts, "-"), 4),
        (words, rules.words or None),
        (pc.binary_length(texts), rules.characters or None),
    )
    is_plain = pc.match_substring_regex(texts, _PLAIN)
    for counts, limit in bounds:
        is_plain = is_plain if limit is None else pc.and_(is_plain, pc.less_equal(counts, limit))
    return np.asarray(is_plain.to_numpy(zero_copy_only=False), bool)


def _clean_text(raw: str, rules: CleaningRules) -> tuple[str, str, int, Collection[str]]:
    """Return a text without personal data, its normalized form, its verdict, and the kinds found."""
    # A text that stays too long with any placeholders is not searched, so a paste of megabytes takes no time.
    if rules.characters and len(raw) > MAX_PASTE_FACTOR * rules.characters:
        return ("", "", LONG, ())
    redacted = redact(raw)
    normalised = normalise_query(redacted.text)
    verdict = _judge_length(normalised, rules)
    if redacted.kinds and verdict == KEPT:
        verdict = DROPPED if rules.personal_data == "drop" else BARE if redacted.is_empty else KEPT
    if verdict != KEPT:
        return ("", "", verdict, redacted.kinds)
    return (redacted.text, normalised, verdict, redacted.kinds)


def _judge_length(normalised: str, rules: CleaningRules) -> int:
    if not normalised:
        return EMPTY
    too_long = rules.characters and len(normalised) > rules.characters
    return LONG if too_long or (rules.words and normalised.count(" ") >= rules.words) else KEPT


def clean_rows(
    rows: Codes, sessions: Codes, times: Ints, counts: Ints, texts: Texts, rules: CleaningRules
) -> tuple[Mask, dict[str, int]]:
    """Return which rows of a log are kept, and the number of rows set aside for each reason.

    Rows are set aside first for their text, then as turned pages, then as parts of robots' sessions.

    Parameters
    ----------
    rows: number of each row's text. All arrays have shape (R,), and the session number -1 stands for an
    unknown session.
    """
    verdicts = texts.verdicts[rows]
    is_kept: Mask = verdicts == KEPT
    left_out = {why: int((verdicts == verdict).sum()) for verdict, why in rules.reasons.items()}
    rows_with_session = np.flatnonzero(is_kept & (sessions >= 0) & (times != UNKNOWN_TIME))
    order = rows_with_session[np.lexsort((times[rows_with_session], sessions[rows_with_session]))]
    del rows_with_session
    queries = texts.queries[rows[order]]
    verdicts = judge_sessions(sessions[order], times[order], queries, counts[order] == 1, rules)
    is_kept[order[verdicts > 0]] = False
    left_out |= {why: int((verdicts == verdict).sum()) for verdict, why in enumerate(rules.of_sessions, 1)}
    return is_kept, {why: count for why, count in left_out.items() if count}


def judge_sessions(
    sessions: Codes, times: Ints, queries: Codes, single: Mask, rules: CleaningRules
) -> NDArray[np.int8]:
    """Return 0 for each kept row, otherwise the position (from 1) of its reason in
    `CleaningRules.of_sessions`.

    The rows are sorted by session and time; all arrays have shape (A,). `queries` are numbers of normalized
    queries, and `single` says whether a row counts one query.
    """
    is_repeat = find_repeats(sessions, times, queries, single, rules)
    verdicts = is_repeat.astype(np.int8)
    remaining = np.flatnonzero(~is_repeat)
    verdicts[remaining[find_robots(sessions[remaining], times[remaining], queries[remaining], rules)]] = 2
    return verdicts


def count_personal_data(columns: Iterable[tuple[Codes, Mapping[str, Sequence[int]]]]) -> dict[str, int]:
    """Return how many rows have each kind of personal data in any of several columns.

    Parameters
    ----------
    columns: for each column, the number of each row's text, or -1, and for each kind of personal data the
    numbers of the texts that contain such data.
    """
    rows_with: dict[str, Mask] = {}
    for codes, kinds in columns:
        for kind, numbers in kinds.items():
            has_kind = np.isin(codes, np.array(numbers, codes.dtype))
            rows_with[kind] = rows_with[kind] | has_kind if kind in rows_with else has_kind
    return {kind: int(has_kind.sum()) for kind, has_kind in sorted(rows_with.items())}


def find_repeats(sessions: Codes, times: Ints, queries: Codes, single: Mask, rules: CleaningRules) -> Mask:
    """Return the rows that repeat the previous query of their session within the number of minutes that the
    rule sets."""
    is_repeat = np.zeros(len(times), bool)
    if rules.repeat_minutes and len(is_repeat):
        is_repeat[1:] = (sessions[1:] == sessions[:-1]) & (queries[1:] == queries[:-1])
        is_repeat[1:] &= single[1:] & single[:-1]
        is_repeat[1:] &= times[1:] - times[:-1] <= rules.repeat_minutes * _MINUTE
    return is_repeat


def find_robots(sessions: Codes, times: Ints, queries: Codes, rules: CleaningRules) -> Mask:
    """Return the rows of sessions that have more queries in a minute or a day than the rules allow."""
    suspects: list[Codes] = []
    limit = rules.queries_a_minute
    if limit and len(times) > limit:
        is_fast = (times[limit:] - times[:-limit] < _MINUTE) & (sessions[limit:] == sessions[:-limit])
        suspects.append(sessions[limit:][is_fast])
    if rules.queries_a_day and len(times) > rules.queries_a_day:
        suspects.append(_find_busy_sessions(sessions, times // _DAY, queries, rules.queries_a_day))
    robot_sessions = np.unique(np.concatenate(suspects)) if suspects else np.empty(0, np.int32)
    return np.isin(sessions, robot_sessions)


def _find_busy_sessions(sessions: Codes, days: Ints, queries: Codes, limit: int) -> Codes:
    """Return the sessions with more than `limit` different queries in a day; rows are sorted by session and
    day."""
    starts = np.flatnonzero(np.r_[True, (np.diff(sessions) != 0) | (np.diff(days) != 0)])
    lengths = np.diff(np.r_[starts, len(sessions)])
    busy_sessions = [
        sessions[start]
        for start, length in zip(starts[lengths > limit], lengths[lengths > limit], strict=True)
        if len(np.unique(queries[start : start + length])) > limit
    ]
    return np.array(busy_sessions, np.int32)
