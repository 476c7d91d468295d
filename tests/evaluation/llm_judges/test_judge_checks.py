"""A judge is checked as a person is: reliability, bias, consistency and length."""

from __future__ import annotations

import numpy as np
import pytest

from curation.core.progress import silent
from curation.core.statistics.estimate import Estimate
from curation.evaluation.llm_judges.ask_judge import ask_judge
from curation.evaluation.llm_judges.judge_agreement import JudgeAgreement
from curation.evaluation.llm_judges.judge_checks import OwnAnswers, check_judge
from curation.evaluation.llm_judges.judge_requests import JudgeRequest
from curation.evaluation.llm_judges.measure_agreement import measure_judge_agreement
from curation.store import COMMAND_LINE, Store
from tests.support.judged_pairs import CHARACTERS, build_judged_pairs
from tests.support.language_model import ServedModel, model
from tests.support.projects import built_once

pytestmark = pytest.mark.slow

__all__ = ["model"]

NOTHING = OwnAnswers(0, 0, 0, Estimate())


@built_once
def project(store: Store) -> Store:
    return build_judged_pairs(store)


def test_the_characters_of_judges_are_told_apart(project: Store, model: ServedModel) -> None:
    found: dict[str, JudgeAgreement] = {}
    for name, character in CHARACTERS.items():
        model.answer = character
        ask_judge(project, JudgeRequest(name, model=name, again=0.25), silent, COMMAND_LINE)
        found[name] = measure_judge_agreement(project, name)
    verdicts = {name: agreement.verdict for name, agreement in found.items()}
    consistency = {name: agreement.checks.own.consistency.value for name, agreement in found.items()}
    assert verdicts["good"].startswith("good is as reliable as human annotators (alpha ")
    assert "too kind" in verdicts["too-kind"]
    assert verdicts["random"].startswith("random is less reliable than human annotators")
    assert consistency["good"] == consistency["too-kind"] == 1.0
    assert (consistency["random"] or 0) < 0.7
    assert consistency["first"] == 0.0


def both(bias: dict[str, float], per_query: int = 4) -> dict[tuple[str, str], tuple[int, int]]:
    """People's grade and the judge's, which is a grade too high as often as `bias` of the query says."""
    random = np.random.default_rng(3)
    return {
        (query, f"{query}-{place}"): (1 + place % 2, 1 + place % 2 + int(random.random() < share))
        for query, share in bias.items()
        for place in range(per_query)
    }


def test_a_kind_of_query_with_another_bias_is_named() -> None:
    queries = [f"q{number:02}" for number in range(40)]
    tail, other = frozenset(queries[:15]), frozenset(queries[10:30])
    pairs = both({query: 0.8 if query in tail else 0.1 for query in queries})
    types = {"stratum": {"tail": tail}, "tag": {"question": other}}
    checks = check_judge(pairs, (0, 1, 2, 3), [100] * len(pairs), types, NOTHING, 0)
    assert checks.group == "stratum tail"
    assert checks.group_bias.value == pytest.approx(0.7, abs=0.1)
    assert checks.length.value is None
    alike = both(dict.fromkeys(queries, 0.5))
    assert check_judge(alike, (0, 1, 2, 3), [100] * len(alike), types, NOTHING, 0).group == ""


def test_an_error_that_grows_with_the_length_is_found() -> None:
    pairs = both({f"q{number:02}": 0.5 for number in range(40)})
    lengths = [(400 if judge > human else 200) + 40 * human for human, judge in pairs.values()]
    length = check_judge(pairs, (0, 1, 2, 3), lengths, {}, NOTHING, 0).length
    assert length.low is not None
    assert length.low > 0.8
    even = [200 + 40 * human for human, _ in pairs.values()]
    assert check_judge(pairs, (0, 1, 2, 3), even, {}, NOTHING, 0).length.value is None
