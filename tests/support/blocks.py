"""The blocks of a project's file: which of them belong to what, and one of them damaged."""

from __future__ import annotations

from pathlib import Path

import duckdb

from curation.operations.whole_file import list_tables
from curation.store.duckdb_format import BLOCK, HEADERS

OF_TABLE = "SELECT unnest(list_append(additional_block_ids, block_id)) FROM pragma_storage_info('{}')"


def blocks(project: Path) -> tuple[set[int], dict[str, set[int]], set[int]]:
    """The blocks of metadata, of each table, and of indexes."""
    with duckdb.connect(":memory:") as engine:
        engine.execute(f"ATTACH '{project}' AS project (READ_ONLY)").execute("USE project")
        rows = engine.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('project')").fetchall()
        tables = {
            name: {number for (number,) in engine.execute(OF_TABLE.format(name)).fetchall()} - {-1}
            for name in list_tables(engine)
        }
    metadata = {number for (number,) in rows}
    used = set(range((project.stat().st_size - HEADERS) // BLOCK))
    return metadata, tables, used - metadata.union(*tables.values())


def flip(project: Path, number: int) -> bytes:
    """Turn one bit of a block; returns the whole file after that."""
    content = bytearray(project.read_bytes())
    content[HEADERS + number * BLOCK + 9_000] ^= 4
    project.write_bytes(content)
    return bytes(content)
