"""Judgments, rounds and decisions as a release tells them: whose they are is a number.

What people wrote is kept, without the names by which the project knows them and without e-mail addresses.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from unicodedata import normalize

from curation.core.text import ListDigest, canonical_json, digest
from curation.ingest.importers.redaction.personal_data import redact
from curation.releases.freeze.pseudonyms import Pseudonyms, pseudonyms
from curation.releases.freeze.reading import Rows, columns
from curation.releases.release_rows import NO_NUMBER, Table, rounded
from curation.store import Round
from curation.store.release_parts import PartText, sorted_lines, table_rows

LEAST_NAME = 3
"""Shorter names stay in what people wrote: they would be found in any sentence."""


def judgments(rows: Rows, queries: Collection[str]) -> tuple[PartText, Pseudonyms, frozenset[str]]:
    """Judgments as they were given, under the pseudonyms that follow from them; and the guides' hashes."""
    judged, guides = _digests(_judged(rows, queries))
    rounds = {round_id for _, round_id in judged}
    about = {annotator: digest("pilots alone") for annotator, _ in judged}
    about |= {row.annotator: digest(rounded(row[1:])) for row in rows.repeats}
    names = pseudonyms(
        about, {row.round_id: digest(_round(row)) for row in rows.rounds if row.round_id in rounds}, judged
    )
    named = (
        row | {"annotator": names.annotators[row["annotator"]], "round": names.rounds[row["round"]]}
        for row in _judged(rows, queries)
    )
    return PartText.of_rows(named, ordered=True), names, guides


def _judged(rows: Rows, queries: Collection[str]) -> Iterator[dict[str, Any]]:
    """The judgments of these queries on documents of the corpus, one by one."""
    pinned = dict(columns(rows.labels.snapshot))
    for row in table_rows(rows.judgments):
        if row["query_id"] in queries and row["document_id"] in pinned:
            if row.pop("content_hash") != pinned[row["document_id"]]:
                row["version"] = "changed"
            yield row


def _digests(judged: Iterable[dict[str, Any]]) -> tuple[dict[tuple[str, str], str], frozenset[str]]:
    """(annotator, round) → `digest` of the list of their judgments' lines, sorted; and the guides' hashes."""
    numbers: dict[tuple[str, str], int] = {}
    guides = set()

    def nameless() -> Iterator[str]:
        for row in judged:
            number = numbers.setdefault((row.pop("annotator"), row.pop("round")), len(numbers))
            guides.add(row["guide"])
            yield f"{canonical_json(row)}\t{number}"  # a tab is in no such line, and comes before all that is

    found: defaultdict[int, ListDigest] = defaultdict(ListDigest)
    for numbered in sorted_lines(nameless()):
        line, _, number = numbered.rpartition("\t")
        found[int(number)].add(line)
    return {source: found[number].value() for source, number in numbers.items()}, frozenset(guides)


def rounds(rows: Rows, names: Pseudonyms) -> Table:
    used = [
        {"round": names.rounds[row.round_id], **_round(row)}
        for row in rows.rounds
        if row.round_id in names.rounds
    ]
    return sorted(used, key=canonical_json)


def _round(row: Round) -> dict[str, Any]:
    """A round without names: of its parameters those that say how it was laid out."""
    parameters = json.loads(row.parameters)
    kept = {
        name: parameters[name] for name in ("overlap", "duplicates", "seed", "again") if name in parameters
    }
    return {"kind": row.kind, "guide": row.guide_hash, "parameters": kept}


def adjudications(rows: Rows, queries: Collection[str], people: Mapping[str, str]) -> Table:
    """The reviewers' decisions; nobody is named in their reasons."""
    pinned = dict(columns(rows.labels.snapshot))
    table = []
    for row in rows.adjudications.to_pylist():
        read, _ = row.pop("content_hash"), row.pop("reviewer")
        if row["query_id"] in queries and row["document_id"] in pinned:
            row["reason"] = without_names(row["reason"], people)
            changed = read is not None and read != pinned[row["document_id"]]
            table.append(row | ({"version": "changed"} if changed else {}))
    return table


def people_of(rows: Rows, queries: Collection[str], names: Pseudonyms) -> dict[str, str]:
    """Every name of somebody who judged or decided pairs of these queries → their number.

    Other accounts say nothing about a release: a word is not a name because somebody signs in with it.
    """
    reviewers = {row["reviewer"] for row in rows.adjudications.to_pylist() if row["query_id"] in queries}
    inside = names.annotators.keys() | reviewers
    return {
        known: names.annotators.get(name, NO_NUMBER) for known, name in rows.people.items() if name in inside
    }


def without_names(text: str, people: Mapping[str, str]) -> str:
    """What somebody wrote, with people's numbers for their names and placeholders for personal data.

    A name is replaced as a whole word, in its own case, with letters and accents together or apart.

    Parameters
    ----------
    people: every name by which the project knows somebody → their number.
    """
    forms = {
        normalize(form, name): number
        for name, number in people.items()
        if len(name) >= LEAST_NAME
        for form in ("NFC", "NFD")
    }
    if forms:
        names = "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))
        text = re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: forms[found[0]], text)
    return redact(text).text
