"""The reviewer's queue: the disputed pairs that come next, each with all that a screen shows of it.

A reviewer reads the grades and notes of a pair but never who gave them; `ShownOpinion` has no place for it.
Sealed pairs are among them, as nobody could decide what they cannot read: the log of the seal gets a line a
day for the reviewer who had some on screen (`door`).
The pairs come in the order of `disputes`. What another reviewer has on screen just now is left out, and
comes later if they do not decide it (`claims`). What the reviewer has still to grade comes after that: its
opinions would not leave them blind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.spans import Spans
from curation.core.text import digest
from curation.guides.guide import Guide, current_guide
from curation.labeling.consensus.adjudication import REVIEWERS
from curation.labeling.consensus.claims import claim, claimed_by_others
from curation.labeling.consensus.comments import Comment, comments
from curation.labeling.consensus.decisions import Pair, recent_decisions
from curation.labeling.consensus.disputes import Case, case_of, cases, disputes, remarks, unjudged
from curation.labeling.consensus.second_opinions import awaited_opinions
from curation.labeling.presentation.drawing import NOBODY, draw, whole_passage
from curation.labeling.presentation.elements import Fact, Node
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.session.own_answers import withheld_pairs
from curation.people.annotators import require_author
from curation.people.seal_access import reviewers_door
from curation.store import Store, fetch
from curation.store.documents import title_last_shown

LONGEST = 12_000
"""Characters of a document that are shown at once; of a longer one, the best passage of about as many."""

_ANCHORS = f"""
SELECT a.document_id, {title_last_shown("a")}, a.grade, a.reason
FROM counted_adjudications a
WHERE a.query_id = ? AND a.document_id <> ? AND a.grade IS NOT NULL ORDER BY a.grade DESC, a.document_id
"""  # noqa: S608


class ShownOpinion(NamedTuple):
    """What one annotator said; grade is None for cannot-tell. `words` is their reason and note, or ''.

    evidence: what they marked in the body of the version that it is about.
    """

    grade: int | None
    words: str
    other_text: bool
    evidence: Spans = ()


class ShownDecision(NamedTuple):
    """The decision that a pair has.

    Attributes
    ----------
    outdated: it is about an older text and does not count.
    guide_hash: the guide that was in force; None where older decisions do not say.
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
    opinions: list[ShownOpinion]
    decision: ShownDecision | None
    remarks: list[str]


class Anchor(NamedTuple):
    """A decided document of the query: what another one of it may be measured by."""

    document_id: str
    title: str
    grade: int
    reason: str


class CaseContext(NamedTuple):
    """What helps to decide a pair: the query's other decided documents, best first, and the comments."""

    anchors: list[Anchor]
    comments: list[Comment]


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
        own = withheld_pairs(cursor, reviewer)
    every = {(dispute.query_id, dispute.document_id): dispute for dispute in disputes(store)}
    disputed = {pair_id(*pair): pair for pair in every if pair not in own}
    others = claimed_by_others(store, reviewer)
    free = [name for name, pair in disputed.items() if pair not in others]
    wanted = [name for name in free if name not in set(after)][:limit]
    reviewers_door(store, reviewer, {disputed[name][0] for name in wanted})
    claim(store, reviewer, [disputed[name] for name in [*after, *wanted] if name in disputed])
    with store.reading() as cursor:
        found = [case_of(cursor, every[disputed[name]]) for name in wanted]
        guide, waiting = current_guide(cursor), len(awaited_opinions(cursor)) + len(every) - len(disputed)
    showings = [showing_of_case(case, guide, image_hosts) for case in found]
    return CaseQueue(showings, len(disputed), len(disputed) - len(free), waiting)


def recent_cases(store: Store, reviewer: str, image_hosts: frozenset[str] = NOBODY) -> list[CaseShowing]:
    """The pairs that the reviewer decided last, newest first, to be decided once more."""
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        own = withheld_pairs(cursor, reviewer)
    decided = [
        (recent_decision.query_id, recent_decision.document_id)
        for recent_decision in recent_decisions(store, reviewer)
    ]
    pairs = [pair for pair in decided if pair not in own]
    reviewers_door(store, reviewer, {query_id for query_id, _ in pairs})
    with store.reading() as cursor:
        guide, found = current_guide(cursor), cases(cursor, pairs)
    return [showing_of_case(case, guide, image_hosts) for case in found]


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


def context_of_case(store: Store, reviewer: str, query_id: str, document_id: str) -> CaseContext:
    """What helps to decide a pair; raises what `one_case` does.

    A document is an anchor only while its decision counts and its grade is on the scale in force, and never
    while the reviewer has still to grade.
    """
    case, guide = _open_case(store, reviewer, (query_id, document_id))
    with store.reading() as cursor:
        own = withheld_pairs(cursor, reviewer)
        anchors = fetch(cursor, Anchor, _ANCHORS, [query_id, case.dispute.document_id])
        said = comments(cursor, reviewer, query_id, document_id)
    shown = [
        anchor
        for anchor in anchors
        if (query_id, anchor.document_id) not in own and anchor.grade in guide.values
    ]
    return CaseContext(shown, said)


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
        longest=LONGEST,
        image_hosts=image_hosts,
        markable=guide.evidence is not None,
    )
    opinions = [
        ShownOpinion(opinion.grade, ": ".join(filter(None, (opinion.reason, opinion.note))), *opinion[3:])
        for opinion in item.opinions
    ]
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
        opinions=opinions,
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
        found, guide = cases(cursor, [pair]), current_guide(cursor)
    if not found:
        raise unjudged(*pair)
    reviewers_door(store, reviewer, [pair[0]])
    return found[0], guide
