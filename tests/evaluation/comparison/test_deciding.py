"""The test that decides: which p is corrected, how, what is refused, and what a page says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.core.operation import option_of
from curation.core.statistics.p_values import holm
from curation.evaluation.comparison.pairs import Comparison, compare_systems
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.significance import RANDOMISATION, TESTS, check_test
from tests.evaluation.comparison.test_pairs import STRATA, three_systems
from tests.support.command_line import invoke
from tests.support.evaluated_project import document_ids, evaluated_project, ranked, write_run


def overall(deciding: str) -> list[Comparison]:
    found = compare_systems(three_systems(), STRATA, seed=1, deciding=deciding)
    return [one for one in found if (one.measure, one.stratum) == ("ndcg@10", None)]


@pytest.mark.parametrize("test", TESTS)
def test_the_test_that_decides_is_corrected_and_the_others_are_shown(test: str) -> None:
    found = overall(test)
    ps = np.array([one.p for one in found])
    assert [one.p_corrected for one in found] == holm(ps).tolist()
    assert [getattr(one, f"p_{test}") for one in found] == ps.tolist()
    for one in found:
        assert None not in (one.p_t, one.p_randomisation, one.p_wilcoxon)
    assert [one.p_holm for one in found] == [one.p_corrected for one in overall(RANDOMISATION)]


@pytest.mark.parametrize("test", ["anova", "tukey", "sign"])
def test_what_there_is_not_is_refused(test: str) -> None:
    with pytest.raises(InputError, match=f"no test '{test}'; expected one of randomisation, t, wilcoxon"):
        check_test(test)


def test_options_that_went_are_refused_with_what_does_their_work_now() -> None:
    went = ["--correction", "bh", "--label-draws", "5", "--turning", "--pool-sample", "0"]
    done = invoke(["evaluate", "v1", "--run", "a.trec", *went])
    assert isinstance(done.exception, InputError)
    assert done.exception.problems == [
        "--correction is gone: p values of several pairs are always corrected by Holm's method.",
        "--label-draws is gone: letters and possible ranks of the leaderboard say how firm the order is.",
        "--turning is gone: --to-pool makes unjudged documents candidates for the next round.",
        "--pool-sample is gone: the report says which share of the pool has no grade, and what measures are "
        "if none or all of the unjudged documents were relevant.",
    ]


def test_the_help_names_every_test() -> None:
    about = option_of(EvaluateRequest, "test").help
    assert [name for name in TESTS if name not in about] == []


def test_a_p_is_never_0_and_every_test_is_in_the_text_and_in_the_report(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    best = {f"q{number}": document_ids(number) for number in range(60)}
    paths = [write_run(tmp_path / "best.trec", best)]
    paths += [write_run(tmp_path / f"{name}.trec", ranked(name)) for name in "ab"]
    page = tmp_path / "report.html"
    command = ["--project", str(store.path), "evaluate", "v1", "--part", "dev", "--measures", "ndcg@10,map"]
    for path in paths:
        command += ["--run", str(path)]
    done = invoke([*command, "--significance-test", "t", "--html", str(page)])
    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.replace("│", " ").split())
    assert "ndcg@10: differences; p Holm below 0.05, of Student's t test, decides" in shown
    assert "randomisation ┃ t ┃ Wilcoxon ┃" in shown
    assert "a − best < 0.001 < 0.001 < 0.001" in shown
    html = page.read_text(encoding="utf-8")
    assert '<td class="number">&lt;\u00a00.001</td>' in html
    store.close()
