"""The export format full: a Parquet table for each part of the release, with document texts and fields.

The export has the text of each query, also of queries whose grades are left out. For a query without exported
grades, no other part has a row, and no figure depends on its relevant documents. `release.json` has the
checksum of each frozen part, and the release id is computed from these checksums. For a part that lacks rows,
`release.json` also has the checksum of the exported rows. So anybody who has all grades can compute the
release id again (`releases.packed`).

A checksum can reveal only a handful of unknown grades: somebody who has all other rows of a release could try
all possible grades of a few pairs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.digests import canonical_json
from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.packed import PACKED, RELEASE, TEXT_COLUMNS
from curation.releases.part_tables import write_part
from curation.store.release_parts import PartText

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

WITHOUT_RELEVANT = dict.fromkeys(("dispersion", "alignment", "cell"))
"""Coverage figures of a query that depend on its relevant documents."""

READING = """\
gold = pd.read_parquet("queries.parquet").query("part == @sys.argv[1]")
strata = pd.read_json(io.StringIO(pd.read_parquet("sampling.parquet").report[0])).set_index("name")
evaluated = gold.groupby("stratum").stratum.transform("size") / gold.stratum.map(strata.drawn)
gold["traffic_weight"] = gold.traffic / (gold.inclusion_probability * evaluated)
gold = gold.merge(pd.read_parquet("qrels.parquet"), on="query_id")
gold = gold.rename(columns={"document_id": "doc_id", "grade": "relevance"})"""


class _WholeDocuments:
    """The rows of the part 'documents', with all fields of each document."""

    def __init__(self, source: ExportSource) -> None:
        self._source = source

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rows = self._source.release.walk("documents")
        for row, document in zip(rows, self._source.documents(), strict=True):
            yield {**row, **{name: getattr(document, name) for name in TEXT_COLUMNS}}


def write_full(folder: Path, source: ExportSource) -> Written:
    """Write a Parquet table for each part that has rows, and the file `release.json`."""
    closed = frozenset(name for name, part in source.query_parts.items() if part not in source.parts)
    parts: dict[str, dict[str, Any]] = {}
    rows: dict[str, int] = {}
    file = source.release.file
    for part, text in sorted(source.release.texts.items()):
        exported = PartText.of_rows(_open_rows(text, part, closed)) if closed else text
        frozen = file.parts[part] if file else text.sums
        parts[part] = {"sha256": frozen.sha256, "lines": frozen.lines}
        if exported.sums.sha256 != frozen.sha256:
            parts[part]["here"] = exported.sums.sha256
        has_texts = part == "documents"
        name = f"{part}.parquet"
        full_rows = _WholeDocuments(source) if has_texts else exported
        if count := write_part(folder / name, full_rows, TEXT_COLUMNS if has_texts else ()):
            rows[name] = count
    release_id = source.release.row.release_id
    description = {"packed": PACKED, "release_id": release_id, "parts": parts, "with_grades": source.parts}
    content = json.dumps(description, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / RELEASE).write_text(f"{content}\n", encoding="utf-8")
    configs = {name.removesuffix(".parquet"): {"rows": name} for name in rows}
    return Written({**configs, "default": configs.get("qrels", configs["queries"])}, rows=rows)


def _open_rows(rows: Iterable[dict[str, Any]], part: str, closed: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part of the release, leaving out rows that reveal grades of the queries in
    `closed`."""
    for row in rows:
        if part == "split":
            yield _open_split(row, closed)
        elif part == "queries" or closed.isdisjoint(map(row.get, ("query_id", "query_a", "query_b"))):
            yield row
        elif part == "query_coverage":
            yield {**row, **WITHOUT_RELEVANT}


def _open_split(row: dict[str, Any], closed: frozenset[str]) -> dict[str, Any]:
    """Return the row of the split, with a certificate that names none of the documents of queries in
    `closed`."""
    from curation.splits.certificate import parse_certificate
    from curation.splits.sealed_ties import hide_sealed_documents

    certificate = parse_certificate(canonical_json(row), "The release")
    visible = hide_sealed_documents(certificate, closed)
    return {**row, "certificate": json.loads(canonical_json(asdict(visible)))}


FULL = ExportFormat(
    "full",
    write_full,
    sealed_by_default=False,
    reading=READING,
    readers="Everything that was frozen, as Parquet: votes, probabilities, traffic, tags, answers, pools, "
    "documents",
)
