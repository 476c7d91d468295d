"""The gate: the agreement that a project requires of its labels before a freeze.

The gate compares the lower ends of two 95 % intervals with minimums: ordinal alpha, and the share of blind
duplicates with equal grades of all annotators together. An annotator who gives every pair the same grade
repeats this grade perfectly, so repeats of annotators who agree with nobody do not count; the check says how
many repeats do not count. An undefined figure does not meet the gate: the check names the figure, and a
freeze needs an override with a reason. Imported judgments have no second showing, so a project with imported
judgments only needs no consistency. A project can declare a single judge: then the gate does not demand alpha
as long as only one person has judged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from curation.agreement.grades import read_grades
from curation.agreement.inter_annotator import MINIMUM_UNITS, compute_agreement
from curation.agreement.intra_annotator import IntraAgreement, pool_consistency, read_repeats, score_repeats
from curation.agreement.outliers import find_uninformative
from curation.agreement.verdict import TENTATIVE, advise
from curation.core.digests import canonical_json
from curation.core.errors import refuse_problems
from curation.core.statistics.estimate import Estimate
from curation.guides.guide import current_guide
from curation.labeling.judging import LAST_EVENT_JOIN
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, put_setting, record_event

ALPHA, CONSISTENCY = "ordinal alpha", "consistency"
NOT_COUNTED_REMARK = (
    "{repeats:,} repeats are left out: they come from annotators whose grades agree with nobody's or are "
    "nearly always the same ({people:,})"
)
SINGLE_JUDGE_REASON = "the project is set to one annotator, so agreement cannot be measured"
ONLY_IMPORTED_REASON = "all judgments were imported, so no pair was shown twice"

State = Literal["met", "missed", "undefined", "not asked for"]

# An import stores no time on screen; the app always stores it.
_HAS_ONLY_IMPORTS = f"""
SELECT bool_and(r.kind = 'imported' OR (e.shown_at IS NULL AND e.active_ms IS NULL))
FROM current_judgments j JOIN rounds r USING (round_id) {LAST_EVENT_JOIN}
WHERE r.kind NOT IN ('pilot', 'practice')
"""  # noqa: S608


class Demand(NamedTuple):
    """The minimum agreement that a project requires before a freeze.

    Attributes
    ----------
    alpha: minimum of the lower end of ordinal alpha's 95 % interval. Krippendorff (2004), Content Analysis,
        p. 241: tentative conclusions from 0.667.
    consistency: minimum of the lower end of the 95 % interval of the share of identical grades on blind
        duplicates.
    single_judge: whether one person judges the project, so that the gate does not demand alpha.
    """

    alpha: float = TENTATIVE
    consistency: float = 0.8
    single_judge: bool = False


class GateCheck(NamedTuple):
    """A measured agreement value with the minimum that the project requires.

    Attributes
    ----------
    wanted: minimum that `low` must reach. (For consistency, releases of earlier versions compared `value`.)
    value, low, high: the figure with its 95 % interval; None if undefined.
    n: number of doubly judged pairs, or of blind duplicates judged twice.
    why: the reason why the figure is undefined or not demanded, or what does not count. (In releases of
        earlier versions also the reason why the interval may be too narrow.)
    """

    figure: str
    wanted: float
    value: float | None
    low: float | None
    high: float | None
    n: int
    state: State
    why: str | None = None

    @property
    def sentence(self) -> str:
        """Write the measured value and the required minimum as a sentence."""
        if self.value is None or self.state in ("undefined", "not asked for"):
            return f"{self.figure}: {self.state}: {self.why}; the threshold is {self.wanted:g}"
        unit = "doubly judged pairs" if self.figure == ALPHA else "blind duplicates judged twice"
        interval = f", 95 % interval {self.low:.3f} to {self.high:.3f}" if self.low is not None else ""
        return (
            f"{self.figure}: {self.state}: {self.value:.3f}{interval}, on {self.n:,} {unit}; the interval "
            f"must start at or above {self.wanted:g}{f'; {self.why}' if self.why else ''}"
        )


@dataclass(frozen=True)
class Gate:
    """The agreement gate with its two checks; the gate is open if both checked values are defined and high
    enough.

    Attributes
    ----------
    note: warning about intervals from few queries; not a part of releases.
    confused: the two grades that people confuse most often; not a part of releases.
    """

    checks: tuple[GateCheck, ...]
    note: str | None = None
    confused: tuple[int, int] | None = None

    @property
    def sentences(self) -> list[str]:
        """List the gate's checks, a note about intervals from few queries, and whether the gate is open."""
        conclusion = "The gate is open."
        if not self.open:
            conclusion = f"The gate is shut: a freeze needs an override with a reason. {self.advice}"
        notes = [self.note] if self.note else []
        return [*(check.sentence for check in self.checks), *notes, conclusion]

    @property
    def advice(self) -> str:
        """Say what a lead can do about the first check that keeps the gate closed; '' if the gate is open."""
        for check in self.against:
            if check.figure == ALPHA:
                return advise(Estimate(*check[2:6], check.why), self.confused, check.wanted)
            if check.state == "missed" and check.value is not None and check.value < check.wanted:
                return "Change the guide: annotators do not repeat their own grades."
            return "Have annotators grade more blind duplicates."
        return ""

    @property
    def open(self) -> bool:
        """Return whether the labels may be frozen without an override."""
        return not self.against

    @property
    def without_agreement(self) -> bool:
        """Return whether agreement is unknown because only one person judges the project."""
        return any(check.figure == ALPHA and check.why == SINGLE_JUDGE_REASON for check in self.checks)

    @property
    def against(self) -> tuple[GateCheck, ...]:
        """List the checks that keep the gate closed: values that are too low or undefined."""
        return tuple(check for check in self.checks if check.state in ("missed", "undefined"))


def check_gate(
    alpha: Estimate,
    consistency: Sequence[IntraAgreement],
    all_imported: bool,
    demand: Demand,
    uninformative: Collection[str] = (),
    judges: int = 2,
) -> Gate:
    """Check the gate: compare measured alpha and consistency with the minimums that the project requires.

    Parameters
    ----------
    uninformative: annotators whose repeats do not count (`outliers.find_uninformative`).
    judges: number of people who have judged.
    """
    informative = [person for person in consistency if person.annotator not in uninformative]
    excluded = [person for person in consistency if person.annotator in uninformative and person.n]
    check = _check_consistency(informative, all_imported, demand.consistency)
    if excluded:
        remark = NOT_COUNTED_REMARK.format(repeats=sum(person.n for person in excluded), people=len(excluded))
        check = check._replace(why=f"{check.why}; {remark}" if check.why and informative else remark)
    if demand.single_judge and judges <= 1:
        alpha_check = GateCheck(
            ALPHA, demand.alpha, None, None, None, 0, "not asked for", SINGLE_JUDGE_REASON
        )
        return Gate((alpha_check, check))
    return Gate((_check_alpha(alpha, demand.alpha), check))


def read_demand(cursor: Cursor) -> Demand:
    """Read the agreement that the project requires before a freeze."""
    return Demand(**json.loads(get_setting(cursor, "gate") or "{}"))


def set_demand(store: Store, demand: Demand, actor: str = COMMAND_LINE) -> None:
    """Change the agreement that the project requires; frozen releases do not change.

    Raises
    ------
    InputError: a figure is out of range.
    NotFoundError, RefusedError: the project does not know the actor, or the actor is not a lead.
    """
    problems = []
    if not -1 <= demand.alpha <= 1:
        problems.append(f"The threshold of alpha is {demand.alpha:g}; expected -1 to 1.")
    if not 0 <= demand.consistency <= 1:
        problems.append(f"The threshold of consistency is {demand.consistency:g}; expected 0 to 1.")
    refuse_problems(problems)
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        former = read_demand(cursor)
        if former != demand:
            put_setting(cursor, "gate", canonical_json(demand._asdict()))
            record_event(cursor, "gate", {"before": former._asdict(), "now": demand._asdict()}, actor)


def compute_gate(store: Store, seed: int = 0) -> Gate:
    """Compute the agreement gate from the current judgments, as a freeze would.

    Raises
    ------
    RefusedError: grades are not on the scale of the current guide.
    """
    with store.reading() as cursor:
        grades = read_grades(cursor)
        scale = current_guide(cursor).values
        repeats = read_repeats(cursor)
        all_imported = has_only_imports(cursor)
        demand = read_demand(cursor)
    agreement = compute_agreement(grades, scale, seed)
    gate = check_gate(
        agreement.ordinal,
        [score_repeats(row) for row in repeats],
        all_imported,
        demand,
        uninformative=find_uninformative(grades),
        judges=agreement.annotators,
    )
    return replace(gate, note=agreement.small_set, confused=agreement.confused)


def has_only_imports(cursor: Cursor) -> bool:
    """Return whether the project has judgments that count and all of them were imported."""
    return bool(cursor.execute(_HAS_ONLY_IMPORTS).fetchall()[0][0])


def _check_alpha(alpha: Estimate, minimum: float) -> GateCheck:
    why = alpha.why
    if alpha.n < MINIMUM_UNITS and why is None:
        why = f"there are too few doubly judged pairs ({alpha.n:,})"
    if why is not None or alpha.low is None:
        return GateCheck(ALPHA, minimum, *alpha[:4], "undefined", why)
    return GateCheck(ALPHA, minimum, *alpha[:4], "met" if alpha.low >= minimum else "missed")


def _check_consistency(people: Sequence[IntraAgreement], all_imported: bool, minimum: float) -> GateCheck:
    pooled = pool_consistency(people)
    if not pooled.n and all_imported:
        return GateCheck(CONSISTENCY, minimum, None, None, None, 0, "not asked for", ONLY_IMPORTED_REASON)
    figures = (pooled.identical, pooled.low, pooled.high, pooled.n)
    if pooled.unreliable_reason is not None or pooled.low is None:
        return GateCheck(CONSISTENCY, minimum, *figures, "undefined", pooled.unreliable_reason)
    return GateCheck(CONSISTENCY, minimum, *figures, "met" if pooled.low >= minimum else "missed")
