"""What a log holds besides people's queries: over-long pastes, turned pages, robots. And personal data.

Nothing is thrown away in silence: each row that is set aside has a reason, and each reason its count.

Turned pages. Many logs repeat a query for each page of its results. In a session, a query that follows the
same query within half an hour is that query still; it counts once. (Half an hour without a query is the usual
end of a session.) A row that counts several queries (a count above 1) is never a repeat.

Robots. A session that asks more than twenty queries within a minute, or more than two hundred different ones
on a day, is not a person's; all of its rows are set aside. Pages are turned first, so that a person who turns
them fast is none. Where many people share one session id (a proxy, a shop's own server), raise the
bounds or switch the rule off.

Both need a session and a time; rows without them are taken as they are. Work is done by column, each distinct
text once. Silverstein et al. (1999), Analysis of a very large web search engine query log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.errors import refuse_problems
from curation.core.statistics.arrays import Ints, Mask
from curation.core.text import normalise_query
from curation.ingest.importers.redaction.personal_data import LONGEST_PLAIN, redact
from curation.ingest.readers.times import text_buffers

Codes = NDArray[np.int32]

UNKNOWN_TIME = int(np.iinfo(np.int64).min)
POLICIES = ("replace", "drop")
_MINUTE = 60_000_000
_DAY = 1440 * _MINUTE
_KEPT, _EMPTY, _LONG, _BARE, _DROPPED = range(5)
_SLICE = 100_000  # texts that are looked at together
_BYTES = bytes(range(256))
_IS_DIGIT = np.array([byte in b"0123456789-." for byte in _BYTES])
_IS_ODD = np.array([not 32 <= byte < 127 or byte in b":@([" for byte in _BYTES])

PASTE = 16
"""How many times the longest query a text may have that is searched for personal data."""


@dataclass(frozen=True)
class CleaningRules:
    """Bounds of what is taken for a person's query; 0 switches a rule off.

    Attributes
    ----------
    words, characters: of the longest query that is taken, after normalisation.
    repeat_minutes: within which the same query of a session counts once.
    queries_a_minute, queries_a_day: above which a session is a robot's; of a day, different ones.
    known_rows: take rows that another log of the project holds already, as well.
    personal_data: 'replace' puts a placeholder in its place, 'drop' sets the row aside.

    Raises
    ------
    InputError: a negative bound, or another policy.
    """

    words: int = 32
    characters: int = 256
    repeat_minutes: int = 30
    queries_a_minute: int = 20
    queries_a_day: int = 200
    personal_data: str = "replace"
    known_rows: bool = False

    def __post_init__(self) -> None:
        bounds = {name: value for name, value in vars(self).items() if type(value) is int}
        problems = [
            f"{name.replace('_', ' ')} is {value}; expected 0 (off) or more"
            for name, value in bounds.items()
            if value < 0
        ]
        if self.personal_data not in POLICIES:
            found, expected = repr(self.personal_data), " or ".join(POLICIES)
            problems.append(f"the policy for personal data is {found}; expected {expected}")
        refuse_problems(problems)

    @property
    def reasons(self) -> dict[int, str]:
        """Why a text is set aside, by its verdict."""
        return {
            _EMPTY: "empty query",
            _LONG: f"over-long query (more than {self.words} words or {self.characters} characters)",
            _BARE: "nothing but personal data",
            _DROPPED: "personal data",
        }

    @property
    def repeat(self) -> str:
        return f"the same query again within {self.repeat_minutes} minutes of its session (a turned page)"

    @property
    def without_sessions(self) -> CleaningRules:
        """The rules that look at one row alone."""
        return replace(self, repeat_minutes=0, queries_a_minute=0, queries_a_day=0)

    @property
    def of_sessions(self) -> tuple[str, str]:
        """Why a row is set aside for other rows of its session."""
        return self.repeat, self.robot

    @property
    def robot(self) -> str:
        return (
            f"a robot's session (more than {self.queries_a_minute} queries in a minute "
            f"or {self.queries_a_day} different ones in a day)"
        )


class Texts(NamedTuple):
    """Distinct texts, cleaned; all by their number.

    Attributes
    ----------
    texts, normalised: without personal data; '' where the verdict is not to keep it.
    queries: the number of its normalised query, -1 where it is not kept, shape (T,).
    verdicts: 0 to keep it, else why not, shape (T,).
    personal: kind → numbers of the texts in which it was found.
    """

    texts: pa.StringArray
    normalised: pa.StringArray
    queries: Codes
    verdicts: NDArray[np.int8]
    personal: dict[str, list[int]]


class LogRows(NamedTuple):
    """A log by column, in the order of its lines, all of shape (R,); a session of -1 is unknown."""

    texts: Codes
    sessions: Codes
    times: Ints
    counts: Ints


class SessionQueries(NamedTuple):
    """What was asked in sessions, by session and time; all of shape (A,).

    Attributes
    ----------
    queries: the number of the normalised query.
    single: whether the row counts one query.
    """

    sessions: Codes
    times: Ints
    queries: Codes
    single: Mask

    def take(self, chosen: Mask) -> SessionQueries:
        """The rows chosen."""
        return SessionQueries(
            self.sessions[chosen], self.times[chosen], self.queries[chosen], self.single[chosen]
        )


class Cleaned(NamedTuple):
    """Which rows to keep, and why others are left out."""

    keep: Mask
    left_out: dict[str, int]


def clean_texts(texts: pa.StringArray, rules: CleaningRules) -> Texts:
    """Redact and normalise each text, and judge whether it can be a query."""
    personal: dict[str, list[int]] = {}
    verdicts = np.zeros(len(texts), np.int8)
    columns: tuple[list[pa.Array], list[pa.Array]] = ([], [])
    for start in range(0, len(texts), _SLICE):
        part = texts.slice(start, _SLICE)
        others = ~plain_texts(part, rules)
        found = [_cleaned(raw, rules) for raw in part.filter(pa.array(others)).to_pylist()]
        numbers = start + np.flatnonzero(others)
        verdicts[numbers] = [verdict for _, _, verdict, _ in found]
        for number, (*_, kinds) in zip(numbers.tolist(), found, strict=True):
            for kind in kinds:
                personal.setdefault(kind, []).append(number)
        changed = ([text for text, *_ in found], [text for _, text, *_ in found])
        for column, plain, other in zip(columns, (part, pc.ascii_lower(part)), changed, strict=True):
            column.append(pc.replace_with_mask(plain, pa.array(others), pa.array(other, pa.string())))
    shown, normalised = (pa.concat_arrays([pa.array([], pa.string()), *column]) for column in columns)
    queries = np.where(verdicts == _KEPT, normalised.dictionary_encode().indices.to_numpy(), -1)
    return Texts(shown, normalised, queries.astype(np.int32), verdicts, personal)


def plain_texts(texts: pa.StringArray, rules: CleaningRules) -> Mask:
    """Which texts are kept as they are, and in small letters are their normalised query; shape (T,).

    These are ASCII texts with single spaces and no other blank, within the bounds, whose bytes show as in
    `personal_data.is_plain` that nothing personal is in them. Other texts may be so, too.
    """
    offsets, signs = text_buffers(texts)
    begins, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    signs = signs[offsets[0] : offsets[-1]]
    places, space = np.arange(len(signs)), signs == ord(" ")
    odd = _IS_ODD[signs]
    odd[1:] |= space[1:] & space[:-1]
    starts = np.where(space, places + 1, 0)
    starts[begins[begins < ends]] = begins[begins < ends]
    odd |= places - np.maximum.accumulate(starts) >= LONGEST_PLAIN
    plain: Mask = (ends > begins) & (ends - begins <= (rules.characters or len(signs)))
    most = ((odd, 0), (_IS_DIGIT[signs], 5), (signs == ord("-"), 4), (space, (rules.words or len(signs)) - 1))
    for held, bound in most:
        upto = np.concatenate([[0], np.cumsum(held)])
        plain &= upto[ends] - upto[begins] <= bound
    full = np.flatnonzero(plain)
    plain[full] = ~(space[begins[full]] | space[ends[full] - 1])
    return plain


def _cleaned(raw: str, rules: CleaningRules) -> tuple[str, str, int, Collection[str]]:
    """A text without personal data, its normalised form, the verdict, and what was found."""
    # What no placeholder could make short enough is not searched: a paste of megabytes costs nothing.
    if rules.characters and len(raw) > PASTE * rules.characters:
        return ("", "", _LONG, ())
    redacted = redact(raw)
    normalised = normalise_query(redacted.text)
    verdict = _verdict(normalised, rules)
    if redacted.kinds and verdict == _KEPT:
        verdict = _DROPPED if rules.personal_data == "drop" else _BARE if redacted.is_empty else _KEPT
    if verdict != _KEPT:
        return ("", "", verdict, redacted.kinds)
    return (redacted.text, normalised, verdict, redacted.kinds)


def _verdict(normalised: str, rules: CleaningRules) -> int:
    if not normalised:
        return _EMPTY
    too_long = rules.characters and len(normalised) > rules.characters
    return _LONG if too_long or (rules.words and normalised.count(" ") >= rules.words) else _KEPT


def clean_rows(rows: LogRows, texts: Texts, rules: CleaningRules) -> Cleaned:
    """Set rows aside by their text, then turned pages, then the sessions of robots."""
    verdicts = texts.verdicts[rows.texts]
    keep: Mask = verdicts == _KEPT
    left_out = {why: int((verdicts == verdict).sum()) for verdict, why in rules.reasons.items()}
    asked, order = _asked(rows, texts.queries, keep)
    verdicts = session_verdicts(asked, rules)
    keep[order[verdicts > 0]] = False
    left_out |= {why: int((verdicts == verdict).sum()) for verdict, why in enumerate(rules.of_sessions, 1)}
    return Cleaned(keep, {why: count for why, count in left_out.items() if count})


def session_verdicts(asked: SessionQueries, rules: CleaningRules) -> NDArray[np.int8]:
    """Which rows of sessions to keep: 0, or the place from 1 in `CleaningRules.of_sessions`."""
    turned = repeats(asked, rules)
    verdicts = turned.astype(np.int8)
    verdicts[np.flatnonzero(~turned)[robots(asked.take(~turned), rules)]] = 2
    return verdicts


def count_personal(columns: Iterable[tuple[Codes, Mapping[str, Sequence[int]]]]) -> dict[str, int]:
    """Kind → rows in which it was found, be it in several columns.

    Parameters
    ----------
    columns: each row's number of a text, -1 for none, and kind → numbers of the texts that hold it.
    """
    found: dict[str, Mask] = {}
    for codes, kinds in columns:
        for kind, numbers in kinds.items():
            holds = np.isin(codes, np.array(numbers, codes.dtype))
            found[kind] = found[kind] | holds if kind in found else holds
    return {kind: int(holds.sum()) for kind, holds in sorted(found.items())}


def _asked(rows: LogRows, queries: Codes, keep: Mask) -> tuple[SessionQueries, Ints]:
    """The rows to keep that have a session and a time, in order, and their numbers."""
    chosen = np.flatnonzero(keep & (rows.sessions >= 0) & (rows.times != UNKNOWN_TIME))
    order = chosen[np.lexsort((rows.times[chosen], rows.sessions[chosen]))]
    del chosen
    asked = queries[rows.texts[order]]
    return SessionQueries(rows.sessions[order], rows.times[order], asked, rows.counts[order] == 1), order


def repeats(asked: SessionQueries, rules: CleaningRules) -> Mask:
    """Rows that repeat the query before them in their session, within the minutes that rules allow."""
    sessions, times, queries, single = asked
    found = np.zeros(len(times), bool)
    if rules.repeat_minutes and len(found):
        found[1:] = (sessions[1:] == sessions[:-1]) & (queries[1:] == queries[:-1]) & single[1:] & single[:-1]
        found[1:] &= times[1:] - times[:-1] <= rules.repeat_minutes * _MINUTE
    return found


def robots(asked: SessionQueries, rules: CleaningRules) -> Mask:
    """Rows of the sessions that ask faster, or more, than a person does."""
    sessions, times = asked.sessions, asked.times
    suspects: list[Codes] = []
    fast = rules.queries_a_minute
    if fast and len(times) > fast:
        within = (times[fast:] - times[:-fast] < _MINUTE) & (sessions[fast:] == sessions[:-fast])
        suspects.append(sessions[fast:][within])
    if rules.queries_a_day and len(times) > rules.queries_a_day:
        suspects.append(_busy(sessions, times // _DAY, asked.queries, rules.queries_a_day))
    known = np.unique(np.concatenate(suspects)) if suspects else np.empty(0, np.int32)
    return np.isin(sessions, known)


def _busy(sessions: Codes, days: Ints, queries: Codes, most: int) -> Codes:
    """Sessions with more than `most` different queries on one day; rows come by session and day."""
    starts = np.flatnonzero(np.r_[True, (np.diff(sessions) != 0) | (np.diff(days) != 0)])
    lengths = np.diff(np.r_[starts, len(sessions)])
    busy = [
        sessions[start]
        for start, length in zip(starts[lengths > most], lengths[lengths > most], strict=True)
        if len(np.unique(queries[start : start + length])) > most
    ]
    return np.array(busy, np.int32)
