"""The words of progress: how far a step is, and the time left by its pace so far."""

from __future__ import annotations

from curation.core.progress import StepPace


def test_the_time_left_follows_the_pace_of_the_step_so_far() -> None:
    pace = StepPace()
    assert pace.describe("comparing passages", 0, 3_035, 100.0) == "comparing passages (0 of 3,035)"
    assert pace.describe("comparing passages", 50, 3_035, 103.0) == "comparing passages (50 of 3,035)"
    assert pace.describe("comparing passages", 256, 3_035, 150.0) == (
        "comparing passages (256 of 3,035); about 9 min left"
    )
    assert pace.describe("comparing passages", 3_000, 3_035, 160.0) == (
        "comparing passages (3,000 of 3,035); under a minute left"
    )
    assert pace.describe("comparing passages", 3_035, 3_035, 161.0) == "comparing passages (3,035 of 3,035)"


def test_a_new_step_and_an_unknown_total_have_no_estimate() -> None:
    pace = StepPace()
    pace.describe("reading", 100, 200, 0.0)
    assert pace.describe("writing", 50, 200, 60.0) == "writing (50 of 200)"
    assert pace.describe("loading the model", 0, 0, 90.0) == "loading the model"
    assert pace.describe("reading rows", 2_000, 0, 99.0) == "reading rows (2,000)"
