"""Looks at sealed parts: their numbers, their families, repeats, and the logs that list them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from curation.releases.looks import (
    LookList,
    LookQuery,
    SealedLook,
    add_look,
    look_id_of,
    look_lists,
    look_queries,
    looks,
)

from curation.releases.overview import releases, show
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import frozen_project

FIGURES = json.dumps({"ndcg_exp@10": {"value": 0.5, "low": 0.4, "high": 0.6, "n": 12, "judged": 1.0}})
ASKED = {"measures": ["ndcg_exp@10"]}


@pytest.fixture
def gold(tmp_path: Path) -> Iterator[Store]:
    store = frozen_project(tmp_path)
    yield store
    store.close()


def look(store: Store, system: str, run_sum: str, parts: tuple[str, ...] = ("test",)) -> SealedLook:
    with store.reading() as cursor:
        ((release_id,),) = cursor.execute("SELECT release_id FROM releases").fetchall()
    return SealedLook(
        look_id_of(release_id, parts, run_sum, ASKED),
        release_id,
        "v1",
        list(parts),
        system,
        run_sum,
        json.dumps(ASKED),
        FIGURES,
        "the May report",
        "vera",
        datetime(2026, 5, 1, 9),
        unknown=0.125,
        overlap=0.75,
    )


def taken(store: Store, *args: str, parts: tuple[str, ...] = ("test",)) -> tuple[int, int, bool]:
    """The place of a look that is stored now, on its parts and of its family, and whether it is a repeat."""
    asked = look(store, *args, parts=parts)
    with store.transaction(appends=True) as cursor:
        found = add_look(
            cursor,
            asked,
            [LookQuery(asked.look_id, "q-kettle", None, "map")],
            [LookList(asked.look_id, "whole", "q-kettle", 2**63 + 1)],
        )
    return found.number, found.of_family, found.repeated


def test_looks_are_counted_on_the_parts_that_they_share_and_by_family(gold: Store) -> None:
    assert taken(gold, "dense@may", "a") == (1, 1, False)
    assert taken(gold, "bm25", "b") == (2, 1, False)
    assert taken(gold, "dense@june", "c") == (3, 2, False)
    assert taken(gold, "dense", "d", parts=("holdout",)) == (1, 1, False)
    assert taken(gold, "dense", "d", parts=("test", "holdout")) == (5, 4, False)


def test_the_same_run_again_is_no_other_look_even_by_another_name_but_it_is_an_event(gold: Store) -> None:
    assert taken(gold, "dense", "a") == (1, 1, False)
    taken(gold, "bm25", "b")
    assert taken(gold, "new name", "a") == (1, 1, True)
    release_id = look(gold, "dense", "a").release_id
    with gold.reading() as cursor:
        stored = looks(cursor, release_id)
        assert [one.system for one in stored] == ["dense", "bm25"]
        of_first = [stored[0].look_id]
        assert look_queries(cursor, of_first) == [LookQuery(*of_first, "q-kettle", None, "map")]
        assert look_lists(cursor, of_first) == [LookList(*of_first, "whole", "q-kettle", 2**63 + 1)]
        sql = "SELECT detail->>'repeated' FROM events WHERE action = 'look at sealed part' ORDER BY rowid"
        assert [row[0] for row in cursor.execute(sql).fetchall()] == ["false", "false", "true"]


def test_releases_list_their_looks_beside_the_openings_of_the_seal(gold: Store) -> None:
    taken(gold, "dense@may", "a")
    (listed,) = releases(gold)
    assert (listed.openings, listed.looks) == (0, 1)
    (found,) = show(gold, "v1").looks
    assert (found.number, found.system, found.looked_by, found.reason) == (
        1,
        "dense@may",
        "vera",
        "the May report",
    )
    assert found.figures["ndcg_exp@10"]["value"] == 0.5
    done = invoke(["--project", str(gold.path), "release", "show", "v1"], catch_exceptions=False)
    assert "Looks: runs scored on sealed parts" in done.stdout
    for words in ("dense@may", "vera", "0.500", "the May report", "12\u00a0%", "75\u00a0%", "all figures"):
        assert words in done.stdout
    answer = json.loads(invoke(["--project", str(gold.path), "release", "show", "v1", "--json"]).stdout)
    assert answer["looks"][0]["figures"]["ndcg_exp@10"]["n"] == 12
