"""A project and a release of 2026-11-28 open today, verify to the same id, and say and export the same.

`GONE` lists each field that the commands no longer say, with the reason; what is new is not compared.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curation.evaluation.scoring.measure_names import DEFAULT_MEASURES
from curation.evaluation.stored_evaluations import list_evaluations, read_report, read_result
from curation.people.annotators import require_annotators
from curation.splits.certificate import read_visible_certificate
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke

FIXTURE = ROOT.parent / "shared" / "fixture"
SAID = {
    "verify": "verify sample",
    "evaluate-dev": "evaluate sample --run {run} --part dev",
    "agreement": "agreement",
    "consistency": "agreement --breakdown annotator",
    "consensus": "consensus --pairs",
}
PARTS = ("type", "boundary")
WENT = ("interval", "ratio", "fleiss", "ac1", "ac2_ordinal", "doubts")
NAMED_VALUE = ("nominal.alpha", "ordinal.alpha", "raw.share", "alpha.alpha", "raw.share")
EMPTY = ("empty_unanswerable", "empty_answerable")
DESCRIBING = {"README.md", "manifest.json"}
"""Files of an export that name the program."""
_REWORDED = (Path(__file__).parent / "reworded.diff").read_text(encoding="utf-8").splitlines()
REWORDED = {before[2:]: now[2:] for before, now in zip(_REWORDED[::2], _REWORDED[1::2], strict=True)}
"""The texts of commands and of an exported card that have plainer words now."""
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
        ".subtopics": "alpha-nDCG went",
        ".runs[].copies": "copies of judged texts are not counted",
        ".runs[].files[].seconds": "the time that reading took",
        ".versions.goldset": "the version is goldgrade's own",
        **{f".{name}": "candidates of one run are not ranked again" for name in ("first_stage", "reranking")},
        **{
            f".runs[].files[].refusal.{name}": "the area is an estimate, and the confidence always the same"
            for name in ("confidence", "area", "error", "low", "high", "undefined")
        },
        **{
            f".runs[].{where}.no_interval": "an estimate says why"
            for where in (
                *(f"files[].refusal.{share}" for share in ("refused", *EMPTY)),
                *(f"traffic.{measure}" for measure in DEFAULT_MEASURES),
            )
        },
        ".runs[].others": "averages over the strata of the sample went",
        **{f".runs[].files[].ties.{name}": "only ties that matter count" for name in ("groups", "queries")},
        **{f".runs[].files[].refusal.{name}": "the area says it" for name in ("kept", "curve")},
        **{
            f".runs[].overall.{measure}.{name}": "no values at orders of ties, and no residual"
            for measure in (*DEFAULT_MEASURES, "judged@10")
            for name in ("best", "worst", "residual")
        },
        **{f".runs[].traffic.{name}.effective": "it is in the interval" for name in DEFAULT_MEASURES},
    },
    "agreement": {
        ".boundary": "the breakdown by boundary has each",
        ".between.judgeable": "agreement on what can be judged went; cannot-tell is counted",
        ".evidence.alpha_u": "unitising alpha went; Character F1 stays",
        **{f".between.{name}": "one of the coefficients that went" for name in WENT},
        **{f".between.{name}": "every figure is `value`" for name in NAMED_VALUE},
        **{f".by.{part}[].{name}": "every figure is `value`" for part in PARTS for name in NAMED_VALUE[-2:]},
        **{
            f".{where}.{name}": "a figure is an estimate: `n` and `why` say the rest"
            for where in (
                *(f"between.{figure}" for figure in ("nominal", "ordinal", "ac2", "raw")),
                *(f"by.{part}[].{figure}" for part in PARTS for figure in ("alpha", "raw")),
                *(f"by.pair[].{figure}" for figure in ("raw", "kappa", "difference")),
                "evidence.f1",
            )
            for name in ("units", "pairs", "undefined", "no_interval", "too_few")
        },
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
            for name in ("marginals", "difference", "boundaries")
        },
        **{
            f".by.pair[].{name}": "two annotators have one kappa"
            for name in ("plain", "linear", "quadratic", "alpha", "table")
        },
        ".by.annotator": "nobody is left out",
        ".by.week": "a round has its report, and drift is a signal",
        ".untimed": "there are no weeks",
        ".annotators": "all annotators are compared",
        **{f".origins.lines[].{name}": "pages of queries have the words" for name in ("remarks", "unshown")},
        ".origins.met": "the lines of the guide have the pairs",
        ".origins.unjudged": "a reason is a row",
        ".origins.queries[].opinions[]": "an opinion is a row",
        **{f".confusion.{name}": "the scale is the report's" for name in ("scale", "coincidences")},
        ".cohen": "Cohen's kappas have no mean",
        ".passes": "a pass has no report of its own",
    },
    "consensus": {".pairs[].settled_by": "it is `how`"},
    "consistency": {
        ".round": "it is `round_name`",
        ".annotators[].repeats": "repeats are told by their share alone",
        ".annotators[].favourite": "it is `modal`",
        **{
            f".annotators[].{reason}": "a plainer reason"
            for reason in ("agreement.undefined", "bias.no_trend")
        },
        ".annotators[].agreement.others_pairs": "the others' kappa says it",
        ".annotators[].bias.untimed": "the trend says what it lacks",
        **{
            f".annotators[].control_items.{name}": "control items are an estimate: value, n"
            for name in ("answered", "right", "share")
        },
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
    elif (REWORDED.get(before, before) if isinstance(before, str) else before) != now:
        yield path, before, now


@pytest.mark.parametrize("name", SAID)
def test_the_commands_say_what_they_said(project: Path, name: str) -> None:
    words = SAID[name].format(run=FIXTURE / "bm25.trec").split()
    done = invoke(["--project", str(project), *words, "--json"])
    assert done.exit_code == 0, done.stderr
    before = json.loads((FIXTURE / f"{name}.json").read_text(encoding="utf-8"))
    now = json.loads(done.stdout)
    now = now | {"annotators": now["by"]["annotator"]} if name == "consistency" else now
    left = [row for row in differences(before, now) if row[0] not in GONE.get(name, {})]
    assert left == []


@pytest.mark.parametrize("format", ["trec", "beir", "csv"])
def test_an_export_has_the_same_bytes(project: Path, tmp_path: Path, format: str) -> None:
    words = ["export", "sample", "--format", format, "--part", "dev", "--out", str(tmp_path / "out")]
    done = invoke(["--project", str(project), *words])
    assert done.exit_code == 0, done.stderr
    assert files_in(tmp_path / "out") == files_in(FIXTURE / format)


def files_in(folder: Path) -> dict[str, object]:
    """Name → the bytes of a file of data, the lines of a card, or a manifest under the present name."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: renamed(path) if name in DESCRIBING else path.read_bytes() for name, path in files.items()}


def renamed(path: Path) -> object:
    """The lines of a card in today's words, or a manifest without the sum of the card."""
    text = path.read_text(encoding="utf-8").replace("goldset", "goldgrade")
    if path.suffix != ".json":
        return [REWORDED.get(line, line) for line in text.splitlines()]
    manifest = json.loads(text)
    del manifest["files"]["README.md"], manifest["sum"]
    return manifest


@pytest.fixture
def former(project: Path, tmp_path: Path) -> Path:
    """A copy of the project whose rule and split have what went: ordinal Dawid–Skene, and blocks of time."""
    copy = tmp_path / "former.duckdb"
    shutil.copy(project, copy)
    blocks = {"time_block": 5_184_000, "methods": {"same time block": "exact, all pairs"}}
    rule = {"least": 0.5, "rule": "ordinal-dawid-skene", "start": "vote shares"}
    with duckdb.connect(str(copy)) as connection:
        connection.execute(
            "UPDATE splits SET parameters = json_merge_patch(parameters, ?)", [json.dumps(blocks)]
        )
        connection.execute(
            "INSERT INTO leakage_edges "
            "SELECT a.split_id, a.query_id, b.query_id, 'same time block', 1.0, ? "
            "FROM split_assignments a JOIN split_assignments b USING (split_id, part) "
            "WHERE a.query_id < b.query_id",
            [json.dumps({"documents": [], "key": "2026-05-07 00:00:00"})],
        )
        connection.execute("DELETE FROM settings WHERE name = 'consensus'")
        connection.execute("INSERT INTO settings VALUES ('consensus', ?)", [json.dumps(rule)])
    return copy


def test_an_evaluation_of_a_former_version_opens_as_it_was_stored(project: Path) -> None:
    with closing(Store(project)) as store, store.reading() as cursor:
        (lead,) = require_annotators(cursor, ["lead"])
        (evaluation,) = list_evaluations(cursor, lead)
        report = read_report(cursor, evaluation.evaluation_id, lead)
        result = read_result(cursor, evaluation.evaluation_id, lead)
        titles = [section.heading for section in report.sections]
    assert json.loads(result)["release"] == "sample"
    assert "Systems" in titles


def test_a_rule_that_went_is_done_by_the_one_that_took_its_place(former: Path) -> None:
    done = invoke(["--project", str(former), "consensus"])
    assert done.exit_code == 0, done.stderr
    assert "rule was ordinal-dawid-skene, which was removed: dawid-skene replaces it" in done.stdout


def test_a_split_with_blocks_of_time_is_still_the_split(project: Path, former: Path) -> None:
    splits = []
    for path in (project, former):
        with closing(Store(path)) as store, store.reading() as cursor:
            certificate = read_visible_certificate(cursor)
        splits.append([(share.part, share.reached) for share in certificate.shares])
    assert splits[0] == splits[1]
