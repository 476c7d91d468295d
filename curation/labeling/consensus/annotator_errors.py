"""Annotators' errors, as Dawid and Skene's model estimates them from all votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.reports.page import NumberCell, Section, ShareCell, Table
from curation.core.text import amount
from curation.labeling.consensus.dawid_skene import Estimate, estimate
from curation.labeling.consensus.rule import ConsensusRule
from curation.labeling.consensus.votes import Votes, given_grades, read_votes, votes_by_pair
from curation.store import Store


class AnnotatorConfusion(NamedTuple):
    """What one annotator's grades look like against the true ones, as Dawid and Skene's model estimates them.

    Attributes
    ----------
    grades: how many they gave.
    right: how probable it is that they give the true grade.
    bias: the mean of the given less the true grade, in grades.
    matrix: rows are the true, columns the given grade; each row adds up to 1.
    """

    annotator: str
    grades: int
    right: float
    bias: float
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class AnnotatorErrors:
    """Annotators' estimated errors.

    Attributes
    ----------
    values: the grades that were given, ascending: the rows and columns of the matrices.
    shares: how frequent each of them is estimated to be.
    converged: False where EM was stopped after its last step: read the figures with care.
    """

    values: tuple[int, ...]
    shares: tuple[float, ...]
    iterations: int
    converged: bool
    annotators: tuple[AnnotatorConfusion, ...]


def error_section(annotator_errors: AnnotatorErrors) -> Section:
    """What each annotator is estimated to say where a grade is true."""
    rows: list[tuple[object, ...]] = []
    for annotator in annotator_errors.annotators:
        first: tuple[object, ...] = (
            annotator.annotator,
            annotator.grades,
            ShareCell(annotator.right),
            NumberCell(annotator.bias, 2),
        )
        for value, given in zip(annotator_errors.values, annotator.matrix, strict=True):
            rows.append((*first, value, *given))
            first = ("", "", "", "")
    scale = (f"Says {value}" for value in annotator_errors.values)
    columns = ("Annotator", "Grades", "Right", "Bias in grades", "Where true is", *scale)
    table = Table("Annotators' errors, estimated by this rule", columns, tuple(rows))
    late = f"The estimate did not settle in {amount(annotator_errors.iterations, 'step')}: read it with care."
    return Section("", "", tables=(table,), remark="" if annotator_errors.converged else late)


def errors(votes: Votes) -> AnnotatorErrors | None:
    """Annotators' errors as Dawid and Skene's model estimates them, by name; None without a grade."""
    pairs = votes_by_pair(votes.rows)
    if not len(pairs.item):
        return None
    found = estimate(given_grades(pairs), votes.rule.smoothing)
    given = np.bincount(pairs.annotator, minlength=len(pairs.names)).tolist()
    shares, steps = found.shares, pairs.values[None, :] - pairs.values[:, None]
    right = np.einsum("k,akk->a", shares, found.confusion)
    bias = np.einsum("k,akl,kl->a", shares, found.confusion, steps.astype(np.float64))
    people = [
        AnnotatorConfusion(name, given[place], _six(right[place]), _six(bias[place]), _matrix(found, place))
        for place, name in enumerate(pairs.names)
    ]
    return AnnotatorErrors(
        tuple(pairs.values.tolist()),
        tuple(map(_six, shares)),
        found.iterations,
        found.converged,
        tuple(people),
    )


def _six(value: np.float64) -> float:
    return round(float(value), 6) + 0.0  # never -0.0


def _matrix(found: Estimate, place: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(_six, row)) for row in found.confusion[place])


def errors_by_rule(store: Store, rule: ConsensusRule) -> AnnotatorErrors | None:
    """Annotators' errors as a rule estimates them from all votes."""
    with store.reading() as cursor:
        votes = read_votes(cursor)
    return errors(votes._replace(rule=rule))
