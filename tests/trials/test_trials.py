"""A short run of each trial; `docs/reliability.md` has the long ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import ROOT

SHORT = {"kills": 12, "fuzz": 100, "two_servers": 30, "full_disk": 5, "clock": 40, "proxy": 30}


@pytest.mark.slow
@pytest.mark.parametrize("trial", SHORT)
def test_what_the_trial_is_about_holds(trial: str) -> None:
    command = [sys.executable, "-m", f"tests.trials.{trial}", "--times", str(SHORT[trial]), "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout.splitlines()[0])
    assert (said["broken"], said["times"]) == (0, SHORT[trial])
