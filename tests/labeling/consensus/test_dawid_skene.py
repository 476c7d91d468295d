"""Dawid and Skene: the published example, real crowd labels, an independent implementation, simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.labeling.consensus.dawid_skene import DawidSkeneFit, GradeArrays, fit_dawid_skene
from tests.support import examples

# A. P. Dawid and A. M. Skene (1979), Applied Statistics 28, table 1: 45 patients' fitness for anaesthesia as
# seen by observer 1, three times, and observers 2 to 5; one word a patient.
PATIENTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111
    2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111
    2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432
    1111111 1111111 1212111 2322222 1211111 2222222
""".split()


def said(rows: list[tuple[int, int, int]], values: int) -> GradeArrays:
    """From (item, annotator, grade), numbered from 0."""
    item, annotator, grade = np.asarray(sorted(rows), dtype=np.int64).T
    return GradeArrays(item, annotator, grade, int(annotator.max()) + 1, values)


def patients() -> GradeArrays:
    rows = [
        (patient, max(0, place - 2), int(word) - 1)
        for patient, seen in enumerate(PATIENTS)
        for place, word in enumerate(seen)
    ]
    return said(rows, 4)


def crowd(shared: Path) -> tuple[GradeArrays, np.ndarray, np.ndarray]:
    """The labels, the place of each item with a gold label, and its label."""
    labels = np.loadtxt(shared / "trec_crowd" / "trec_crowd.txt", dtype=np.int64)
    gold = np.loadtxt(shared / "trec_crowd" / "trec_truth.txt", dtype=np.int64)
    items, item = np.unique(labels[:, 0], return_inverse=True)
    _, worker = np.unique(labels[:, 1], return_inverse=True)
    rows = said(list(zip(item.tolist(), worker.tolist(), (labels[:, 2] - 1).tolist(), strict=True)), 2)
    return rows, np.searchsorted(items, gold[:, 0]), gold[:, 1] - 1


def error(scores: np.ndarray, gold: np.ndarray) -> float:
    """The share of wrong labels of two; a tie is half of one."""
    lead = scores[:, 1] - scores[:, 0]
    guess = np.where(np.abs(lead) < 1e-6, 0.5, lead > 0)
    return float(np.abs(guess - gold).mean())


def test_the_published_example_gives_the_published_estimates() -> None:
    found = fit_dawid_skene(patients())
    assert found.converged
    # Table 2 of the paper: marginal probabilities .40, .42, .11, .07; observer 1's error-rates.
    assert found.shares.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert found.confusion[0].round(2).tolist()[:2] == [[0.89, 0.11, 0.0, 0.0], [0.07, 0.88, 0.05, 0.0]]


def test_each_step_of_em_raises_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihoods = []
    for steps in range(1, 12):
        monkeypatch.setattr("curation.labeling.consensus.dawid_skene.MAX_ITERATIONS", steps)
        likelihoods.append(fit_dawid_skene(patients()).log_likelihood)
    assert np.diff(likelihoods).min() > -1e-7


@pytest.mark.slow
def test_on_real_crowd_labels_it_errs_less_than_the_majority(shared: Path) -> None:
    """Published beside the data: majority errs on 34.86 % with ties split, Dawid-Skene on about 29.7 %."""
    rows, places, gold = crowd(shared)
    votes = np.zeros((int(rows.item.max()) + 1, 2))
    np.add.at(votes, (rows.item, rows.grade), 1)
    assert round(error(votes[places], gold), 4) == 0.3486
    assert error(fit_dawid_skene(rows, smoothing=0.1).posterior[places], gold) == pytest.approx(
        0.297, abs=0.003
    )


@pytest.mark.filterwarnings("ignore")  # crowd-kit's own
def test_an_independent_implementation_takes_the_same_steps(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step: left to itself, crowd-kit 1.4 stops when a sum grows that is not the likelihood. Only of
    workers who gave both labels: where one gave none, it counts that label as none instead of as hardly any.
    """
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="the extra 'oracle' is not installed")
    import pandas as pd

    rows, _, _ = crowd(shared)
    both = (
        np.bincount(rows.annotator * 2 + rows.grade, minlength=2 * rows.annotators).reshape(-1, 2).min(axis=1)
        > 0
    )
    kept = both[rows.annotator]
    _, item = np.unique(rows.item[kept], return_inverse=True)
    rows = said(list(zip(item, rows.annotator[kept], rows.grade[kept], strict=True)), 2)
    table = pd.DataFrame({"task": rows.item, "worker": rows.annotator, "label": rows.grade})
    monkeypatch.setattr("curation.labeling.consensus.dawid_skene.TOLERANCE", -np.inf)
    for steps in (1, 5, 40):
        monkeypatch.setattr("curation.labeling.consensus.dawid_skene.MAX_ITERATIONS", steps)
        theirs = aggregation.DawidSkene(n_iter=steps, tol=-np.inf).fit_predict_proba(table)
        ours = fit_dawid_skene(rows).posterior
        assert np.abs(theirs.loc[np.arange(len(ours)), [0, 1]].to_numpy() - ours).max() < 1e-7


def simulated(seed: int, careful: tuple[float, ...], items: int = 400) -> tuple[GradeArrays, np.ndarray]:
    """True grades of four, and people who name each with their own share, else a neighbour."""
    random = np.random.default_rng(seed)
    true = random.choice(4, size=items, p=[0.4, 0.3, 0.2, 0.1])
    rows = []
    for person, share in enumerate(careful):
        step = random.choice([-1, 1], size=items)
        given = np.clip(np.where(random.random(items) < share, true, true + step), 0, 3)
        rows += [(item, person, int(grade)) for item, grade in enumerate(given)]
    return said(rows, 4), true


def right(found: DawidSkeneFit, true: np.ndarray) -> float:
    return float((found.posterior.argmax(axis=1) == true).mean())


def test_a_careful_annotator_counts_more_than_three_careless_ones() -> None:
    rows, true = simulated(3, (0.98, 0.6, 0.6, 0.6))
    found = fit_dawid_skene(rows, 0.1)
    votes = np.bincount(rows.item * 4 + rows.grade, minlength=4 * len(true)).reshape(-1, 4)
    assert right(found, true) > float((votes.argmax(axis=1) == true).mean()) + 0.04
    diagonals = np.einsum("akk,k->a", found.confusion, found.shares)
    assert diagonals.argmax() == 0


votes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@settings(max_examples=examples(40))
@given(votes, st.permutations(range(4)))
def test_other_names_of_annotators_change_nothing(rows: list[tuple[int, int, int]], names: list[int]) -> None:
    items = sorted({item for item, _, _ in rows})
    plain = [(items.index(item), who, grade) for item, who, grade in rows]
    renamed = [(item, names[who], grade) for item, who, grade in plain]
    one, other = (fit_dawid_skene(said(each, 3), 0.1) for each in (plain, renamed))
    assert np.allclose(one.posterior, other.posterior, atol=1e-7)
    assert np.allclose(one.posterior.sum(axis=1), 1)
