"""The reviewer's screen: the disputed pairs that come next, who has which, and what the reviewer submits.

A reviewer reads the grades and notes of a pair but never who gave them; an opinion on screen has no place for
it. Sealed pairs are in the queue, as nobody could decide what they cannot read: the log of the seal gets a
line a day for the reviewer who had some on screen (`reviewer_access`).

The pairs come in the order of `disputes`. A pair that another reviewer has on screen is left out, and comes
later if they do not decide it. Such a claim is in the memory of the process that serves the project, and ends
by itself. It spares work and guards nothing: the revision that a reviewer saw guards their decision. What the
reviewer has still to grade comes after that: its opinions would not leave them blind.

A submission has a key by which the screen knows what became of it. The function that the command calls
carries it out, and none is carried out twice: a decision that comes again is known by the revision that its
reviewer saw, a pair waits for one opinion at a time, and the same question is stored once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NamedTuple, Self
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.spans import Spans
from curation.guides.guide import Guide, current_guide
from curation.guides.questions import ask_guide
from curation.labeling.consensus.adjudication import REVIEWERS, OvertakenError, decide
from curation.labeling.consensus.comments import Comment, add_comment, comments
from curation.labeling.consensus.decisions import Pair, recent_decisions, unjudged
from curation.labeling.consensus.disputes import Case, Opinion, case_of, cases, disputes, remarks
from curation.labeling.consensus.second_opinions import ask_opinion, awaited_opinions
from curation.labeling.judging import Outcome
from curation.labeling.presentation.drawing import NOBODY, draw, whole_passage
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.upcoming import withheld_pairs
from curation.people.annotators import require_author
from curation.people.seal_access import reviewer_access
from curation.store import Store, fetch
from curation.store.documents import title_last_shown

MAX_SHOWN_LENGTH = 12_000
"""Characters of a document that are shown at once; of a longer one, the best passage of about as many."""
_ANCHORS = f"""
SELECT a.document_id, {title_last_shown("a")}, a.grade, a.reason
FROM counted_adjudications a
WHERE a.query_id = ? AND a.document_id <> ? AND a.grade IS NOT NULL ORDER BY a.grade DESC, a.document_id
"""  # noqa: S608
CLAIM_SECONDS = 600.0
"""Seconds for which a pair is with a reviewer after they last did something with it on their screen."""
_projects: WeakKeyDictionary[Store, dict[Pair, tuple[str, float]]] = WeakKeyDictionary()
_lock = threading.Lock()

Name = Annotated[str, Field(min_length=1, max_length=1_000)]


class ShownDecision(NamedTuple):
    """The decision that a pair has.

    Attributes
    ----------
    outdated: it is about an older text and does not count.
    guide_hash: the guide that was in force; None if older decisions do not say.
    evidence: what the reviewer marked.
    """

    grade: int | None
    reason: str
    reviewer: str
    outdated: bool
    guide_hash: str | None
    evidence: Spans = ()


class CaseShowing(NamedTuple):
    """All that a reviewer's screen shows of a pair.

    Attributes
    ----------
    pair_id: a hash of the query and the document.
    revision: how many decisions the pair has had.
    content_hash: the version of the document that is shown.
    passage: the document as the guide's template wants it, the query's words marked.
    has_more: the document is longer; `whole_case` returns all of it.
    url, published: of the document, where the guide has no template.
    facts: the fields that the guide's template shows, in order; None without a template.
    guide_hash: the guide in force.
    opinions: by what they say, so that their order tells nobody's name.
    remarks: what must be known about the versions of the document that were judged.
    """

    pair_id: str
    query_id: str
    document_id: str
    revision: int
    content_hash: str | None
    query: str
    information_need: str | None
    title: list[Segment]
    passage: list[Node]
    has_more: bool
    url: str | None
    published: str | None
    facts: list[Fact] | None
    guide_hash: str
    opinions: tuple[Opinion, ...]
    decision: ShownDecision | None
    remarks: list[str]


class Anchor(NamedTuple):
    """A decided document of the query: what another one of it may be measured by."""

    document_id: str
    title: str
    grade: int
    reason: str


class CaseQueue(NamedTuple):
    """What comes next for a reviewer.

    Attributes
    ----------
    disputed: the pairs that wait for a decision, those below among them.
    elsewhere: of these, how many another reviewer has on screen.
    waiting: pairs that wait for one more opinion, or until the reviewer has graded their own items.
    """

    showings: list[CaseShowing]
    disputed: int
    elsewhere: int
    waiting: int


def next_cases(
    store: Store,
    reviewer: str,
    limit: int = 6,
    after: Sequence[str] = (),
    image_hosts: frozenset[str] = NOBODY,
) -> CaseQueue:
    """The next disputed pairs, without those that the screen has already (`after`: their pair ids).

    Raises
    ------
    RefusedError: adjudication is not theirs.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        own_pairs = withheld_pairs(cursor, reviewer)
    every = {(dispute.query_id, dispute.document_id): dispute for dispute in disputes(store)}
    disputed = {pair_id(*pair): pair for pair in every if pair not in own_pairs}
    others = claimed_by_others(store, reviewer)
    free = [name for name, pair in disputed.items() if pair not in others]
    wanted = [name for name in free if name not in set(after)][:limit]
    reviewer_access(store, reviewer, {disputed[name][0] for name in wanted})
    claim(store, reviewer, [disputed[name] for name in [*after, *wanted] if name in disputed])
    with store.reading() as cursor:
        next_ones = [case_of(cursor, every[disputed[name]]) for name in wanted]
        guide, waiting = current_guide(cursor), len(awaited_opinions(cursor)) + len(every) - len(disputed)
    showings = [showing_of_case(case, guide, image_hosts) for case in next_ones]
    return CaseQueue(showings, len(disputed), len(disputed) - len(free), waiting)


def recent_cases(store: Store, reviewer: str, image_hosts: frozenset[str] = NOBODY) -> list[CaseShowing]:
    """The pairs that the reviewer decided last, newest first, to be decided once more."""
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        own_pairs = withheld_pairs(cursor, reviewer)
    decided = [(decision.query_id, decision.document_id) for decision in recent_decisions(store, reviewer)]
    pairs = [pair for pair in decided if pair not in own_pairs]
    reviewer_access(store, reviewer, {query_id for query_id, _ in pairs})
    with store.reading() as cursor:
        guide, described = current_guide(cursor), cases(cursor, pairs)
    return [showing_of_case(case, guide, image_hosts) for case in described]


def one_case(
    store: Store, reviewer: str, query_id: str, document_id: str, image_hosts: frozenset[str] = NOBODY
) -> CaseShowing:
    """A judged pair, disputed or not, as it is now.

    Raises
    ------
    NotFoundError: nobody has judged the pair.
    RefusedError: adjudication is not theirs, or they have still to grade the pair.
    """
    return showing_of_case(*_open_case(store, reviewer, (query_id, document_id)), image_hosts)


def whole_case(
    store: Store, reviewer: str, query_id: str, document_id: str, image_hosts: frozenset[str] = NOBODY
) -> list[Node]:
    """The whole body of a pair's document, the query's words marked; raises what `one_case` does."""
    case, guide = _open_case(store, reviewer, (query_id, document_id))
    return whole_passage(case.document, case.dispute.query, guide, image_hosts)


def context_of_case(
    store: Store, reviewer: str, query_id: str, document_id: str
) -> tuple[list[Anchor], list[Comment]]:
    """The query's other decided documents, best first, and the comments; raises what `one_case` does.

    A document is an anchor only while its decision counts and its grade is on the scale in force, and never
    while the reviewer has still to grade.
    """
    case, guide = _open_case(store, reviewer, (query_id, document_id))
    with store.reading() as cursor:
        own_pairs = withheld_pairs(cursor, reviewer)
        anchors = fetch(cursor, Anchor, _ANCHORS, [query_id, case.dispute.document_id])
        about = comments(cursor, reviewer, query_id, document_id)
    shown = [
        anchor
        for anchor in anchors
        if (query_id, anchor.document_id) not in own_pairs and anchor.grade in guide.values
    ]
    return shown, about


def pair_id(query_id: str, document_id: str) -> str:
    """A hash of a pair on a reviewer's screen."""
    return digest("pair", query_id, document_id)[:16]


def showing_of_case(case: Case, guide: Guide, image_hosts: frozenset[str] = NOBODY) -> CaseShowing:
    """What the screen shows of a case under the guide in force."""
    item = case.dispute
    shown = draw(
        case.document,
        item.query,
        guide.presentation,
        longest=MAX_SHOWN_LENGTH,
        image_hosts=image_hosts,
        markable=guide.evidence is not None,
    )
    made = item.decision
    decision = made and ShownDecision(
        made.grade, made.reason, made.reviewer, item.decision_outdated, made.guide_hash, item.evidence
    )
    return CaseShowing(
        pair_id=pair_id(item.query_id, item.document_id),
        query_id=item.query_id,
        document_id=item.document_id,
        revision=case.revision,
        content_hash=item.content_hash,
        query=item.query,
        information_need=case.information_need,
        **shown._asdict(),
        guide_hash=guide.guide_hash,
        opinions=item.opinions,
        decision=decision,
        remarks=remarks(item),
    )


def _open_case(store: Store, reviewer: str, pair: Pair) -> tuple[Case, Guide]:
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        if pair in withheld_pairs(cursor, reviewer):
            raise RefusedError(
                "This pair is among yours, and you have still items to grade. Decide it afterwards."
            )
        described, guide = cases(cursor, [pair]), current_guide(cursor)
    if not described:
        raise unjudged(*pair)
    reviewer_access(store, reviewer, [pair[0]])
    return described[0], guide


def claim(store: Store, reviewer: str, pairs: Iterable[Pair]) -> None:
    """These pairs are now all that the reviewer has claimed; the claims of other reviewers stay."""
    now = time.monotonic()
    with _lock:
        claims = _projects.setdefault(store, {})
        for pair, (who, until) in list(claims.items()):
            if who == reviewer or until <= now:
                del claims[pair]
        for pair in pairs:
            claims.setdefault(pair, (reviewer, now + CLAIM_SECONDS))


def claimed_by_others(store: Store, reviewer: str) -> set[Pair]:
    """The pairs that are with another reviewer now."""
    now = time.monotonic()
    with _lock:
        claims = _projects.get(store, {})
        return {pair for pair, (who, until) in claims.items() if who != reviewer and until > now}


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


def submit_decisions(store: Store, reviewer: str, submissions: Sequence[ReviewerSubmission]) -> list[Outcome]:
    """Do what a reviewer submitted, in order; each is answered on its own."""
    return [_outcome(store, reviewer, submission) for submission in submissions]


def _outcome(store: Store, reviewer: str, submission: ReviewerSubmission) -> Outcome:
    try:
        _carry_out(store, reviewer, submission)
    except OvertakenError as error:
        reviewer_access(store, reviewer, [submission.query_id])  # the answer says what was decided
        if error.decision.reviewer == reviewer:
            message = "You decided that pair in another tab or window; the decision made there counts."
            return Outcome(submission.client_key, "stale", message)
        return Outcome(submission.client_key, "stale", error.found)
    except (InputError, NotFoundError, RefusedError) as error:
        return Outcome(submission.client_key, "refused", error.found)
    return Outcome(submission.client_key, "saved")


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
