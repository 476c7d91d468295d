"""The data-set card: what a release is and how far it can be trusted, written from its content alone.

The manifest in the project adds how many grades were half judged; a packed release has no manifest.

The sections follow what data sheets ask for (Gebru and others 2021, Datasheets for Datasets): where the
queries come from, who labelled and how well they agree, what is covered, what is not known. No person is
named: a release knows none. Figures that are undefined say why, and each figure has its size next to it.

The words are in the template `card.md`; here is what it is filled with.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from curation.agreement.annotators.intra_annotator import IntraAgreement, pooled_consistency
from curation.core.text import amount
from curation.people.seal_access import sealed_parts
from curation.releases.card.limits import limits_of
from curation.releases.card.markdown import counts, listed, percent, table
from curation.releases.coverage import about_grid, about_map, released_coverage
from curation.releases.pairs import Codes, PairCodes, distinct, documents_of, number_in
from curation.releases.release_rows import mark_sentence
from curation.releases.verify import FrozenRelease

UNKNOWN = "unknown"
FEW_TAGS = 20

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Card:
    """The card of an opened release; `licence` is what its owner says."""

    release: FrozenRelease
    licence: str = UNKNOWN

    @property
    def text(self) -> str:
        """Markdown, without front matter."""
        release = self.release
        return template(__package__, "card.md").render(
            release=release,
            header=release.header,
            licence=self.licence,
            limits=self.limits,
            mark=mark_sentence(release.row.name, release.mark),
            **_contents(release),
            **_labels(release),
            **_agreement(release.rows("agreement")[0]),
            **_coverage(release),
            **_split(release),
        )

    @property
    def limits(self) -> list[str]:
        """What somebody who uses the release must know, as sentences."""
        return limits_of(self.release) or ["None that follows from the data."]


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
    environment.globals |= {"amount": amount, "counts": counts, "listed": listed, "percent": percent}
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


def _agreement(found: Mapping[str, Any]) -> dict[str, Any]:
    between = found["between"]
    alphas = [
        (f"Krippendorff's alpha, {level}", *_figure(between[level], "alpha"))
        for level in ("ordinal", "interval", "nominal")  # the interval level: in older releases only
        if level in between
    ]
    return {
        "agreement": found,
        "figures": [*alphas, ("equal grades among pairs of grades", *_figure(between["raw"], "share"))],
        "consistency": _consistency(found["within"]),
        "gate": [_check(check) for check in found["gate"]],
    }


def _consistency(rows: list[dict[str, Any]]) -> str:
    found = pooled_consistency([IntraAgreement(**row) for row in rows])
    if found.identical is None:
        why = sorted({str(row["undefined"]) for row in rows}) or ["nobody judged"]
        return f"undefined ({'; '.join(why)})"
    return f"{found.identical:.1%} of {found.n:,} blind duplicates were graded alike"


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
    found = released_coverage(release)
    if found is None:
        return "No coverage map was frozen: which regions of the corpus nothing tests is unknown."
    return f"{about_map(found)} {about_grid(found)}".rstrip()


def _systems(release: FrozenRelease, codes: PairCodes, judged: Codes) -> Rows:
    """System, pairs that it proposed, its deepest rank, and the share of them that has a grade."""
    proposed: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    deepest: Counter[str] = Counter()
    for row in _pooled(release):
        proposed[row["system"]].append(codes.code(row["query_id"], row["document_id"]))
        deepest[row["system"]] = max(deepest[row["system"]], row["rank"] or 0)
    found = {system: distinct(pairs) for system, pairs in sorted(proposed.items())}
    return [
        (system, len(pairs), deepest[system] or "–", percent(number_in(pairs, judged), len(pairs)))
        for system, pairs in found.items()
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
            *(pool_id[:8], _ranks(designs.get(pool_id), band), found["pooled"], found["drawn"]),
            *(percent(found["drawn"], found["pooled"]), found["graded"]),
        )
        for (pool_id, band), found in sorted(bands.items())
    ]


def _ranks(design: Mapping[str, Any] | None, band: int) -> str:
    """The ranks of a band, from its pool's design."""
    if design is None:
        return f"band {band}"
    lasts = [0, *(last for last, _ in design["bands"])]
    return f"{lasts[band - 1] + 1:,} to {lasts[band]:,}"


def _split(release: FrozenRelease) -> dict[str, Any]:
    """What an exhaustive look across the parts found; no pair is named, as that would tell of its grades."""
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


def _figure(found: Mapping[str, Any], key: str) -> tuple[str, str, int]:
    """Value, interval and size of a figure; why where there is none."""
    if found[key] is None:
        return f"undefined: {found['undefined']}", "–", found["units"]
    few = " (too few pairs for a figure)" if found["too_few"] else ""
    if found["low"] is None:
        return f"{found[key]:.3f}{few}", f"none: {found['no_interval']}", found["units"]
    return f"{found[key]:.3f}{few}", f"{found['low']:.3f} to {found['high']:.3f}", found["units"]


def _check(check: Mapping[str, Any]) -> str:
    """What a project demanded of a figure, and what it was."""
    wanted = f"{check['figure']}: {check['wanted']:g}; "
    if check["value"] is None:
        return f"{wanted}{check['state']} ({check['why']})."
    return f"{wanted}{check['state']}, at {check['value']:.3f} on {check['n']:,}."


def _probability(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
