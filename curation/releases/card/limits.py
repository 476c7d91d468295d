"""The known limits of a release: sentences that follow from its content, for its users."""

from __future__ import annotations

from collections import Counter

from curation.releases.card.markdown import Lines, percent
from curation.releases.pairs import PairCodes, number_in
from curation.releases.release_rows import half_judged, half_judged_sentence, mark_sentence, without_relevant
from curation.releases.verify import FrozenRelease


def synthetic_sentence(synthetic: int, queries: int) -> str:
    """What must be known of queries of which language models wrote some."""
    return (
        f"{synthetic:,} of {queries:,} queries ({percent(synthetic, queries)}) were written by a language "
        "model, not asked by anybody. Read figures of them apart from those of other sources."
    )


def limits_of(release: FrozenRelease) -> Lines:
    """What somebody who uses the release must know; empty where nothing follows from it."""
    return [*_of_file(release), *_of_labels(release), *_of_pools(release), *_of_freeze(release)]


def _of_file(release: FrozenRelease) -> Lines:
    closed = len(release.closed_queries)
    return [
        f"It is written from a packed release, without what people said of {closed:,} sealed queries: "
        "numbers of judgments, grades and candidates leave these out."
    ] * bool(closed)


def _of_labels(release: FrozenRelease) -> Lines:
    figures = release.rows("agreement")[0]
    hows = Counter(row["how"] for row in release.walk("qrels"))
    total = hows.total()
    rounds = {row["kind"] for row in release.rows("rounds")}
    sentences = _of_relevance(release)
    if hows["single"]:
        sentences.append(
            f"{hows['single']:,} of {total:,} grades ({percent(hows['single'], total)}) rest on a single "
            "judgment; nothing is known about how far another person would agree with them."
        )
    for level in ("ordinal", "raw"):
        found = figures["between"][level]
        if found["undefined"]:
            sentences.append(f"Agreement ({level}) is undefined: {found['undefined']}.")
        elif found["too_few"]:
            sentences.append(f"Agreement ({level}) rests on {found['units']:,} pairs: too few for a figure.")
    if not sum(row["n"] for row in figures["within"]):
        sentences.append("No annotator's consistency is known: no blind duplicate was graded twice.")
    if rounds == {"imported"}:
        sentences.append("All judgments were imported: how they were collected is their source's to say.")
    return sentences


def _of_relevance(release: FrozenRelease) -> Lines:
    closed = release.closed_queries
    queries = [row for row in release.rows("queries") if row["query_id"] not in closed]
    grade = release.rows("split")[0]["parameters"]["relevant_grade"]
    lacking = len(without_relevant(queries, release.walk("qrels"), grade))
    if not lacking:
        return []
    if lacking == len(queries):
        return [
            f"No query has a relevant document (grade {grade} or more): no system can be measured with it."
        ]
    share = f"{lacking:,} of {len(queries):,} queries ({percent(lacking, len(queries))})"
    return [
        f"{share} have no relevant document (of grade {grade} or more): "
        "measures are 0 or undefined for them, whatever a system returns."
    ]


def _of_pools(release: FrozenRelease) -> Lines:
    codes = PairCodes()
    pairs, judged = codes.of(release.walk("candidates")), codes.of(release.walk("qrels"))
    open_pairs = len(pairs) - number_in(pairs, judged)
    sentences = [
        "Documents without a grade are not known to be irrelevant. Measures that count them as such "
        "disfavour systems that did not take part in the pools."
    ]
    if any(True for _ in release.walk("pool_sample")):
        sentences.insert(
            0,
            "Only a random sample of the pool was judged. Measures count the rest as not relevant.",
        )
    if open_pairs:
        share = percent(open_pairs, len(pairs))
        sentences.insert(0, f"{open_pairs:,} of {len(pairs):,} candidate pairs ({share}) have no grade.")
    return sentences


def _of_freeze(release: FrozenRelease) -> Lines:
    header = release.header
    sentences = []
    if header.get("changed"):
        sentences.append(
            f"{header['changed']:,} grades were given on another version of their document than is here."
        )
    if sharing := header.get("sharing"):
        sentences.append(
            f"{sharing['grades']:,} grades were given to further documents by the rule {sharing['rule']!r}, "
            f"not by people; {sharing['conflicts']:,} texts have different grades under different ids."
        )
    sentences += half_judged_sentence(half_judged(release.row))
    sentences += mark_sentence("It", release.mark)
    sources = Counter(row["source"] for row in release.rows("queries"))
    if sources["synthetic"]:
        sentences.append(synthetic_sentence(sources["synthetic"], sources.total()))
    if not release.rows("sampling"):
        sentences.append("The queries are no sample: figures over them estimate nothing about any traffic.")
    return sentences
