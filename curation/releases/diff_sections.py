"""The difference between two releases as sentences and tables, for the terminal and an HTML page."""

from __future__ import annotations

from dataclasses import replace

from curation.core.characters import isolate
from curation.core.reports.page import Section
from curation.core.reports.tables import QueryName, Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import pluralize
from curation.releases.diff import UNEXPLAINED, Diff
from curation.releases.gate_override import mark_name, warn_of_override
from curation.releases.part_rows import Rows, get_pair

CHANGED = (
    "Changes that the releases record for these grades. A listed change is not necessarily the reason "
    "for a new grade."
)
DOCUMENTS = "Documents in both corpora whose text differs. Documents with the most grades come first."
LIMIT = 50
"""Default maximum number of rows of a table."""


def make_title(diff: Diff) -> str:
    """Return a title with the names of both releases, marked if they were frozen despite the gate."""
    old, new = (mark_name(release.name, release.mark) for release in (diff.old, diff.new))
    return f"From release {old} to {new}"


def list_diff_findings(diff: Diff) -> list[str]:
    """Summarize the difference: queries, grades, documents and agreement."""
    if diff.same:
        return [f"{diff.old.name} and {diff.new.name} have the same content."]
    old, new = diff.old, diff.new
    sentences = [
        *(line for release in (old, new) for line in warn_of_override(release.name, release.mark)),
        f"{_arrow_text(sum(old.queries.values()), sum(new.queries.values()))} queries, "
        f"{_arrow_text(sum(old.grades.values()), sum(new.grades.values()))} grades, "
        f"{_arrow_text(old.documents, new.documents)} documents in the corpus.",
        f"Queries: {len(diff.queries_in):,} new, {len(diff.queries_out):,} gone, {len(diff.reworded):,} "
        f"reworded, {len(diff.moves):,} moved to another part of the split.",
        _grades_sentence(diff),
    ]
    if diff.sealed:
        condition = "To see sealed grades, give a reason. The reason is logged."
        sentences.append(f"{diff.sealed:,} of the changed grades are in a sealed part. {condition}")
    if diff.not_compared:
        count = pluralize(diff.not_compared, "query", "queries")
        sentences.append(f"The grades of {count} are not compared: a packed release lacks sealed grades.")
    documents = diff.documents
    sentences.append(
        f"Documents: {len(documents['gone']):,} gone, {len(documents['new']):,} new, "
        f"{len(documents['changed']):,} with a different text, {diff.documents_kept:,} unchanged."
    )
    name, figures = next(iter(diff.agreement.items()))
    before, after = ("unknown" if figure.value is None else figure.text() for figure in figures)
    return [*sentences, f"Agreement, {name}: {before} → {after}."]


def make_diff_sections(diff: Diff, limit: int = LIMIT) -> list[Section]:
    """Return the non-empty sections about the difference between two releases, in reading order."""
    sections = [
        Section("Grades", _grades_sentence(diff), (), _grade_tables(diff, limit), _sealed_remark(diff)),
        Section("What changed", CHANGED, (), (_change_table(diff),)),
        Section("Queries", _queries_sentence(diff), (), _query_tables(diff, limit)),
        Section("Documents", DOCUMENTS, (), _document_tables(diff, limit)),
        Section("Agreement", "The agreement of the labels of each release.", (), (_agreement_table(diff),)),
        Section("Made with", "Settings that differ.", (), (_setting_table(diff, limit),)),
    ]
    tables = [tuple(table for table in section.tables if table.rows) for section in sections]
    return [replace(section, tables=full) for section, full in zip(sections, tables, strict=True) if full]


def _grades_sentence(diff: Diff) -> str:
    higher, lower, new, gone = (
        sum(counts[name] for counts in diff.grades.values()) for name in ("higher", "lower", "new", "gone")
    )
    return (
        f"Grades of common queries: {higher + lower:,} differ ({higher:,} higher, {lower:,} lower), "
        f"{new:,} new, {gone:,} gone."
    )


def _sealed_remark(diff: Diff) -> str:
    if diff.opened is not None:
        return f"Reason for opening the seal: “{isolate(diff.opened)}”."
    return f"The counts include {diff.sealed:,} sealed grades, which this table hides." if diff.sealed else ""


def _queries_sentence(diff: Diff) -> str:
    if not diff.moves:
        return "No query of both releases moved to another part of the split."
    return (
        f"{pluralize(len(diff.moves), 'query', 'queries')} moved to a different part of the split. A system "
        "that was tuned on a query's old part has seen the query."
    )


def _grade_tables(diff: Diff, limit: int) -> tuple[Table, ...]:
    columns = ("part", "as before", "higher", "lower", "newly graded", "grade gone", "sealed")
    rows = tuple((part, *counts.values()) for part, counts in diff.grades.items())
    return (
        Table("Grades of queries in both releases, by part", columns, rows),
        _pair_table("Other grades", diff.regrades, limit),
        _pair_table("Newly graded", diff.pairs_new, limit),
        _pair_table("No grade now", diff.pairs_gone, limit),
    )


def _pair_table(caption: str, rows: Rows, limit: int) -> Table:
    columns = ("query", "query id", "document", "part", "grade", "how", "document is", "what changed")
    cells = (
        (
            *(QueryName(row["text"], row["query_id"], row["document_id"]), *get_pair(row), row["part"]),
            f"{_grade_text(row['before'])} → {_grade_text(row['after'])}",
            " → ".join(row[how] or "–" for how in ("how_before", "how_after")),
            *(row["document"] or "the same", row["change"] or UNEXPLAINED),
        )
        for row in rows[:limit]
    )
    return Table(_caption_of(caption, len(rows), limit), columns, tuple(cells))


def _change_table(diff: Diff) -> Table:
    rows = sorted(diff.changes.items(), key=lambda row: (-row[1], row[0]))
    return Table("Changed, new and gone grades", ("what changed", "grades"), tuple(rows))


def _query_tables(diff: Diff, limit: int) -> tuple[Table, ...]:
    moves = tuple(
        (QueryName(row["text"], row["query_id"]), row["query_id"], f"{row['before']} → {row['after']}")
        for row in diff.moves[:limit]
    )
    texts = ((row["query_id"], row["before"], row["after"]) for row in diff.reworded[:limit])
    reworded = tuple((QueryName(query_id, query_id), *before_after) for query_id, *before_after in texts)
    return (
        _one_sided_table("Came", diff.queries_in, limit),
        _one_sided_table("Left", diff.queries_out, limit),
        Table(_caption_of("Moved", len(diff.moves), limit), ("query", "query id", "part"), moves),
        Table(_caption_of("Reworded", len(diff.reworded), limit), ("query id", "before", "after"), reworded),
    )


def _one_sided_table(caption: str, rows: Rows, limit: int) -> Table:
    cells = tuple(
        (QueryName(row["text"], row["query_id"]), row["query_id"], row["part"], row["grades"], row["reason"])
        for row in rows[:limit]
    )
    columns = ("query", "query id", "part", "grades", "why")
    return Table(_caption_of(caption, len(rows), limit), columns, cells)


def _document_tables(diff: Diff, limit: int) -> tuple[Table, ...]:
    captions = {"Gone": "gone", "New": "new", "Documents with a different text": "changed"}
    parts = ((caption, diff.documents[key]) for caption, key in captions.items())
    return tuple(
        Table(_caption_of(caption, len(grades), limit), ("document", "grades"), tuple(grades.items())[:limit])
        for caption, grades in parts
    )


def _agreement_table(diff: Diff) -> Table:
    columns = ("figure", f"{diff.old.name}", "95 %", "n", f"{diff.new.name}", "95 %", "n")
    rows = ((name, *_cells(before), *_cells(after)) for name, (before, after) in diff.agreement.items())
    return Table("Agreement before and after", columns, tuple(rows))


def _cells(figure: Estimate) -> tuple[object, ...]:
    interval = figure.interval() if figure.has_interval else figure.why or "–"
    return figure.value, interval, figure.n


def _setting_table(diff: Diff, limit: int) -> Table:
    rows = tuple((what, *map(_cut, values)) for what, values in diff.settings.items())[: max(limit, LIMIT)]
    return Table("What differs", ("what", "before", "after"), rows, words=True)


def _caption_of(caption: str, count: int, limit: int) -> str:
    return f"{caption}: {count:,}" + (f", the first {limit:,} shown" if count > limit else "")


def _grade_text(grade: int | None) -> str:
    return "–" if grade is None else str(grade)


def _cut(text: str | None, most: int = 120) -> str:
    if text is None:
        return "–"
    return text if len(text) <= most else f"{text[:most]}…"


def _arrow_text(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} → {after:,}"
