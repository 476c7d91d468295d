"""All signals, and which of them each reader looks at.

A new signal is one file beside these, and a line here.
"""

from __future__ import annotations

from curation.agreement.annotators.signals.agreement import AGREEMENT
from curation.agreement.annotators.signals.bias import BIAS
from curation.agreement.annotators.signals.change import CHANGE
from curation.agreement.annotators.signals.consistency import CONSISTENCY
from curation.agreement.annotators.signals.control_chart import CONTROL_CHART
from curation.agreement.annotators.signals.distance import DISTANCE
from curation.agreement.annotators.signals.drift import DRIFT
from curation.agreement.annotators.signals.known_answers import KNOWN_ANSWERS
from curation.agreement.annotators.signals.one_grade import ONE_GRADE_THROUGHOUT
from curation.agreement.annotators.signals.pace import PACE
from curation.agreement.annotators.signals.second_time import SECOND_TIME
from curation.agreement.annotators.signals.signal import FALSE_SHARE, Evidence, Finding, raise_findings
from curation.agreement.annotators.signals.speed import SPEED
from curation.agreement.annotators.signals.week import WEEK

FEEDBACK = (
    *(AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED),
    *(CONSISTENCY, KNOWN_ANSWERS, BIAS, DRIFT, WEEK, PACE),
    *(CHANGE, CONTROL_CHART, DISTANCE, SECOND_TIME),
)
"""Looked at in all of somebody's work, the weightiest kind first."""

DURING_ROUND = (AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED, CHANGE)
"""Looked at while a round is open, among everybody in it: what can be mended in time."""


def feedback(person: Evidence) -> tuple[Finding, ...]:
    """What to discuss with one annotator; empty where no look at them is significant among all."""
    return tuple(finding for _, finding in raise_findings([person], FEEDBACK, FALSE_SHARE).findings)
