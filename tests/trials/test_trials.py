"""A short run of each trial; `docs/reliability.md` has the long ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import ROOT

SHORT = {"kills": 8, "fuzz": 60, "two_servers": 30, "full_disk": 4, "clock": 30, "proxy": 25, "torn": 6}


@pytest.mark.slow
def test_what_each_trial_is_about_holds() -> None:
    asked = [f"{trial}={times}" for trial, times in SHORT.items()]
    command = [sys.executable, "-m", "tests.trials", *asked, "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert {one["trial"]: one["times"] for one in said} == SHORT
    assert not any(one["broken"] for one in said)
