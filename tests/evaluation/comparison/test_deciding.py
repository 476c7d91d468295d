"""The test that decides: which p is corrected, how, what is refused, and what a page says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from curation.errors import InputError
from curation.evaluation.comparison.pairs import Comparison, StratumName, compare_systems
from curation.evaluation.request import CORRECTIONS, TESTS, DecidingTest, EvaluateRequest, check_deciding
from curation.statistics.p_values import bonferroni
from curation.step import option_of
from tests.evaluation.comparison.test_pairs import STRATA, three_systems
from tests.support.command_line import invoke
from tests.support.evaluated_project import document_ids, evaluated_project, ranked, write_run


def overall(deciding: DecidingTest) -> list[Comparison]:
    found = compare_systems(three_systems(), STRATA, seed=1, deciding=deciding)
    return [one for one in found if (one.measure, one.stratum) == ("ndcg@10", None)]


@pytest.mark.parametrize("test", [name for name in TESTS if name != "tukey"])
def test_the_test_that_decides_is_corrected_and_the_others_are_shown(test: str) -> None:
    found = overall(DecidingTest(test, "bonferroni"))
    ps = np.array([one.p for one in found])
    assert [one.p_corrected for one in found] == bonferroni(ps).tolist()
    assert [getattr(one, f"p_{test}") for one in found] == ps.tolist()
    for one in found:
        assert None not in (one.p_t, one.p_randomisation, one.p_wilcoxon, one.p_sign, one.p_tukey)
    assert [one.p_holm for one in found] == [one.p_corrected for one in overall(DecidingTest())]


def test_tukey_is_of_all_pairs_already_and_is_corrected_for_the_number_of_strata_alone() -> None:
    found = compare_systems(three_systems(), STRATA, seed=1, deciding=DecidingTest("tukey"))
    for one in found:
        tested = {None: 1, "head": 2, "tail": 2}.get(one.stratum and one.stratum.value)
        if one.stratum is not None and one.stratum == StratumName("tag", "question"):
            assert one.p_corrected is None
        elif one.p_tukey is not None:
            assert one.p_corrected == min(1.0, one.p_tukey * (tested or 0))
    assert found[0].deciding.words == "p HSD below 0.05, of the randomised Tukey HSD, decides"


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"no test 'anova'; expected one of randomisation, t.*\n.*'sidak'"):
        check_deciding(DecidingTest("anova", "sidak"))
    with pytest.raises(InputError, match="of all pairs already"):
        check_deciding(DecidingTest("tukey", "holm"))


def test_the_help_names_every_test_and_every_correction() -> None:
    options = {name: option_of(EvaluateRequest, name).help for name in ("test", "correction")}
    assert [name for name in TESTS if name not in options["test"]] == []
    assert [name for name in CORRECTIONS if name not in options["correction"]] == []


def test_a_p_is_never_0_and_every_test_is_in_the_text_and_in_the_report(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    best = {f"q{number}": document_ids(number) for number in range(60)}
    paths = [write_run(tmp_path / "best.trec", best)]
    paths += [write_run(tmp_path / f"{name}.trec", ranked(name)) for name in "ab"]
    page = tmp_path / "report.html"
    command = ["--project", str(store.path), "evaluate", "v1", "--part", "dev", "--measures", "ndcg@10,map"]
    for path in paths:
        command += ["--run", str(path)]
    done = invoke([*command, "--significance-test", "t", "--correction", "bh", "--html", str(page)])
    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.replace("│", " ").split())
    assert "ndcg@10: differences; p BH below 0.05, of Student's t test, decides" in shown
    assert "randomisation ┃ t ┃ Wilcoxon ┃ sign ┃ Tukey HSD" in shown
    assert "a − best < 0.001 < 0.001 < 0.001 < 0.001 0.001" in shown
    assert "overlap@10 ┃ overlap@100 ┃ RBO ┃ τ_AP" in shown
    assert "The order by other measures against that by ndcg@10" in shown
    html = page.read_text(encoding="utf-8")
    assert '<td class="number">&lt;\u00a00.001</td>' in html
    store.close()
