"""The data-set card: what a release is, how far it can be trusted, and its known limits.

The card is written from the content of the release alone. The manifest in the project adds how many grades
were half judged; a packed release has no manifest. The words are in the template `card.md`.

The sections follow what data sheets ask for (Gebru and others 2021, Datasheets for Datasets): where the
queries come from, who labelled and how well they agree, what is covered, what is not known. No person is
named: a release knows none. Figures that are undefined say why, and each figure has its size next to it.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from curation.agreement.intra_annotator import IntraAgreement, pooled_consistency
from curation.core.text import pluralize
from curation.people.seal_access import sealed_parts
from curation.releases.coverage import about_grid, about_map, released_coverage
from curation.releases.gate_override import gate_override_sentences
from curation.releases.pair_codes import Codes, PairCodes, distinct, documents_of, number_in
from curation.releases.release_rows import half_judged, half_judged_sentence, without_relevant
from curation.releases.verify import FrozenRelease

Lines = list[str]

UNKNOWN = "unknown"
FEW_TAGS = 20
Rows = list[tuple[Any, ...]]


def synthetic_sentence(synthetic: int, queries: int) -> str:
    """What readers must know where language models wrote some of the queries."""
    return (
        f"{synthetic:,} of {queries:,} queries ({percent(synthetic, queries)}) were written by a language "
        "model, not asked by anybody. Read figures of them apart from those of other sources."
    )


def limits_of(release: FrozenRelease) -> Lines:
    """What somebody who uses the release must know, as sentences."""
    limits = [
        *_file_limits(release),
        *_label_limits(release),
        *_pool_limits(release),
        *_freeze_limits(release),
    ]
    return limits or ["None that follows from the data."]


def _file_limits(release: FrozenRelease) -> Lines:
    closed = len(release.closed_queries)
    return [
        f"It is written from a packed release, without what people said of {closed:,} sealed queries: "
        "numbers of judgments, grades and candidates leave these out."
    ] * bool(closed)


def _label_limits(release: FrozenRelease) -> Lines:
    figures = release.rows("agreement")[0]
    hows = Counter(row["how"] for row in release.walk("qrels"))
    total = hows.total()
    rounds = {row["kind"] for row in release.rows("rounds")}
    sentences = _relevance_limits(release)
    if hows["single"]:
        sentences.append(
            f"{hows['single']:,} of {total:,} grades ({percent(hows['single'], total)}) rest on a single "
            "judgment; nothing is known about how far another person would agree with them."
        )
    for level in ("ordinal", "raw"):
        figure = figures["between"][level]
        if figure["undefined"]:
            sentences.append(f"Agreement ({level}) is undefined: {figure['undefined']}.")
        elif figure["too_few"]:
            sentences.append(f"Agreement ({level}) rests on {figure['units']:,} pairs: too few for a figure.")
    if not sum(row["n"] for row in figures["within"]):
        sentences.append("No annotator's consistency is known: no blind duplicate was graded twice.")
    if rounds == {"imported"}:
        sentences.append("All judgments were imported: how they were collected is their source's to say.")
    return sentences


def _relevance_limits(release: FrozenRelease) -> Lines:
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


def _pool_limits(release: FrozenRelease) -> Lines:
    codes = PairCodes()
    pairs, judged = codes.of(release.walk("candidates")), codes.of(release.walk("qrels"))
    open_pairs = len(pairs) - number_in(pairs, judged)
    sentences = [
        "Documents without a grade are not known to be irrelevant. Measures that count them as such "
        "disfavour systems that did not take part in the pools."
    ]
    if any(True for _ in release.walk("pool_sample")):
        sentences.insert(
            0, "Only a random sample of the pool was judged. Measures count the rest as not relevant."
        )
    if open_pairs:
        share = percent(open_pairs, len(pairs))
        sentences.insert(0, f"{open_pairs:,} of {len(pairs):,} candidate pairs ({share}) have no grade.")
    return sentences


def _freeze_limits(release: FrozenRelease) -> Lines:
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
    sentences += gate_override_sentences("It", release.mark)
    sources = Counter(row["source"] for row in release.rows("queries"))
    if sources["synthetic"]:
        sentences.append(synthetic_sentence(sources["synthetic"], sources.total()))
    if not release.rows("sampling"):
        sentences.append("The queries are no sample: figures over them estimate nothing about any traffic.")
    return sentences


def percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "undefined"


def card_text(release: FrozenRelease, licence: str = UNKNOWN) -> str:
    """The card in Markdown, without front matter; `licence` is what the owner of the data says."""
    return template(__package__, "card.md").render(
        release=release,
        header=release.header,
        licence=licence,
        limits=limits_of(release),
        mark=gate_override_sentences(release.row.name, release.mark),
        **_contents(release),
        **_labels(release),
        **_agreement(release.rows("agreement")[0]),
        **_coverage(release),
        **_split(release),
    )


@cache
def template(package: str | None, name: str) -> Template:
    """A template of Markdown in a package."""
    environment = Environment(
        loader=PackageLoader(str(package), "."),
        autoescape=False,  # noqa: S701 it is Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["n"] = "{:,}".format
    environment.globals |= {"amount": pluralize, "counts": counts, "listed": listed, "percent": percent}
    environment.globals["table"] = lambda header, rows: "\n".join(table(header, rows))
    return environment.get_template(name)


def _contents(release: FrozenRelease) -> dict[str, Any]:
    header, queries = release.header, release.rows("queries")
    sealed = sealed_parts(header)
    tags = Counter(tag for query in queries for tag in query["tags"])
    return {
        "sealed": sealed,
        "parts": [
            (part, number, header["grades"][part], "yes" if part in sealed else "no")
            for part, number in sorted(header["queries"].items())
        ],
        "queries": len(queries),
        "sources": Counter(query["source"] for query in queries),
        "models": Counter(query["written_by"]["model"] for query in queries if "written_by" in query),
        "samples": [(sample, _strata(sample)) for sample in release.rows("sampling")],
        "tags": dict(tags.most_common(FEW_TAGS)),
        "answers": len(release.rows("answers")),
        "evidence": len({(row["query_id"], row["document_id"]) for row in release.walk("evidence")}),
    }


def _strata(sample: Mapping[str, Any]) -> Rows:
    return [
        (row["name"], row["population"], row["traffic"], row["drawn"], _probability(row["probability"]))
        for row in sample["report"]
    ]


def _labels(release: FrozenRelease) -> dict[str, Any]:
    given = Counter(
        (row["annotator"], row["kind"] == "cannot_tell", row["duplicate"])
        for row in release.walk("judgments")
    )
    return {
        "people": len({annotator for annotator, *_ in given}),
        "judgments": given.total(),
        "unclear": sum(count for (_, unclear, _), count in given.items() if unclear),
        "repeats": sum(count for (*_, repeat), count in given.items() if repeat),
        "rounds": Counter(row["kind"] for row in release.rows("rounds")),
        "decided": len(release.rows("adjudications")),
        "hows": Counter(row["how"] for row in release.walk("qrels")),
        "guides": [
            (guide, [(grade["value"], grade["name"], grade["definition"]) for grade in guide["scale"]])
            for guide in release.rows("guides")
        ],
    }


def _agreement(figures: Mapping[str, Any]) -> dict[str, Any]:
    between = figures["between"]
    alphas = [
        (f"Krippendorff's alpha, {level}", *_figure(between[level], "alpha"))
        for level in ("ordinal", "interval", "nominal")  # the interval level: in older releases only
        if level in between
    ]
    return {
        "agreement": figures,
        "figures": [*alphas, ("equal grades among pairs of grades", *_figure(between["raw"], "share"))],
        "consistency": _consistency(figures["within"]),
        "gate": [_check(check) for check in figures["gate"]],
    }


def _consistency(rows: list[dict[str, Any]]) -> str:
    pooled = pooled_consistency([IntraAgreement(**row) for row in rows])
    if pooled.identical is None:
        why = sorted({str(row["undefined"]) for row in rows}) or ["nobody judged"]
        return f"undefined ({'; '.join(why)})"
    return f"{pooled.identical:.1%} of {pooled.n:,} blind duplicates were graded alike"


def _coverage(release: FrozenRelease) -> dict[str, Any]:
    codes = PairCodes()
    judged = codes.of(release.walk("qrels"))
    pooled = codes.of(_pooled(release)) if release.rows("pools") else None
    return {
        "documents": documents_of(judged),
        "regions": _regions(release),
        "pooled": None if pooled is None else len(pooled),
        "pooled_judged": 0 if pooled is None else number_in(pooled, judged),
        "systems": _systems(release, codes, judged),
        "bands": _bands(release, codes, judged),
    }


def _pooled(release: FrozenRelease) -> Iterator[dict[str, Any]]:
    """The candidates that a pool of this project proposed, one by one."""
    return (row for row in release.walk("candidates") if row["pool_id"] is not None)


def _regions(release: FrozenRelease) -> str:
    """Which regions of the corpus have a query, and the grid's boundaries."""
    coverage = released_coverage(release)
    if coverage is None:
        return "No coverage map was frozen: which regions of the corpus nothing tests is unknown."
    return f"{about_map(coverage)} {about_grid(coverage)}".rstrip()


def _systems(release: FrozenRelease, codes: PairCodes, judged: Codes) -> Rows:
    """System, pairs that it proposed, its deepest rank, and the share of them that has a grade."""
    proposed: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    deepest: Counter[str] = Counter()
    for row in _pooled(release):
        proposed[row["system"]].append(codes.code(row["query_id"], row["document_id"]))
        deepest[row["system"]] = max(deepest[row["system"]], row["rank"] or 0)
    pairs_of = {system: distinct(pairs) for system, pairs in sorted(proposed.items())}
    return [
        (system, len(pairs), deepest[system] or "–", percent(number_in(pairs, judged), len(pairs)))
        for system, pairs in pairs_of.items()
    ]


def _bands(release: FrozenRelease, codes: PairCodes, judged: Codes) -> Rows:
    """What was drawn of each sampled pool, by band of ranks; nothing where no pool was sampled."""
    designs = {row["pool_id"]: row["parameters"].get("sample") for row in release.rows("pools")}
    bands: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for row in release.walk("pool_sample"):
        names = ({"query_id": row["query_id"], "document_id": name} for name in row["drawn"])
        graded = number_in(codes.of(names), judged)
        drawn, left = len(row["drawn"]), len(row["not_drawn"])
        bands[row["pool_id"], row["band"]].update(pooled=drawn + left, drawn=drawn, graded=graded)
    return [
        (
            *(
                pool_id[:8],
                _ranks(designs.get(pool_id), band),
                counts_of_band["pooled"],
                counts_of_band["drawn"],
            ),
            *(percent(counts_of_band["drawn"], counts_of_band["pooled"]), counts_of_band["graded"]),
        )
        for (pool_id, band), counts_of_band in sorted(bands.items())
    ]


def _ranks(design: Mapping[str, Any] | None, band: int) -> str:
    """The ranks of a band, from its pool's design."""
    if design is None:
        return f"band {band}"
    lasts = [0, *(last for last, _ in design["bands"])]
    return f"{lasts[band - 1] + 1:,} to {lasts[band]:,}"


def _split(release: FrozenRelease) -> dict[str, Any]:
    """What an exhaustive search across the parts found. Naming a pair would reveal its grades."""
    split = release.rows("split")[0]
    groups = Counter(query["group"] for query in release.rows("queries"))
    return {
        "split": split,
        "asked_parts": ", ".join(
            f"{part} {share:g}" for part, share in sorted(split["parameters"]["parts"].items())
        ),
        "groups": len(groups),
        "largest": max(groups.values(), default=0),
        "ties": [
            (
                check["kind"] if check["looked_for"] else f"{check['kind']} (for information only)",
                "–" if check["compared"] is None else check["compared"],
                "–" if check["threshold"] is None else f"{check['threshold']:g}",
                "–" if check["highest"] is None else f"{check['highest']['similarity']:.2f}",
                check["crossing"],
                check["cut"],
            )
            for check in split["certificate"]["checks"]
        ],
    }


def _figure(figures: Mapping[str, Any], key: str) -> tuple[str, str, int]:
    """Value, interval and size of a figure; an unknown figure has its reason instead."""
    if figures[key] is None:
        return f"undefined: {figures['undefined']}", "–", figures["units"]
    few = " (too few pairs for a figure)" if figures["too_few"] else ""
    if figures["low"] is None:
        return f"{figures[key]:.3f}{few}", f"none: {figures['no_interval']}", figures["units"]
    return f"{figures[key]:.3f}{few}", f"{figures['low']:.3f} to {figures['high']:.3f}", figures["units"]


def _check(check: Mapping[str, Any]) -> str:
    """What a project demanded of a figure, and what it was."""
    wanted = f"{check['figure']}: {check['wanted']:g}; "
    if check["value"] is None:
        return f"{wanted}{check['state']} ({check['why']})."
    return f"{wanted}{check['state']}, at {check['value']:.3f} on {check['n']:,}."


def _probability(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "none"


def listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Lines:
    """A Markdown table; cells stay on their line and in their column."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in lines]


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
