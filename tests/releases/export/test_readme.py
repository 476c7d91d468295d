"""README.md of an export: its configs are files of it, and its script comes to the figures of `evaluate`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.releases.export.formats import FORMATS
from curation.store import Store
from tests.support.gold_project import export
from tests.support.projects import per_module
from tests.support.sampled_release import sampled_release

MEASURES = ("ndcg@10", "ndcg_exp@10")
gold = per_module(sampled_release)


@pytest.mark.slow
@pytest.mark.parametrize("format", [format.name for format in FORMATS.values() if format.reading])
def test_the_script_of_the_readme_comes_to_the_figures_of_evaluate(
    gold: Store, tmp_path: Path, format: str
) -> None:
    export(gold, "v1", format, tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    run = gold.path.parent / "near.trec"
    done = subprocess.run(
        [sys.executable, "-c", script, "dev", run], cwd=tmp_path / "out", capture_output=True, check=True
    )
    options = EvaluateRequest(part="dev", measures=MEASURES)
    (found,) = evaluate_runs(gold, "v1", [SystemFile("near", run)], options).runs
    printed = [line.split() for line in done.stdout.decode().splitlines()]
    assert [name for name, *_ in printed] == list(MEASURES)
    for name, mean, traffic in printed:
        assert float(mean) == pytest.approx(found.overall[name].value, abs=1e-9)
        assert float(traffic) == pytest.approx(found.traffic[name].value, abs=1e-9)
    queries, n = 18, found.overall["ndcg@10"].n
    assert f"| dev | {queries} | {n} |" in text
    assert n < queries


@pytest.mark.parametrize("format", FORMATS)
def test_the_configs_of_a_readme_are_files_of_the_folder_and_one_is_the_default(
    gold: Store, tmp_path: Path, format: str
) -> None:
    """As Hugging Face documents them: https://huggingface.co/docs/hub/datasets-manual-configuration."""
    export(gold, "v1", format, tmp_path / "out", parts=("dev",))
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    configs = yaml.safe_load(text.split("---\n")[1])["configs"]
    files = [file for config in configs for file in config["data_files"]]
    assert len(configs) == 1 or "default" in [config["config_name"] for config in configs]
    assert all((tmp_path / "out" / file["path"]).is_file() for file in files)
    assert all(re.fullmatch(r"\w+", file["split"]) for file in files)
    assert "manifest.json" not in [file["path"] for file in files]
    assert "## Which rule gives which figure" in text
