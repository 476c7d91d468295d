"""The data-set card, which says how a release was made and how far it can be trusted.

The data-set card is written only from the content of the release. The number of grades that lack planned
opinions comes from the manifest in the project, which a packed release does not have. The templates `card.md`
and `limits.md` contain the text.

The sections follow Gebru and others (2021), Datasheets for Datasets: the origin of the queries, the
annotators and their agreement, the coverage, and the unknown facts. The data-set card names no person,
because a release contains no names. The card gives a reason for each undefined figure, and the sample size
next to each figure.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from curation.agreement.intra_annotator import IntraAgreement, pool_consistency
from curation.core.text import pluralize
from curation.people.seal_access import list_sealed_parts
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE
from curation.queries.unanswerable import describe_share
from curation.releases.coverage import describe_grid, describe_map, read_coverage
from curation.releases.frozen_release import FrozenRelease
from curation.releases.gate_override import warn_of_override
from curation.releases.pair_codes import Codes, PairCodes, count_common, count_documents, sort_codes
from curation.releases.part_rows import find_without_relevant, get_pair
from curation.releases.release_rows import count_half_judged, say_half_judged

if TYPE_CHECKING:
    from jinja2 import Template

UNKNOWN = "unknown"
FEW_TAGS = 20
TableRows = list[tuple[Any, ...]]
"""Type of the rows of a Markdown table in the card."""


def say_synthetic(synthetic: int, queries: int) -> str:
    """Return sentences on how many queries language models wrote, and on what this means for scores over
    these queries."""
    return (
        f"{synthetic:,} of {queries:,} queries ({share_text(synthetic, queries)}) were written by a language "
        "model, not asked by anybody. Report figures on these queries separately."
    )


def share_text(count: int, total: int) -> str:
    """Return a share in percent; 'undefined' if the total is 0."""
    return f"{count / total:.1%}" if total else "undefined"


@cache
def load_template(package: str | None, name: str) -> Template:
    """Load a Markdown template from the files of a package."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(str(package), "."),
        autoescape=False,  # noqa: S701 it is Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"n": "{:,}".format, "cell": _escape_cell}
    environment.globals |= {"amount": pluralize, "percent": share_text, "synthetic_sentence": say_synthetic}
    return environment.get_template(name)


def list_limits(release: FrozenRelease) -> list[str]:
    """List the known limits of a release, as sentences for users of the data set."""
    codes = PairCodes()
    pairs, judged = codes.encode_rows(release.walk("candidates")), codes.encode_rows(release.walk("qrels"))
    origins = Counter(row["how"] for row in release.walk("qrels"))
    closed = release.closed_queries
    queries = [row for row in release.rows("queries") if row["query_id"] not in closed]
    relevant_grade = release.rows("split")[0]["parameters"]["relevant_grade"]
    text = load_template(__package__, "limits.md").render(
        header=release.header,
        closed=len(closed),
        queries=len(queries),
        lacking=len(find_without_relevant(queries, release.walk("qrels"), relevant_grade)),
        relevant_grade=relevant_grade,
        origins=origins,
        grades=origins.total(),
        agreement=release.rows("agreement")[0],
        kinds=sorted({row["kind"] for row in release.rows("rounds")}),
        pairs=len(pairs),
        open_pairs=len(pairs) - count_common(pairs, judged),
        sampled_pool=any(True for _ in release.walk("pool_sample")),
        half_judged=say_half_judged(count_half_judged(release.row)),
        mark=warn_of_override("It", release.mark),
        sources=Counter(row["source"] for row in release.rows("queries")),
        sampled=bool(release.rows("sampling")),
    )
    return text.splitlines()


def write_card(release: FrozenRelease, licence: str = UNKNOWN) -> str:
    """Write the data-set card in Markdown, without front matter. `licence` is the owner's licence."""
    agreement = release.rows("agreement")[0]
    return load_template(__package__, "card.md").render(
        release=release,
        header=release.header,
        licence=licence,
        sealed=list_sealed_parts(release.header),
        limits=list_limits(release),
        mark=warn_of_override(release.row.name, release.mark),
        samples=release.rows("sampling"),
        guides=release.rows("guides"),
        agreement=agreement,
        consistency=_describe_consistency(agreement["within"]),
        split=release.rows("split")[0],
        **_count_queries(release),
        **_count_labels(release),
        **_measure_coverage(release),
    )


def _escape_cell(value: Any) -> str:
    """Escape a text as a cell of a Markdown table."""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.split()).replace("|", "\\|")


def _count_queries(release: FrozenRelease) -> dict[str, Any]:
    queries = release.rows("queries")
    tags = Counter(tag for query in queries for tag in query["tags"])
    groups = Counter(query["group"] for query in queries)
    return {
        "queries": len(queries),
        "sources": Counter(query["source"] for query in queries),
        "models": Counter(query["written_by"]["model"] for query in queries if "written_by" in query),
        "tags": dict(tags.most_common(FEW_TAGS)),
        "unanswerable": describe_share(tags[UNANSWERABLE], len(queries)),
        "answers": len(release.rows("answers")),
        "groups": len(groups),
        "largest": max(groups.values(), default=0),
    }


def _count_labels(release: FrozenRelease) -> dict[str, Any]:
    rows = release.walk("judgments")
    judgments = Counter((row["annotator"], row["kind"] == "cannot_tell", row["duplicate"]) for row in rows)
    return {
        "people": len({annotator for annotator, *_ in judgments}),
        "judgments": judgments.total(),
        "unclear": sum(count for (_, unclear, _), count in judgments.items() if unclear),
        "repeats": sum(count for (*_, repeat), count in judgments.items() if repeat),
        "rounds": Counter(row["kind"] for row in release.rows("rounds")),
        "decided": len(release.rows("adjudications")),
        "origins": Counter(row["how"] for row in release.walk("qrels")),
        "evidence": len(set(map(get_pair, release.walk("evidence")))),
    }


def _describe_consistency(rows: list[dict[str, Any]]) -> str:
    pooled = pool_consistency([IntraAgreement(**row) for row in rows])
    if pooled.identical is None:
        why = sorted({str(row["undefined"]) for row in rows}) or ["nobody judged"]
        return f"undefined ({'; '.join(why)})"
    return f"{pooled.identical:.1%} of {pooled.n:,} blind duplicates were graded alike"


def _measure_coverage(release: FrozenRelease) -> dict[str, Any]:
    codes = PairCodes()
    judged = codes.encode_rows(release.walk("qrels"))
    pooled = codes.encode_rows(_walk_pooled(release)) if release.rows("pools") else None
    coverage = read_coverage(release)
    return {
        "documents": count_documents(judged),
        "regions": coverage and f"{describe_map(coverage)} {describe_grid(coverage)}".rstrip(),
        "pooled": None if pooled is None else len(pooled),
        "pooled_judged": 0 if pooled is None else count_common(pooled, judged),
        "systems": _list_systems(release, codes, judged),
    }


def _walk_pooled(release: FrozenRelease) -> Iterator[dict[str, Any]]:
    """Yield the candidates of a release that come from one of the project's pools."""
    return (row for row in release.walk("candidates") if row["pool_id"] is not None)


def _list_systems(release: FrozenRelease, codes: PairCodes, judged: Codes) -> TableRows:
    """List, for each system, the number of pairs that it proposed, the deepest rank, and the share of these
    pairs with a grade."""
    proposed: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    deepest: Counter[str] = Counter()
    for row in _walk_pooled(release):
        proposed[row["system"]].append(codes.encode(row["query_id"], row["document_id"]))
        deepest[row["system"]] = max(deepest[row["system"]], row["rank"] or 0)
    codes_by_system = {system: sort_codes(pairs) for system, pairs in sorted(proposed.items())}
    return [
        (system, len(pairs), deepest[system] or "–", share_text(count_common(pairs, judged), len(pairs)))
        for system, pairs in codes_by_system.items()
    ]
