"""Import of a query log from a folder: each file is read once, and all files together form one log.

A file is recognized by its content, because rotated logs change their names.

Each reading of the folder is a separate import, because samples that were drawn earlier do not have the new
rows. A session may go on in the next file, so turned pages and robots' sessions are found in all rows of the
log. Rows that are set aside for their session, or because a different log has the same rows, stay in the
table `traffic_set_aside`. After each new file, the cleaning rules are applied again to the sessions of that
file, and rows move between the tables. The resulting rows are the same as for one file with all lines in the
order of reading.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.ingest.importers.traffic.cleaning import CleaningRules, judge_sessions
from curation.ingest.importers.traffic.known_rows import KNOWN, KNOWN_ROWS, refuse_grown_log
from curation.ingest.importers.traffic.stored_rows import NO_COUNTS, append_traffic, read_key, store_log
from curation.ingest.importers.traffic.traffic_import import (
    BATCH,
    FilesRead,
    TrafficImport,
    choose_columns,
    clean_log,
    summarise_import,
)
from curation.ingest.readers.bounds import BoundedGzip, OutOfBoundsError
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.folders import compute_checksum, list_files
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.times import check_date_order
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, reading_arrow

MAX_ROWS_AT_ONCE = 5_000_000
"""Number of new rows above which sessions are processed in parts, by the first digit of the session's hash.
"""
_KNOWN_BEFORE = """
SELECT import_id, line, '' AS reason FROM traffic_set_aside
WHERE reason = $known AND list_contains($log, import_id)
"""
_KNOWN_NOW = f"SELECT import_id, line, $known AS reason FROM ({KNOWN_ROWS})"  # noqa: S608  ours
_SESSIONS = """
WITH logged AS (
    SELECT import_id, line, session, time, normalised, count, '' AS reason FROM traffic
    UNION ALL SELECT import_id, line, session, time, normalised, count, reason FROM traffic_set_aside)
SELECT list_position($log, import_id) AS place, line, session, epoch_us(time) AS time, normalised, count,
       reason
FROM logged
WHERE list_contains($log, import_id) AND time IS NOT NULL AND session >= $low AND session < $high
    AND session IN (SELECT session FROM traffic WHERE import_id = $new)
ORDER BY session, time, place, line
"""
_MOVES = (
    "INSERT INTO traffic SELECT * EXCLUDE (reason) FROM traffic_set_aside SEMI JOIN moved_rows USING "
    "(import_id, line)",
    "DELETE FROM traffic_set_aside WHERE (import_id, line) IN (SELECT import_id, line FROM moved_rows)",
    "INSERT INTO traffic_set_aside SELECT t.*, m.reason FROM traffic t JOIN moved_rows m "
    "ON t.import_id = m.import_id AND t.line = m.line WHERE m.reason <> ''",
    "DELETE FROM traffic WHERE (import_id, line) IN (SELECT import_id, line FROM moved_rows WHERE reason <> "
    "'')",
)


class LogFile(NamedTuple):
    """A file of a query log that has been read or will be read."""

    name: str
    size: int
    version: str


def import_log_folder(
    store: Store,
    folder: Path,
    fields: TrafficFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    rules: CleaningRules | None = None,
    author: str = COMMAND_LINE,
) -> TrafficImport:
    """Import the new files of a query log, cleaned by `rules`.

    Raises
    ------
    InputError: the folder has no files, a known file has changed, or a file cannot be read or has different
        fields. Nothing is imported.
    RefusedError: see `import_traffic`; or a different process imported the log at the same time.
    """
    requested, layout, rules = fields or TrafficFields(), layout or FileLayout(), rules or CleaningRules()
    check_date_order(requested.date_order)
    folder = folder.absolute()
    log_id = digest("traffic log", str(folder), layout, asdict(requested), asdict(rules))
    files = list_files(folder)
    with store.reading() as cursor:
        import_of_file, columns = _read_files(cursor, log_id), _read_fields(cursor, log_id)
        key = read_key(cursor)
    import_ids = [*dict.fromkeys(import_of_file.values())]
    new_files, files_read = _find_new_files(files, import_of_file)
    if columns is not None and not new_files:
        with store.reading() as cursor:
            imported = summarise_import(cursor, import_ids[-1], folder.name, columns)
        return replace(imported, files=files_read)
    import_id = digest("traffic files", log_id, new_files)
    counts = NO_COUNTS
    with tempfile.TemporaryDirectory(prefix="goldgrade-") as temporary:
        paths = [Path(temporary) / f"{number}.parquet" for number in range(len(new_files))]
        for file, path in zip(new_files, paths, strict=True):
            records = Records(files[file.name], layout, progress, is_log=True)
            columns = _choose_fields(records, requested, columns)
            # A session may continue in another file, so rules about sessions wait until all rows are stored.
            table, counted = clean_log(records, columns, import_id, rules.without_sessions, key, counts.lines)
            counts = counts.plus(counted)
            pq.write_table(table, path)
        with store.transaction(appends=True, large=True) as cursor:
            if _read_files(cursor, log_id) != import_of_file:
                raise RefusedError(
                    "Another process imported this log at the same time. Nothing changed; import the log "
                    "again."
                )
            append_traffic(cursor, _read_batches(paths), counts, key)
            store_log(cursor, import_id, folder.name, 0, counts, author)
            append_rows(
                *(cursor, "traffic_files", new_files),
                import_id=import_id,
                log_id=log_id,
                reading=len(import_ids) + 1,
                fields=canonical_json(_named_columns(columns or requested)),
            )
            _apply_rules(cursor, [*import_ids, import_id], rules)
            imported = summarise_import(cursor, import_id, folder.name, columns or requested)
    return replace(imported, is_new=True, files=files_read, **counts.of_reading)


def _read_files(cursor: Cursor, log_id: str) -> dict[LogFile, str]:
    """Return the imported files of a query log in order, each with its import's id."""
    sql = "SELECT name, size, version, import_id FROM traffic_files WHERE log_id = ? ORDER BY reading, name"
    return {LogFile(*row[:3]): row[3] for row in cursor.execute(sql, [log_id]).fetchall()}


def _read_fields(cursor: Cursor, log_id: str) -> TrafficFields | None:
    """Return which columns held the fields in a query log's earlier files; None before the first import."""
    sql = "SELECT any_value(fields) FROM traffic_files WHERE log_id = ?"
    [(fields_json,)] = cursor.execute(sql, [log_id]).fetchall()
    fields = json.loads(fields_json) if fields_json else None
    return TrafficFields(**{**fields, "metadata": tuple(fields["metadata"])}) if fields else None


def _find_new_files(
    files: Mapping[str, Path], known: Mapping[LogFile, str]
) -> tuple[list[LogFile], FilesRead]:
    """Return the files with new content, and count the new, known and missing files.

    Raises
    ------
    InputError: a known file has changed, and no file has its former content.
    """
    name_of_version = {file.version: file.name for file in reversed([*known])}
    read_before = {(file.name, file.version) for file in known}
    known_versions, present = dict(name_of_version), set[str]()
    new_files: list[LogFile] = []
    known_names: dict[str, str] = {}
    for name, path in files.items():
        version = _compute_version(path, known_versions)
        present.add(version)
        if version not in known_versions:
            new_files.append(LogFile(name, path.stat().st_size, version))
            known_versions[version] = name
        elif (name, version) not in read_before:
            known_names[name] = known_versions[version]
    versions = {file.name: file.version for file in known}
    changed = [file.name for file in new_files if versions.get(file.name, file.version) not in present]
    if changed:
        more = f", and {len(changed) - 1:,} others" if len(changed) > 1 else ""
        problem = (
            f"has changed since it was imported{more}. Nothing was imported, because rows would count twice"
        )
        first_import = next(iter(known.values()))
        raise InputError(
            [problem],
            path=files[changed[0]],
            way_out="Put new rows into a new file, and restore the imported file. Or delete the log, and "
            "import all files of the log again.",
            command=f"`goldgrade import traffic --delete {first_import[:8]}` deletes the log.",
        )
    missing = name_of_version.keys() - present
    return new_files, FilesRead(len(new_files), len(name_of_version), len(missing), known_names)


def _compute_version(path: Path, known_versions: Container[str]) -> str:
    """Return the SHA-256 of a file, or of its unpacked content if a known file was gzipped."""
    version = compute_checksum(path)
    if version not in known_versions and path.suffix == ".gz":
        failures = OSError, EOFError, zlib.error, OutOfBoundsError
        with suppress(*failures), BoundedGzip(path) as file:
            unzipped = hashlib.file_digest(file, "sha256").hexdigest()  # reading reports damage
            return unzipped if unzipped in known_versions else version
    return version


def _choose_fields(
    records: Records, requested: TrafficFields, earlier: TrafficFields | None
) -> TrafficFields:
    """Choose the columns of the log's next file; reject columns that differ from the columns of earlier
    files."""
    fields = choose_columns(records, requested)
    if earlier is not None and _named_columns(fields) != _named_columns(earlier):
        used = (columns.used.items() for columns in (fields, earlier))
        file_columns, earlier_columns = (", ".join(map(" ".join, pairs)) for pairs in used)
        records.problems.stop(
            f"line 1: the file has the fields {file_columns}; the files before it have {earlier_columns}",
            "Name the fields with --map query=COLUMN, --map time=COLUMN and so on, or import this file as "
            "a separate log.",
        )
    return earlier or fields


def _read_batches(paths: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH)


def _named_columns(fields: TrafficFields) -> dict[str, Any]:
    return asdict(replace(fields, columns=()))


# ── Rules that look at several rows ─────────────────────────────────────────────────────────────


def _apply_rules(cursor: Cursor, import_ids: list[str], rules: CleaningRules) -> None:
    """Apply the cleaning rules to all rows of a query log after its newest import."""
    changed_imports = {import_ids[-1]}
    parameters = {"log": import_ids, "known": KNOWN}
    changed_imports |= _move_rows(cursor, cursor.sql(_KNOWN_BEFORE, params=parameters).to_arrow_table())
    for low, high in _session_bounds(cursor, import_ids[-1]):
        changed_imports |= _move_rows(cursor, _changed_rows(cursor, import_ids, rules, low, high))
    other_logs = cursor.execute(
        "SELECT 1 FROM traffic_imports WHERE NOT list_contains($log, import_id) LIMIT 1", {"log": import_ids}
    )
    if other_logs.fetchall() and not rules.known_rows:
        refuse_grown_log(cursor, import_ids)
        changed_imports |= _move_rows(cursor, cursor.sql(_KNOWN_NOW, params=parameters).to_arrow_table())
    for import_id in sorted(changed_imports):
        _store_counts(cursor, import_id, {KNOWN, *rules.of_sessions})


def _session_bounds(cursor: Cursor, import_id: str) -> Iterator[tuple[str, str]]:
    """Yield lower and upper bounds of session hashes that divide the rows into parts."""
    [(rows,)] = cursor.execute("SELECT count(*) FROM traffic WHERE import_id = ?", [import_id]).fetchall()
    bounds = [*"0123456789abcdefg"] if rows > MAX_ROWS_AT_ONCE else ["0", "g"]
    yield from pairwise(bounds)


def _changed_rows(cursor: Cursor, imports: list[str], rules: CleaningRules, low: str, high: str) -> pa.Table:
    """Return the rows, in sessions of the newest import, for which the reason for setting them aside has
    changed."""
    parameters = {"log": imports, "new": imports[-1], "low": low, "high": high}
    rows = cursor.sql(_SESSIONS, params=parameters).to_arrow_table()
    sessions, queries = (
        rows[name].combine_chunks().dictionary_encode().indices.to_numpy()
        for name in ("session", "normalised")
    )
    counts_one = rows["count"].to_numpy() == 1
    verdicts = judge_sessions(sessions, rows["time"].to_numpy(), queries, counts_one, rules)
    reasons = pa.array(["", *rules.of_sessions])
    indexes = np.flatnonzero(verdicts != pc.index_in(rows["reason"], reasons).to_numpy())
    changed = rows.take(indexes)
    import_ids = pa.array(imports).take(pc.subtract(changed["place"].combine_chunks(), 1))
    new_reasons = reasons.take(pa.array(verdicts[indexes]))
    return pa.table({"import_id": import_ids, "line": changed["line"], "reason": new_reasons})


def _move_rows(cursor: Cursor, rows: pa.Table) -> set[str]:
    """Move rows to the table for their reason ('' is the traffic); return the ids of their imports."""
    if not rows.num_rows:
        return set()
    with reading_arrow(cursor, moved_rows=rows):
        for statement in _MOVES:
            cursor.execute(statement)
    return set(rows["import_id"].unique().to_pylist())


def _store_counts(cursor: Cursor, import_id: str, changing: set[str]) -> None:
    """Store how many rows an import has, and how many were set aside for each reason that may change."""
    sql = "SELECT left_out FROM traffic_imports WHERE import_id = ?"
    [(left_out,)] = cursor.execute(sql, [import_id]).fetchall()
    counts = {reason: count for reason, count in json.loads(left_out).items() if reason not in changing}
    counts_sql = "SELECT reason, count(*) FROM traffic_set_aside WHERE import_id = ? GROUP BY reason"
    counts |= dict(cursor.execute(counts_sql, [import_id]).fetchall())
    cursor.execute(
        "UPDATE traffic_imports SET left_out = $left_out, rows = (SELECT count(*) FROM traffic WHERE "
        "import_id = $import) WHERE import_id = $import",
        {"left_out": canonical_json(counts), "import": import_id},
    )
