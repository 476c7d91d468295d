"""A short run of each trial; `docs/performance.md` has the long ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.support import ROOT
from tests.trials.__main__ import HEAD, TRIALS, row

SHORT = {"kills": 2, "torn": 1, "full_disk": 2, "starved": 20}


@pytest.mark.costly("kills and torn writes in processes of their own")
def test_what_each_trial_is_about_holds() -> None:
    assert SHORT.keys() == TRIALS.keys()
    asked = [f"{trial}={times}" for trial, times in SHORT.items()]
    command = [sys.executable, "-m", "tests.trials", *asked, "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    skipped = {one["trial"]: one["skipped"] for one in said if "skipped" in one}
    assert {one["trial"]: one["times"] for one in said} == SHORT | dict.fromkeys(skipped, 0)
    assert not any(one["broken"] for one in said if one["trial"] not in skipped)
    if skipped:
        pytest.skip(f"all others held; not tried: {skipped}")


def test_the_docs_have_the_table_that_the_trials_print() -> None:
    table = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8").partition(HEAD)[2]
    rows = re.findall(r"^\| `\w+` \|.*$", table.partition("\n\n")[0], re.MULTILINE)
    assert [one.rpartition(" | ")[0] for one in rows] == [
        row(name, "").rpartition(" |  |")[0] for name in TRIALS
    ]
