"""What a reviewer's screen submits: decisions, requests for one more opinion, questions about the guide.

Each has a key by which the screen knows what became of it, and is done by the function that the command
calls. None is done twice: a decision that comes again is known by the revision that its reviewer saw, a pair
waits for one opinion at a time, and the same question is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.adjudication.adjudication import OvertakenError, decide
from curation.adjudication.second_opinions import ask_opinion
from curation.door import reviewers_door
from curation.errors import InputError, NotFoundError, RefusedError
from curation.guides.questions import ask_guide
from curation.store import Store


class ReviewerSubmission(NamedTuple):
    """One action of a reviewer on a pair.

    Attributes
    ----------
    kind: 'decide', 'opinion' (ask for one more) or 'unclear' (what the guide leaves open here).
    revision: decide: how many decisions the pair had when the reviewer saw it.
    grade: decide: a grade of the scale, or None for "no grade can be given".
    words: decide: the reason; unclear: the question.
    content_hash: decide: the version of the document that the reviewer read.
    """

    query_id: str
    document_id: str
    kind: str
    client_key: str
    revision: int = 0
    grade: int | None = None
    words: str = ""
    content_hash: str | None = None


class ReviewerOutcome(NamedTuple):
    """What became of it: 'saved', also when it came again; 'stale' (decided since it was on screen) and
    'refused', of which `message` says why.
    """

    client_key: str
    status: str
    message: str = ""


def submit_decisions(
    store: Store, reviewer: str, submissions: Sequence[ReviewerSubmission]
) -> list[ReviewerOutcome]:
    """Do what a reviewer submitted, in order; each is answered on its own."""
    return [_outcome(store, reviewer, one) for one in submissions]


def _outcome(store: Store, reviewer: str, one: ReviewerSubmission) -> ReviewerOutcome:
    try:
        _do(store, reviewer, one)
    except OvertakenError as error:
        reviewers_door(store, reviewer, [one.query_id])  # the answer says what was decided
        if error.decision.reviewer == reviewer:
            said = "You decided that pair in another tab or window; the decision made there counts."
            return ReviewerOutcome(one.client_key, "stale", said)
        return ReviewerOutcome(one.client_key, "stale", error.found)
    except (InputError, NotFoundError, RefusedError) as error:
        return ReviewerOutcome(one.client_key, "refused", error.found)
    return ReviewerOutcome(one.client_key, "saved")


def _do(store: Store, reviewer: str, one: ReviewerSubmission) -> None:
    pair = (one.query_id, one.document_id)
    if one.kind == "decide":
        decide(store, *pair, one.grade, one.words, reviewer, one.revision, one.content_hash)
    elif one.kind == "opinion":
        ask_opinion(store, *pair, reviewer)
    elif one.kind == "unclear":
        ask_guide(store, *pair, one.words, reviewer)
    else:
        raise InputError(f"Unknown action {one.kind!r}; expected decide, opinion or unclear.")
