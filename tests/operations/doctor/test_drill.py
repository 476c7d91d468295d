"""The restore drill: a backup that cannot be restored is found before it is needed."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.operations.backups.backup import back_up
from curation.operations.backups.content import write_rows
from curation.operations.doctor.doctor import examine
from curation.operations.doctor.drill import rehearse_restore
from curation.store import Store
from curation.store.files import start_engine, stop_engine
from tests.support.blocks import blocks, flip
from tests.support.command_line import invoke
from tests.support.gold_project import frozen_project
from tests.support.stored_parts import alter_part


def drill_findings(store: Store) -> list[tuple[str, str]]:
    return [(one.level, one.sentence) for one in examine(store.path).findings if one.what == "restore drill"]


def test_a_drill_restores_the_newest_backup_and_is_shown_where_leads_look(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    project = ["--project", str(store.path)]
    assert "No restore drill was ever made" in invoke([*project, "status"]).stdout
    with pytest.raises(NotFoundError, match="No backup of this project is known"):
        rehearse_restore(store, tmp_path)
    back_up(store, tmp_path / "older.duckdb")
    taken = back_up(store, tmp_path / "b.duckdb")
    sums = taken.path.read_bytes()
    done = invoke([*project, "backup", str(tmp_path), "--rehearse", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["backup"]) == (0, str(taken.path))
    assert taken.path.read_bytes() == sums
    [(level, sentence)] = drill_findings(store)
    assert (level, "with b.duckdb. All was in order." in sentence) == ("fine", True)
    assert sentence in invoke([*project, "status"]).stdout
    assert not list(tmp_path.glob(".*"))


def test_a_failed_drill_says_what_to_do_ends_with_1_and_stays_in_sight(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    with store.transaction() as cursor:
        alter_part(cursor, "queries", lambda text: f"{text} ")
    taken = back_up(store, tmp_path / "b.duckdb")
    with pytest.raises(RefusedError, match="The release v1 is not as it was frozen: "):
        rehearse_restore(store, tmp_path)
    flip(taken.path, 3)
    done = invoke(["--project", str(store.path), "backup", str(taken.path), "--rehearse"])
    assert (done.exit_code, "altered or cut short" in str(done.exception)) == (1, True)
    [(level, sentence)] = drill_findings(store)
    assert (level, "failed" in sentence, "altered or cut short" in sentence) == ("problem", True, True)


def test_a_written_row_reads_every_block_of_an_index_that_it_needs(tmp_path: Path) -> None:
    """A row that is offered and refused, or rolled back, reads no more than where its key would be."""
    store = frozen_project(tmp_path)
    store.close()
    _, _, rest = blocks(store.path)
    whole, outcomes = store.path.read_bytes(), []
    for number in sorted(rest)[::3]:
        flip(store.path, number)
        engine = start_engine(str(tmp_path / "temporary"))
        engine.execute("ATTACH ? AS project (TYPE DUCKDB)", [str(store.path)]).execute("USE project")
        try:
            write_rows(engine)
            outcomes.append("missed")
        except duckdb.Error as error:
            outcomes.append(str(error)[:21])
        stop_engine(engine)
        store.path.write_bytes(whole)
        Path(f"{store.path}.wal").unlink(missing_ok=True)
    assert outcomes.count("Corrupt database file") >= len(outcomes) - 1 >= 5, "one block is free"
