"""What a reviewer's screen submits: decisions, comments, requests for one more opinion, guide questions.

Each has a key by which the screen knows what became of it, and is done by the function that the command
calls. None is done twice: a decision that comes again is known by the revision that its reviewer saw, a pair
waits for one opinion at a time, and the same question is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.spans import Spans
from curation.guides.questions import ask_guide
from curation.labeling.consensus.adjudication import OvertakenError, decide
from curation.labeling.consensus.comments import add_comment
from curation.labeling.consensus.second_opinions import ask_opinion
from curation.people.seal_access import reviewers_door
from curation.store import Store

Name = Annotated[str, Field(min_length=1, max_length=1_000)]


class ReviewerSubmission(BaseModel):
    """One action of a reviewer on a pair, as the screen sends it.

    Attributes
    ----------
    kind: 'decide', 'opinion' (ask for one more), 'unclear' (what the guide leaves open here) or 'comment'
        (for other reviewers).
    revision: decide: how many decisions the pair had when the reviewer saw it.
    grade: decide: a grade of the scale, or None for "no grade can be given".
    words: decide: the reason; unclear: the question; comment: what it says.
    content_hash: decide: the version of the document that the reviewer read.
    evidence: decide: characters of its body that show the grade, as pairs of start and end.
    """

    model_config = ConfigDict(extra="forbid")

    query_id: Name
    document_id: Name
    kind: Literal["decide", "opinion", "unclear", "comment"]
    client_key: Annotated[str, Field(max_length=128)]
    revision: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    grade: int | None = None
    words: Annotated[str, Field(max_length=8_000)] = ""
    content_hash: Annotated[str, Field(max_length=128)] | None = None
    evidence: Annotated[Spans, Field(max_length=1_000)] = ()

    @model_validator(mode="after")
    def says_its_grade(self) -> Self:
        """No grade is a decision, too; none may come about because a field was left out."""
        if self.kind == "decide" and "grade" not in self.model_fields_set:
            raise ValueError("a decision says its grade, or null where none can be given")
        return self


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
    return [_outcome(store, reviewer, submission) for submission in submissions]


def _outcome(store: Store, reviewer: str, submission: ReviewerSubmission) -> ReviewerOutcome:
    try:
        _carry_out(store, reviewer, submission)
    except OvertakenError as error:
        reviewers_door(store, reviewer, [submission.query_id])  # the answer says what was decided
        if error.decision.reviewer == reviewer:
            said = "You decided that pair in another tab or window; the decision made there counts."
            return ReviewerOutcome(submission.client_key, "stale", said)
        return ReviewerOutcome(submission.client_key, "stale", error.found)
    except (InputError, NotFoundError, RefusedError) as error:
        return ReviewerOutcome(submission.client_key, "refused", error.found)
    return ReviewerOutcome(submission.client_key, "saved")


def _carry_out(store: Store, reviewer: str, submission: ReviewerSubmission) -> None:
    pair = (submission.query_id, submission.document_id)
    if submission.kind == "decide":
        decide(
            store,
            *pair,
            submission.grade,
            submission.words,
            reviewer,
            submission.revision,
            submission.content_hash,
            submission.evidence,
        )
    elif submission.kind == "opinion":
        ask_opinion(store, *pair, reviewer)
    elif submission.kind == "comment":
        add_comment(store, *pair, submission.words, reviewer, submission.client_key)
    else:
        ask_guide(store, *pair, submission.words, reviewer)
