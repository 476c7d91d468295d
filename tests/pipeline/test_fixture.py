"""A project and a release of 2026-11-28 open today, verify to the same id, and say and export the same.

`GONE` lists each field that the commands no longer say, with the reason; what is new is not compared.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.command_line import invoke

FIXTURE = ROOT.parent / "shared" / "fixture"
SAID = {
    "verify": "verify sample",
    "evaluate-dev": "evaluate sample --run {run} --part dev",
    "agreement": "agreement",
    "consistency": "consistency",
    "consensus": "consensus --pairs",
}
PARTS = ("type", "boundary")
WENT = ("interval", "ratio", "fleiss", "ac1", "ac2_ordinal", "doubts")
NAMED_VALUE = (
    *("nominal.alpha", "ordinal.alpha", "raw.share", "judgeable.nominal.alpha", "judgeable.raw.share"),
    *("alpha.alpha", "raw.share"),
)
DESCRIBING = {"README.md", "manifest.json"}
"""Files of an export that name the program."""
GONE = {
    "evaluate-dev": {
        ".looks": "sealed evaluations are counted, not bounded by a ladder",
        ".depths_left_out": "bounds of lists went with the ladder",
        **{f".{name}": "estimates from a sample of the pool went" for name in ("inferred", "not_inferred")},
        **{f".{name}": "other views of the order went" for name in ("order", "similar_lists", "turning")},
        **{
            f".runs[].strata.stratum.{name}.left_out": "kinds of fewer than ten queries have figures, too"
            for name in ("head", "torso", "tail")
        },
        ".runs[].files[].seconds": "the time that reading took",
        ".versions.goldset": "the version is that of goldgrade",
    },
    "agreement": {
        ".evidence.alpha_u": "unitising alpha went; F1 of characters stays",
        **{f".between.{name}": "one of the coefficients that went" for name in WENT},
        **{f".between.{name}": "every figure is `value`" for name in NAMED_VALUE},
        **{f".by.{part}[].{name}": "every figure is `value`" for part in PARTS for name in NAMED_VALUE[-2:]},
        **{
            f".{where}.{end}": "intervals of few queries are percentiles, too"
            for where in (
                *("between.nominal", "between.ordinal", "between.ac2", "between.raw"),
                *(f"by.{part}[].{figure}" for part in PARTS for figure in ("alpha", "raw")),
            )
            for end in ("low", "high")
        },
        **{
            f".by.{part}[].{name}": "a part has its figures alone"
            for part in PARTS
            for name in ("marginals", "difference")
        },
        **{
            f".by.pair[].{name}": "two annotators have one kappa"
            for name in ("plain", "linear", "quadratic", "alpha", "table")
        },
        ".by.annotator": "nobody is left out",
        ".cohen": "Cohen's kappas have no mean",
        ".passes": "a pass has no report of its own",
    },
    "consistency": {
        ".annotators[].repeats": "repeats are told by their share alone",
        ".annotators[].favourite": "it is `modal`",
        **{
            f".annotators[].bias.{name}": "bias and its drift are told, not weeks and pace"
            for name in ("weeks", "pace", "no_pace")
        },
        **{
            f".annotators[].bias.{end}": "resamples draw queries in the order of their ids"
            for end in ("low", "high")
        },
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not FIXTURE.is_dir():
        pytest.skip("the fixture is not beside this checkout")
    folder = tmp_path_factory.mktemp("fixture")
    with gzip.open(FIXTURE / "project.duckdb.gz") as packed, (folder / "project.duckdb").open("wb") as file:
        shutil.copyfileobj(packed, file)
    return folder / "project.duckdb"


def differences(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Path, value before and value now of each leaf that is not the same; paths have no places in lists."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name, value in before.items():
            yield from differences(value, now.get(name, "gone"), f"{path}.{name}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for one, other in zip(before, now, strict=True):
            yield from differences(one, other, f"{path}[]")
    elif isinstance(before, float) and isinstance(now, float):
        if before != pytest.approx(now, abs=1e-9):
            yield path, before, now
    elif before != now:
        yield path, before, now


@pytest.mark.parametrize("name", SAID)
def test_the_commands_say_what_they_said(project: Path, name: str) -> None:
    words = SAID[name].format(run=FIXTURE / "bm25.trec").split()
    done = invoke(["--project", str(project), *words, "--json"])
    assert done.exit_code == 0, done.stderr
    before = json.loads((FIXTURE / f"{name}.json").read_text(encoding="utf-8"))
    left = [row for row in differences(before, json.loads(done.stdout)) if row[0] not in GONE.get(name, {})]
    assert left == []


@pytest.mark.parametrize("format", ["trec", "beir", "csv"])
def test_an_export_has_the_same_bytes(project: Path, tmp_path: Path, format: str) -> None:
    words = ["export", "sample", "--format", format, "--part", "dev", "--out", str(tmp_path / "out")]
    done = invoke(["--project", str(project), *words])
    assert done.exit_code == 0, done.stderr
    assert files_in(tmp_path / "out") == files_in(FIXTURE / format)


def files_in(folder: Path) -> dict[str, object]:
    """Name → the bytes of a file of data; the card and the manifest as they are under the present name."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: renamed(path) if name in DESCRIBING else path.read_bytes() for name, path in files.items()}


def renamed(path: Path) -> object:
    """What a file that describes an export says; a manifest without the sum of the card, which the name
    changes.
    """
    text = path.read_text(encoding="utf-8").replace("goldset", "goldgrade")
    if path.suffix != ".json":
        return text
    manifest = json.loads(text)
    del manifest["files"]["README.md"], manifest["sum"]
    return manifest
