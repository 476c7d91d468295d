"""Submissions: an annotator's actions on presentations, and the outcome of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

KINDS = ("grade", "cannot_tell", "later", "undo")
ANSWERED = ("grade", "cannot_tell")
LONGEST_ACTIVE_MS = 24 * 3_600_000
KEPT_LATE = "the round was closed before it came, so it is marked as late"


@dataclass(frozen=True)
class Submission:
    """One action on one presentation.

    Attributes
    ----------
    revision: how many events the presentation had when the annotator saw it.
    client_key: made by the client once per action; sent again with a retry.
    active_ms: milliseconds for which the item was on screen and the page in front. More than a day is stored
        as a day, a negative time as unknown.
    guide_hash: the guide that the annotator read; None is the one in force. It may have changed meanwhile.
    """

    presentation_id: str
    revision: int
    kind: str
    client_key: str
    grade: int | None = None
    reason: str | None = None
    note: str | None = None
    flagged: bool = False
    shown_at: datetime | None = None
    active_ms: int | None = None
    submitted_at: datetime | None = None
    guide_hash: str | None = None


class Outcome(NamedTuple):
    """The outcome of a submission.

    status: 'saved' (`message` says if late); 'repeated' (this very action was saved before); 'stale'
    (somebody else acted on the presentation since it was shown: look again at `revision`); 'refused'
    (`message` says why).
    """

    presentation_id: str
    client_key: str
    status: str
    revision: int
    message: str = ""
