"""Conventions: how goldset writes into a release what older goldsets wrote otherwise.

The manifest of a release names the conventions that it was written by; older ones lack some. A note says why
a release of the same labels, frozen now, would have another id. There is one only where the content of this
release shows that it is concerned.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from curation.agreement.annotators.agreement_with_others import reference_of
from curation.agreement.between.grades import grades_of
from curation.agreement.between.inter_annotator import STUDENTISED_BELOW
from curation.pooling.pool import LEXICAL
from curation.releases.stored import (
    BESIDE,
    FORMAT,
    NO_NUMBER,
    SESSION_HASH,
    Pin,
    ReleaseRow,
    Table,
    parsed_part,
    pinned_documents,
)
from curation.splits.rules import Rules
from curation.splits.ties.parameters import rules_of
from curation.store import Store
from curation.text import amount
from curation.words import CUT, is_cut_otherwise

_PSEUDONYM = re.compile(rf"\ba[1-9]\d*\b|{NO_NUMBER}")
_LAST_LATIN = "\u024f"
_ANOTHER_ID = "so a release frozen now has another id."
_PERHAPS_ANOTHER_ID = "so a release frozen now may have another id."

Pair = tuple[str, str]


class OlderRelease:
    """A release that lacks conventions; its parts are parsed when they are asked for."""

    def __init__(self, store: Store, row: ReleaseRow, texts: Mapping[str, str]) -> None:
        self._store, self._name, self._texts = store, row.name, texts

    def rows(self, part: str) -> Table:
        """The rows of a part; none where older releases have no such part."""
        return parsed_part(self._name, part, self._texts.get(part, ""))

    def text(self, part: str) -> str:
        return self._texts.get(part, "")

    @cached_property
    def judgments(self) -> Table:
        """The judgments that can count: no blind duplicates, no pilots, no practice."""
        beside = {row["round"] for row in self.rows("rounds") if row["kind"] in BESIDE}
        found = self.rows("judgments")
        return [row for row in found if not row["duplicate"] and row["round"] not in beside]

    @cached_property
    def split(self) -> dict[str, Any]:
        """The parameters of the split."""
        found: dict[str, Any] = self.rows("split")[0]["parameters"]
        return found

    @cached_property
    def rules(self) -> Rules:
        """Which ties the split looked for."""
        return rules_of(self.split)

    @cached_property
    def agreement(self) -> dict[str, Any]:
        """The figures of agreement; empty where older releases have none."""
        return next(iter(self.rows("agreement")), {})

    @cached_property
    def queries(self) -> list[str]:
        """The texts of the queries."""
        return [row["text"] for row in self.rows("queries")]

    def documents(self, ids: Collection[str] | None = None) -> Iterator[str]:
        """The texts of these documents as they are pinned; of all without ids."""
        pins = [
            Pin(row["document_id"], row["content_hash"])
            for row in self.rows("documents")
            if ids is None or row["document_id"] in ids
        ]
        return (document.text for _, document in pinned_documents(self._store, pins) if document is not None)


class Convention(NamedTuple):
    """What the manifest says of it, and the sentences about a release whose manifest does not."""

    name: str
    told: str
    notes: Callable[[OlderRelease], Iterator[str]]


def frozen_otherwise(store: Store, row: ReleaseRow, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Why a release of the same labels, frozen now, would have another id; a sentence each.

    Parameters
    ----------
    texts: part → text, as frozen.

    Raises
    ------
    RefusedError: a part is not JSON.
    """
    followed = json.loads(row.manifest)
    release = OlderRelease(store, row, texts)
    return tuple(note for one in CONVENTIONS if one.name not in followed for note in one.notes(release))


def _form(release: OlderRelease) -> Iterator[str]:
    form = release.rows("release")[0]["format"]
    if form < FORMAT:
        yield (
            f"Its content has form {form}, without sealed parts, tags and segments. Since then it has form "
            f"{FORMAT}, {_ANOTHER_ID}"
        )


def _sessions(release: OlderRelease) -> Iterator[str]:
    if SESSION_HASH.search(release.text("edges")):
        yield (
            "Its ties name sessions by hashes that only this project has. Since then they are numbered by "
            f"their queries, {_ANOTHER_ID}"
        )


def _names(release: OlderRelease) -> Iterator[str]:
    if any(_PSEUDONYM.search(str(row["reason"])) for row in release.rows("adjudications")):
        yield (
            "In its reasons, any account's name was replaced in any case. Since then only names of people in "
            f"the release are, as they are written, {_PERHAPS_ANOTHER_ID}"
        )


def _votes(release: OlderRelease) -> Iterator[str]:
    texts: defaultdict[Pair, set[bool]] = defaultdict(set)
    for row in release.judgments:
        texts[row["query_id"], row["document_id"]].add("version" in row)
    number = Counter(len(found) for found in texts.values())[2]
    if number:
        yield (
            f"Two texts of a document were judged ({_pairs(number)}), and the votes about both count. Since "
            f"then those about the text of now count alone, {_ANOTHER_ID}"
        )
    decided = [row for row in release.rows("adjudications") if "version" not in row]
    unmarked = sum(texts.get((row["query_id"], row["document_id"])) == {True} for row in decided)
    if unmarked:
        yield (
            f"Decisions about an older text are not marked ({_pairs(unmarked)}). Since then they are, "
            f"{_ANOTHER_ID}"
        )


def _intervals(release: OlderRelease) -> Iterator[str]:
    between = release.agreement.get("between", {})
    figures = [figure for figure in between.values() if isinstance(figure, dict)]
    ends = [(figure.get("low"), figure.get("high")) for figure in figures]
    queries = between.get("queries", STUDENTISED_BELOW)
    if any(low != high for low, high in ends) and queries < STUDENTISED_BELOW:
        yield (
            f"Its intervals of agreement are percentiles, on {queries} queries. Since then those on fewer "
            f"than {STUDENTISED_BELOW} queries are studentised, {_ANOTHER_ID}"
        )


def _repeats(release: OlderRelease) -> Iterator[str]:
    repeating = {row["annotator"] for row in release.agreement.get("within", []) if row.get("n")}
    if not repeating:
        return
    of_now = {
        (row["query_id"], row["document_id"], row["annotator"]): row["grade"]
        for row in release.judgments
        if "version" not in row
    }
    grades = grades_of((*key, grade) for key, grade in of_now.items())
    number = len(repeating & reference_of(grades).uninformative)
    if number:
        people = "an annotator" if number == 1 else f"{number} annotators"
        yield (
            f"Its gate counts the repeats of {people} whose grades agree with nobody's, or are nearly always "
            f"the same. Since then these do not count, {_ANOTHER_ID}"
        )


def _words(release: OlderRelease) -> Iterator[str]:
    if _splits_otherwise(release) or _pools_otherwise(release):
        yield (
            "Older goldsets cut some of its texts into other words, because of their scripts or marks. Since "
            f"then pools, splits and certificates cut them by script, {_PERHAPS_ANOTHER_ID}"
        )


def _paraphrases(release: OlderRelease) -> Iterator[str]:
    looked_for = release.rules.paraphrase is not None and "not_read" not in release.split
    if looked_for and any(map(_is_foreign, release.queries)):
        yield (
            "Its queries were compared by meaning in other scripts than Latin, too. Since then queries that "
            f"the model {release.rules.model} cannot read are left out, {_PERHAPS_ANOTHER_ID}"
        )


def _splits_otherwise(release: OlderRelease) -> bool:
    if "words" in release.split or release.rules.document is None:
        return False
    grade = release.split["relevant_grade"]
    relevant = {row["document_id"] for row in release.rows("qrels") if row["grade"] >= grade}
    return any(map(is_cut_otherwise, release.documents(relevant)))


def _pools_otherwise(release: OlderRelease) -> bool:
    pools = [row["parameters"] for row in release.rows("pools")]
    if all("words" in one or LEXICAL.isdisjoint(one.get("systems", ())) for one in pools):
        return False
    return any(map(is_cut_otherwise, release.queries)) or any(
        is_cut_otherwise(text, whole=True) for text in release.documents()
    )


def _is_foreign(text: str) -> bool:
    """Whether a text has letters that are not Latin."""
    return not text.isascii() and any(
        letter.isalpha() and letter > _LAST_LATIN for letter in unicodedata.normalize("NFKD", text)
    )


def _pairs(number: int) -> str:
    return amount(number, "pair")


CONVENTIONS = (
    Convention("form", str(FORMAT), _form),
    Convention("sessions", "numbered by their queries", _sessions),
    Convention("names", "people of the release, whole words, by case", _names),
    Convention("votes", "about the text of now, where there are any", _votes),
    Convention("intervals", f"studentised below {STUDENTISED_BELOW} queries", _intervals),
    Convention("repeats", "of annotators whose grades agree with others'", _repeats),
    Convention("words", CUT, _words),
    Convention("paraphrases", "of queries that the model can read", _paraphrases),
)
"""All, in the order in which notes are given."""
