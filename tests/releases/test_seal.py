"""The seal: sealed grades leave for a reason only, and who had them is written down before they do."""

from __future__ import annotations

import json
import os
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.people.seal_access import Unsealing, list_sealed_parts, read_openings
from curation.releases.export.export_format import Written
from curation.releases.export.export_source import ExportSource
from curation.releases.export.formats import FORMATS
from curation.releases.frozen_release import load_release
from curation.releases.overview import read_overview
from curation.releases.release_list import list_release_overviews
from curation.releases.release_rows import list_releases
from curation.releases.seal import open_sealed
from curation.releases.verify import verify
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, append
from tests.support.command_line import invoke
from tests.support.freezing import export, freeze
from tests.support.gold_project import frozen_project, gold_project
from tests.support.projects import add_names, per_test, rows_of
from tests.support.stored_parts import alter_part

UMASK = os.umask(0)
os.umask(UMASK)
gold = per_test(frozen_project)


def test_exported_sealed_grades_are_readable_by_who_took_them_only(gold: Store, tmp_path: Path) -> None:
    def modes(out: Path) -> set[str]:
        return {oct(path.stat().st_mode & 0o077) for path in [out, *out.rglob("*")]}

    export(gold, "v1", "beir", tmp_path / "all", reason="a test")
    export(gold, "v1", "beir", tmp_path / "dev", without_grades=["test"])
    assert modes(tmp_path / "all") == {"0o0"}
    assert modes(tmp_path / "dev") == {oct(0o77 & ~mask) for mask in (UMASK, UMASK | 0o011)}


def test_releases_and_openings_are_in_the_order_of_writing_whatever_the_clock_said(store: Store) -> None:
    times = [datetime(2026, 5, 1), datetime(2026, 1, 1)]
    with store.transaction() as cursor:
        rows = {"name": ["first", "second"], "release_id": ["x"] * 2, "manifest": ["{}"] * 2}
        append(cursor, "releases", {**rows, "frozen_at": times, "frozen_by": ["lee"] * 2})
        opening = Unsealing("x", "first", ("test",), "export", "nightly", "lee", times[0])
        for one in (opening, opening._replace(reason="again", opened_at=times[1])):
            append(cursor, "seal_openings", {field: [value] for field, value in one._asdict().items()})
        assert [row.name for row in list_releases(cursor)] == ["first", "second"]
        assert [opening.reason for opening in read_openings(cursor, "x")] == ["nightly", "again"]


def log(store: Store) -> list[Unsealing]:
    return list(read_overview(store, "v1").log)


def sealed_pairs(store: Store) -> list[tuple[str, str]]:
    """The pairs whose grades are in the part test."""
    release = load_release(store, "v1")
    test = {row["query_id"] for row in release.rows("queries") if row["part"] == "test"}
    return [(r["query_id"], r["document_id"]) for r in release.rows("qrels") if r["query_id"] in test]


@pytest.mark.slow
def test_what_is_sealed_leaves_by_no_other_split_without_a_logged_reason(gold: Store) -> None:
    make_split(gold, SplitRequest((("dev", 1.0),), 1, Rules(paraphrase=None), fresh=True))
    with pytest.raises(
        RefusedError, match=r"dev would be open to everyone, although a release seals .* --seal dev"
    ):
        freeze(gold, "v2", override="A draft.")
    assert log(gold) == []
    assert freeze(gold, "sealed", override="A draft.", seal=["dev"]).sealed == ("dev",)
    assert freeze(gold, "v2", override="A draft.", reason="The test is over").sealed == ()
    opening = read_overview(gold, "v1").log[-1]
    assert (opening.purpose, opening.reason) == (
        "freeze v2 with the queries in an open part",
        "The test is over",
    )


@pytest.mark.parametrize("format", ["beir", "trec", "csv", "parquet", "hf"])
def test_grades_of_the_test_part_need_a_reason_in_every_format(
    gold: Store, tmp_path: Path, format: str
) -> None:
    with pytest.raises(RefusedError, match=r"test in the release 'v1' are sealed.*--reason.*leaderboard"):
        export(gold, "v1", format, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert log(gold) == []


@pytest.mark.parametrize("reason", ["", " \n"])
def test_an_empty_reason_is_none(gold: Store, tmp_path: Path, reason: str) -> None:
    with pytest.raises(RefusedError, match="Anyone who takes sealed grades must give a reason"):
        export(gold, "v1", "csv", tmp_path / "out", reason=reason)


def test_who_took_sealed_grades_when_for_what_and_why_is_logged(gold: Store, tmp_path: Path) -> None:
    add_names(gold, "zoe", role="lead")
    exported = export(gold, "v1", "csv", tmp_path / "out", actor="zoe", reason=" the May report ")
    ((opening),) = log(gold)
    assert opening == exported.opening
    assert (opening.opened_by, opening.purpose, opening.reason) == ("zoe", "export as csv", "the May report")
    assert (opening.name, opening.parts) == ("v1", ["test"])
    shown = read_overview(gold, "v1")
    assert (shown.openings, shown.log) == (1, (opening,))
    assert [row.openings for row in list_release_overviews(gold)] == [1]
    assert "zoe" not in (tmp_path / "out" / "manifest.json").read_text()


@pytest.mark.slow
def test_another_name_of_the_same_content_shares_its_log(gold: Store, tmp_path: Path) -> None:
    freeze(gold, "final")
    export(gold, "final", "csv", tmp_path / "out", reason="a look")
    shown = read_overview(gold, "v1")
    assert ([opening.name for opening in shown.log], shown.also_named) == (["final"], ("final",))


def test_only_a_lead_takes_sealed_grades(gold: Store, tmp_path: Path) -> None:
    add_names(gold, "ada")
    with pytest.raises(RefusedError, match="lead"):
        export(gold, "v1", "csv", tmp_path / "out", actor="ada", reason="I want to")
    with pytest.raises(NotFoundError, match="nobody"):
        export(gold, "v1", "csv", tmp_path / "out", actor="nobody", reason="I want to")
    assert log(gold) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("leaderboard", {}),
        ("trec", {"without_grades": ["test"], "reason": "not needed"}),
        ("csv", {"parts": ["dev"]}),
        ("parquet", {"parts": ["dev", "test"], "without_grades": ["test"]}),
        ("hf", {"without_grades": ["test"]}),
    ],
)
def test_a_form_without_sealed_grades_needs_no_reason_and_holds_none(
    gold: Store, tmp_path: Path, format: str, options: dict[str, Any]
) -> None:
    exported = export(gold, "v1", format, tmp_path / "out", **options)
    assert (exported.opening, exported.without_grades) == (None, ("test",))
    assert exported.counts["grades"] == {"dev": 8}
    assert not [name for name in exported.files if "qrels" in name and "test" in name]
    assert log(gold) == []
    for name in set(exported.files) - {"corpus.jsonl", "corpus/corpus.parquet"}:
        content = (tmp_path / "out" / name).read_bytes()
        assert not [pair for pair in sealed_pairs(gold) if pair[1].encode() in content]


def test_the_leaderboards_form_has_the_queries_of_all_parts(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "leaderboard", tmp_path / "out")
    lines = (tmp_path / "out" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    parts = [json.loads(line)["metadata"]["split"] for line in lines]
    assert sorted(parts) == ["dev"] * 4 + ["test"] * 4
    assert {path.stem for path in (tmp_path / "out" / "qrels").iterdir()} == {"dev"}
    with pytest.raises(InputError, match="leaderboard has no grades of sealed parts, and test is sealed"):
        export(gold, "v1", "leaderboard", tmp_path / "two", parts=["test"], reason="really")


def test_parts_that_are_not_there_are_named(gold: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The split has no part 'train'; it has dev, test"):
        export(gold, "v1", "csv", tmp_path / "out", parts=["train"])
    with pytest.raises(InputError, match="no part 'tset'"):
        export(gold, "v1", "csv", tmp_path / "out", without_grades=["tset"])
    with pytest.raises(InputError, match="no part 'train'"):
        open_sealed(gold, "v1", "evaluate", "why", parts=["train"])


def test_the_log_is_written_before_the_first_file(
    gold: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def writer(folder: Path, asked: ExportSource) -> Written:
        seen.append([opening.reason for opening in log(gold)])
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FORMATS, "csv", replace(FORMATS["csv"], write=writer))
    with pytest.raises(
        InputError, match=r"no file was left: No space.*The log keeps the entry about the opened seal"
    ):
        export(gold, "v1", "csv", tmp_path / "out", reason="the May report")
    assert seen == [["the May report"]]
    assert [opening.reason for opening in log(gold)] == ["the May report"]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["beir", "csv", "parquet", "hf"])
def test_a_disk_that_fills_up_leaves_no_half_of_an_export(
    gold: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    write = FORMATS[format].write
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut off, and break later imports

    def on_a_full_disk(folder: Path, asked: ExportSource) -> Written:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
        try:
            return write(folder, asked)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setitem(FORMATS, format, replace(FORMATS[format], write=on_a_full_disk))
    exports = tmp_path / "exports"
    exports.mkdir()
    with pytest.raises(InputError, match="could not be written, and no file was left: "):
        export(gold, "v1", format, exports / "out", reason="to test it")
    assert not list(exports.iterdir())


def test_openings_at_the_same_time_are_all_logged(gold: Store) -> None:
    reasons = [f"reason {number}" for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda reason: open_sealed(gold, "v1", "evaluate", reason), reasons))
    assert sorted(opening.reason for opening in log(gold)) == reasons


@pytest.mark.slow
def test_what_is_sealed_is_chosen_at_the_freeze_and_part_of_the_content(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    plain = freeze(store, "v1")
    assert plain.sealed == ("test",)
    both = freeze(store, "v2", seal=["test", "dev", "test"])
    assert both.sealed == ("dev", "test")
    assert both.release_id != plain.release_id
    assert freeze(store, "v3", seal=["test"], reason="dev is open").release_id == plain.release_id
    assert freeze(store, "v2-again", seal=["dev"]).release_id == both.release_id  # test is never left open
    with pytest.raises(InputError, match="The split has no part 'holdout'; it has dev, test"):
        freeze(store, "v4", seal=["holdout"])
    exported = export(store, "v2", "leaderboard", tmp_path / "out")
    assert exported.counts["grades"] == {}
    with pytest.raises(RefusedError, match="dev, test"):
        export(store, "v2", "csv", tmp_path / "csv")


def test_a_release_from_before_seals_is_sealed_where_it_says_test() -> None:
    assert list_sealed_parts({"queries": {"dev": 3, "test": 2}}) == ("test",)
    assert list_sealed_parts({"queries": {"dev": 3, "holdout": 2}}) == ()
    assert list_sealed_parts({"queries": {"dev": 3, "test": 2}, "sealed": []}) == ()


def test_an_altered_release_opens_for_nobody(gold: Store) -> None:
    with gold.transaction() as cursor:
        alter_part(cursor, "qrels", lambda text: f"{text} ")
    with pytest.raises(RefusedError, match="has changed since it was frozen"):
        open_sealed(gold, "v1", "evaluate", "why")
    assert not verify(gold, "v1").intact
    assert rows_of(gold, "SELECT * FROM seal_openings") == []


@pytest.mark.slow
def test_the_command_shows_who_opened_the_seal(gold: Store) -> None:
    command = ["--project", str(gold.path), "releases", "v1"]
    assert "opened sealed grades (test) yet." in invoke(command).stdout
    open_sealed(gold, "v1", "evaluate", "the May report")
    shown = invoke(command).stdout
    assert "Who opened sealed grades" in shown
    assert "the May report" in shown
