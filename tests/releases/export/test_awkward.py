"""What a stranger tried: texts, names and folders that are not as one would write them."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.releases.export.files import write_table
from curation.releases.freeze.pseudonyms import replace_names
from curation.releases.manifest import format_manifest
from curation.releases.release_list import list_release_overviews
from curation.releases.verify import verify_export
from curation.store import Store
from tests.support.freezing import export
from tests.support.gold_project import frozen_project
from tests.support.projects import per_test

pytestmark = pytest.mark.slow
gold = per_test(frozen_project)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_any_text_reads_back_from_a_table(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["a\rb", "1"],
        ["line\nfeed", "2"],
        ["tab\t, comma", "3"],
        ['say "x"', "4"],
        ["a\u2028b\x85c", "5"],
        ['=HYPERLINK("http://example.org","x")', "6"],
    ]
    write_table(tmp_path / "table", ("text", "number"), rows, delimiter)
    with (tmp_path / "table").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [["text", "number"], *rows]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Groß", "as Groß said"),
        ("Zo\xeb", "as Zoe\u0308 said"),
        ("Zoe\u0308", "as Zo\xeb said"),
        ("Ann-Li", "as Ann-Li said"),
    ],
)
def test_a_name_is_found_however_its_letters_are_spelled(name: str, text: str) -> None:
    assert replace_names(text, {name: "a1"}) == "as a1 said"


@pytest.mark.parametrize("files", [None, 5, "corpus.jsonl"])
def test_a_manifest_that_is_none_any_more_protects_what_is_beside_it(
    gold: Store, tmp_path: Path, files: object
) -> None:
    out = tmp_path / "out"
    export(gold, "v1", "leaderboard", out)
    answer = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    (out / "manifest.json").write_text(format_manifest(answer | {"files": files}), encoding="utf-8")
    with pytest.raises(InputError, match="other files"):
        export(gold, "v1", "leaderboard", out)


def test_exports_into_one_folder_at_the_same_time_leave_one_whole(gold: Store, tmp_path: Path) -> None:
    out = tmp_path / "exports" / "v1"
    with ThreadPoolExecutor(4) as threads:
        exports = [threads.submit(export, gold, "v1", "leaderboard", out) for _ in range(4)]
    late = [type(one.exception()) for one in exports if one.exception()]
    assert set(late) <= {InputError}
    assert len(late) < 4
    assert verify_export(out).intact
    assert [path.name for path in out.parent.iterdir()] == ["v1"]


def test_a_release_whose_manifest_is_lost_is_still_listed(gold: Store) -> None:
    with gold.transaction() as cursor:
        cursor.execute("UPDATE releases SET manifest = '{}'")
    assert [(row.name, row.grades) for row in list_release_overviews(gold)] == [("v1", None)]
