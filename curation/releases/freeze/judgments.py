"""Judgments, rounds and decisions as a release tells them: whose they are is a number.

What people wrote is kept, without the names by which the project knows them and without e-mail addresses.

Pseudonyms number annotators and rounds by what was judged, never by what they are called. Annotators and
rounds are distinguished by their judgments and by their neighbours, as in colour refinement. Those that still
look alike can be exchanged without a difference to the release, so it does not matter which of them comes
first.

B. Weisfeiler and A. Leman (1968), The reduction of a graph to canonical form.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from unicodedata import normalize

from curation.releases.freeze.reading import Rows, columns
from curation.releases.stored import NO_NUMBER, Table, rounded
from curation.sources.redaction.personal_data import redact
from curation.store import Round
from curation.store.release_parts import PartText, sorted_lines, table_rows
from curation.text import ListDigest, canonical_json, digest

_Node = tuple[str, str]  # 'a' or 'r', and the name


class Pseudonyms(NamedTuple):
    """Annotator's name → 'a1', 'a2', …; round id → 'r1', 'r2', …"""

    annotators: dict[str, str]
    rounds: dict[str, str]


def pseudonyms(
    annotators: Mapping[str, str], rounds: Mapping[str, str], judged: Mapping[tuple[str, str], str]
) -> Pseudonyms:
    """Number annotators and rounds.

    Parameters
    ----------
    annotators, rounds: name → digest of what the release says about it, judgments apart.
    judged: (annotator, round) → digest of the judgments.
    """
    colours = {("a", name): digest("a", about) for name, about in annotators.items()}
    colours |= {("r", name): digest("r", about) for name, about in rounds.items()}
    colours = _refined(colours, judged)
    while tied := _tied(colours):
        colours = _refined(colours | {tied: digest(colours[tied], "first")}, judged)
    return Pseudonyms(_numbered("a", colours), _numbered("r", colours))


def _refined(colours: dict[_Node, str], judged: Mapping[tuple[str, str], str]) -> dict[_Node, str]:
    """Colours that also distinguish by the colours of neighbours, until nothing changes."""
    while True:
        neighbours: dict[_Node, list[tuple[str, str]]] = defaultdict(list)
        for (annotator, round_id), judgments in judged.items():
            neighbours["a", annotator].append((judgments, colours["r", round_id]))
            neighbours["r", round_id].append((judgments, colours["a", annotator]))
        finer = {node: digest(colour, sorted(neighbours[node])) for node, colour in colours.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            return colours
        colours = finer


def _tied(colours: Mapping[_Node, str]) -> _Node | None:
    """The first of those that look alike, if any do."""
    times = Counter(colours.values())
    tied = [(colour, node) for node, colour in colours.items() if times[colour] > 1]
    return min(tied)[1] if tied else None


def _numbered(prefix: str, colours: Mapping[_Node, str]) -> dict[str, str]:
    ordered = sorted((colour, name) for (kind, name), colour in colours.items() if kind == prefix)
    return {name: f"{prefix}{place}" for place, (_, name) in enumerate(ordered, 1)}


LEAST_NAME = 3


class FrozenJudgments(NamedTuple):
    """Judgments as a release tells them, whose they are, and the hashes of their guides."""

    rows: PartText
    names: Pseudonyms
    guides: frozenset[str]


def judgments(rows: Rows, queries: Collection[str]) -> FrozenJudgments:
    """Judgments as they were given, under the pseudonyms that follow from them."""
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
    return FrozenJudgments(PartText.of_rows(named, ordered=True), names, guides)


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

    A name is replaced as a whole word, in its own case, with letters and accents together or apart. Names of
    fewer than `LEAST_NAME` characters stay: they would be found in any sentence.

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
