"""Real queries tagged by hand, and how often the rules agree with the hand.

For tests/sampling/tags/test_tags_by_hand.py and benchmarks/bench_tags.py. hand_tagged.tsv holds a source, the
digest of a normalised query and its tags; the texts are in the shared data and stay there. The last digit
of a digest decides the half: rules were tuned on the even one, the odd one only measures them. Short and
long were counted. Excite's log has no corpus: misspellings are looked for with news articles in its place.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from curation.files.fields import CorpusFields
from curation.project import init_project
from curation.sampling.tags.find_tags import tag_texts
from curation.sampling.tags.stored_tags import OF_CORPUS, RULE_TAGS
from curation.sources.corpus import import_corpus
from curation.statistics.intervals import wilson
from curation.store import Store, open_store
from curation.text import digest, normalise_query

LIST = Path(__file__).with_name("hand_tagged.tsv")
CORPORA = {
    "icecat": ("chorus_icecat/products.jsonl.gz", CorpusFields("id", "title", ("short_description",))),
    "esci": ("esci_us/products.json.gz", CorpusFields(None, None, ("description", "bullet_points"))),
}
ARTICLES = "minhash_articles/articles_2500.train.gz"
TOLD = {"icecat": OF_CORPUS, "esci": {"entity", "misspelling"}, "excite": {"misspelling"}}
"""Tags of the corpus that are measured on a source."""
HALVES = ("tuned on", "held out")


class Tagged(NamedTuple):
    """One line of the list; `half` is a place in `HALVES`."""

    source: str
    digest: str
    tags: frozenset[str]

    @property
    def half(self) -> int:
        return int(self.digest[-1], 16) % 2


class Agreement(NamedTuple):
    """How a rule and the hand agree on the queries of a half."""

    queries: int
    by_hand: int
    by_rule: int
    both: int


def hand_tagged() -> list[Tagged]:
    """The lines of the list."""
    rows = csv.DictReader(LIST.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return [
        Tagged(row["source"], row["digest"], frozenset(filter(None, row["tags"].split(",")))) for row in rows
    ]


def texts(shared: Path) -> dict[str, str]:
    """Digest → normalised query, of all queries of the sources."""
    found = [*icecat(shared), *esci(shared), *excite(shared), *touche(shared), *cisi(shared)]
    return {digest(text): text for text in map(normalise_query, found)}


def project(source: str, shared: Path, folder: Path) -> Store:
    """A project in the folder with the corpus of a source, if it has one; made anew only where it is not."""
    path = folder / f"{source}.duckdb"
    store = open_store(path) if path.exists() else init_project(path).store
    if source in CORPORA:
        name, fields = CORPORA[source]
        import_corpus(store, shared / name, fields)
    elif source == "excite":
        import_corpus(store, _articles(shared, folder))
    return store


def agreement(
    shared: Path, folder: Path, tags: Iterable[str] = RULE_TAGS
) -> dict[str, tuple[Agreement, Agreement]]:
    """Tag → how its rule agrees with the hand on the half it was tuned on, and on the one held out."""
    by_digest = texts(shared)
    lines = hand_tagged()
    counts = {tag: ([0] * 4, [0] * 4) for tag in tags}
    for source in sorted({line.source for line in lines}):
        store = project(source, shared, folder)
        asked = [line for line in lines if line.source == source]
        for tag, halves in counts.items():
            if tag in OF_CORPUS and tag not in TOLD.get(source, ()):
                continue
            said = tag_texts(store, tag, [by_digest[line.digest] for line in asked])
            for line, rule in zip(asked, said.tolist(), strict=True):
                hand = tag in line.tags
                for place, counted in enumerate((True, hand, rule, hand and rule)):
                    halves[line.half][place] += counted
    return {tag: (Agreement(*tuned), Agreement(*held)) for tag, (tuned, held) in counts.items()}


def table(agreements: Mapping[str, tuple[Agreement, Agreement]]) -> list[str]:
    """The lines of a Markdown table: each share as a number with its 95 % interval and what it is of."""
    lines = [
        "| tag | half | queries | by hand | by rule | precision | recall |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for tag, halves in agreements.items():
        for half, found in zip(HALVES, halves, strict=True):
            counts = f"{found.queries} | {found.by_hand} | {found.by_rule}"
            shares = f"{share(found.both, found.by_rule)} | {share(found.both, found.by_hand)}"
            lines.append(f"| {tag} | {half} | {counts} | {shares} |")
    return lines


def share(part: int, whole: int) -> str:
    """A share with Wilson's interval, or a dash where there is nothing to share."""
    if not whole:
        return "–"
    low, high = wilson(part, whole)
    return f"{part / whole:.2f} ({low:.2f}–{high:.2f})"


def _articles(shared: Path, folder: Path) -> Path:
    path = folder / "articles.jsonl"
    with gzip.open(shared / ARTICLES, "rt", encoding="utf-8") as file:
        articles = [line.split(" ", 1) for line in file]
    lines = [json.dumps({"id": name, "text": text}) for name, text in articles]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def icecat(shared: Path) -> list[str]:
    """The 135 rated queries, once for each rating."""
    path = shared / "chorus_icecat" / "Broad_Query_Set_individual_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [row["query"] for row in csv.DictReader(file)]


def esci(shared: Path) -> list[str]:
    """The 150 queries with labels."""
    read = json.loads((shared / "esci_us" / "esci_us_queryset.json").read_text(encoding="utf-8"))
    return [row["queryText"] for row in read["querySetQueries"]]


def excite(shared: Path) -> list[str]:
    """The queries of one day in 1997."""
    text = (shared / "excite_log" / "excite-small.log").read_text(encoding="latin-1")
    return [line.split("\t")[2] for line in text.split("\n") if line.count("\t") >= 2]


def touche(shared: Path) -> list[str]:
    """The 49 controversial questions."""
    with gzip.open(shared / "touche2020" / "topics.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t")[1] for line in file if "\t" in line]


def cisi(shared: Path) -> list[str]:
    """The 112 requests of a library."""
    text = (shared / "smart" / "cisi" / "CISI.QRY").read_text(encoding="latin-1")
    blocks = re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]
    return [re.split(r"^\.[A-Z]\s*$", block, flags=re.MULTILINE)[-1].strip() for block in blocks]
