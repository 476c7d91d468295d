"""Freezing: the project's labels of this moment become a release that never changes.

Labels pass the gate first: the agreement that the project demands. Who freezes against it says why, and the
release carries that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version

from curation import __version__
from curation.agreement.gate import Gate
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.ingest.filters.stored import read_filters
from curation.people.annotators import require_author
from curation.people.seal_access import unseal
from curation.pooling.corpus_texts import read_texts
from curation.releases.freeze.checklist import FreezeCheck, checklist
from curation.releases.freeze.content import CHANGED, Override, ReleaseDraft, Sharing, draft_of, header
from curation.releases.freeze.coverage import FrozenCoverage, add_coverage, read_map_in_force
from curation.releases.freeze.reading import read_rows
from curation.releases.freeze.sharing import check_rule, grade_outside, share_grades
from curation.releases.release_rows import (
    PartRows,
    release_id_of,
    rounded,
    signed_row,
)
from curation.releases.seal import chosen_seals
from curation.splits.certificate.certificate import Certificate, certificate_of, without_sealed
from curation.splits.certificate.certify import certify
from curation.splits.inputs import within
from curation.splits.refusals import edge_sentence
from curation.splits.ties.parameters import rules_of
from curation.splits.ties.search import with_tie_data
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now
from curation.store.documents import current_corpus
from curation.store.release_parts import PartSum, PartText, add_part, read_parts

_NAME = re.compile(r"\w[\w.+-]{0,63}")
_VERSIONED = ("datasketch", "duckdb", "krippendorff", "numpy", "scipy")


@dataclass(frozen=True)
class Frozen:
    """A release as it was frozen.

    Attributes
    ----------
    created: False where the name had this very content already.
    queries, grades: part of the split → number.
    sealed: parts of the split whose grades are handed out for a reason only.
    parts: part of the release → lines.
    changed: grades given on another version of their document, kept and marked.
    sharing: the rule by which grades are shared, how many were, and how many texts have different ones.
    without_relevant: part of the split → queries in it that have no relevant document.
    left_out: reason → number; left_out_documents: reason → ids of the documents that were the reason.
    gate: the agreement against what the project demands.
    override: who froze against it and why; None where the gate was open.
    parent: id of the release before the last re-labeling; None where there was none.
    coverage: what of the coverage map is in the release; None where the project never had one.
    checks: the checklist as it was when it was frozen.
    """

    name: str
    release_id: str
    created: bool
    queries: dict[str, int]
    grades: dict[str, int]
    sealed: tuple[str, ...]
    documents: int
    parts: dict[str, int]
    changed: int
    sharing: Sharing | None
    without_relevant: dict[str, int]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]
    gate: Gate
    override: Override | None
    parent: str | None = None
    coverage: FrozenCoverage | None = None
    checks: tuple[FreezeCheck, ...] = ()


def freeze(
    store: Store,
    name: str,
    allow_disputed: bool = False,
    allow_changed: bool = False,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    override: str | None = None,
    seal: Collection[str] = (),
    *,
    only_complete: bool = False,
    share: str | None = None,
    reason: str | None = None,
) -> Frozen:
    """Freeze queries, grades, split, corpus and all that explains them under a name.

    Parameters
    ----------
    allow_disputed: leave pairs with an open dispute out; otherwise they are refused.
    allow_changed: keep, marked, what was graded on another version of its document only; otherwise it is left
        out and counted.
    override: freeze against the gate, for this reason; the release carries it, with the actor's number. Where
        the gate is open, it is not used.
    seal: parts of the split whose grades are handed out for a reason only, besides the one named test.
    only_complete: leave pairs out that lack an opinion that was planned.
    share: 'identical': documents with the same text have a grade together (`sharing`).
    reason: why queries that a release seals are in an open part of this one.

    Raises
    ------
    InputError: the name cannot be one, the override has no reason, or the split has no part to be sealed.
    NotFoundError: the project does not know the actor.
    RefusedError: the actor is no lead; no corpus, split or grade; open disputes, unless they may be left out;
        queries that a release seals are in an open part, without a reason;
        the agreement is not what the project demands, unless that is overridden; what was judged since the
        split ties queries of different parts; the coverage map's model is needed and cannot be loaded; the
        name holds other content.
    """
    check_name(name)
    if override is not None and not override.strip():
        raise InputError("An override needs a reason: the release carries it.")
    check_rule(share)
    filters = read_filters(store)
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
        rows = read_rows(cursor)
        corpus = current_corpus(cursor) if share else None
        coverage_map = read_map_in_force(cursor)
    content = draft_of(rows, allow_changed, only_complete, filters)
    del rows  # as large as what it became
    if share is not None and corpus is not None:
        share_grades(content, share, read_texts(store, corpus).identical)
    grade_outside(store, content, filters)
    sealed = chosen_seals(content.queries, seal)
    refuse_open(content.disputed, sum(content.grades.values()), content.left_out, allow_disputed)
    _keep_sealed(store, name, content.split.parts, sealed, reason, actor)
    overridden = _passed(content.agreement.gate, actor, override)
    coverage = add_coverage(store, content, coverage_map, progress)
    certificate = _certified(store, content, progress)
    tables = _tables(content, certificate, sealed, overridden)
    lacking = content.without_relevant
    content.tables.clear()
    sums = {part: text.sums for part, text in tables.items()}
    release_id = release_id_of({part: found.sha256 for part, found in sums.items()})
    created = _keep(store, name, release_id, tables, sums, content, actor, overridden)
    return Frozen(
        name=name,
        release_id=release_id,
        created=created,
        queries=content.queries,
        grades=content.grades,
        sealed=sealed,
        documents=content.documents,
        parts={part: found.lines for part, found in sums.items()},
        changed=content.changed,
        sharing=content.sharing,
        without_relevant=lacking,
        left_out=content.left_out,
        left_out_documents=content.left_out_documents,
        gate=content.agreement.gate,
        override=overridden,
        parent=content.relabeled.get("parent"),
        coverage=coverage,
        checks=checklist(content, sealed, allow_disputed),
    )


def _keep_sealed(
    store: Store, name: str, parts: Mapping[str, str], sealed: Collection[str], reason: str | None, actor: str
) -> None:
    """Stop where what a release seals would leave by an open part of this one, unless somebody says why."""
    leaving = [query_id for query_id, part in parts.items() if part not in sealed]
    closed = unseal(store, f"freeze {name} with them in an open part", reason, actor, leaving).closed
    if closed:
        held = amount(len(closed), "query", "queries")
        where = ", ".join(sorted({parts[query_id] for query_id in closed}))
        raise RefusedError(
            f"{held} of {where} would be open to all, and a release seals what people said of them. Split "
            "again so that released queries keep their parts, or seal the part.",
            command=f'--seal {where.partition(",")[0]} seals it, and --reason "why" opens them, which is '
            "logged with name and time.",
        )


def _passed(gate: Gate, actor: str, reason: str | None) -> Override | None:
    """Nothing where the gate is open, else the override; without a reason the labels are refused."""
    if gate.open:
        return None
    if reason is not None:
        return Override(actor, reason.strip(), gate.against)
    figures = "\n".join(f"  {check.sentence}" for check in gate.against)
    raise RefusedError(
        f"The labels do not have the agreement that this project demands:\n{figures}\n"
        "Nothing was frozen. To freeze all the same, give a reason, which the release carries.",
        command="`goldgrade plan-overlap` says what more double judging takes, `goldgrade gate` changes the "
        'demand, and --override "why" freezes all the same.',
    )


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a release.

    Raises
    ------
    InputError: it is too long, or has other characters.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"the release name {name!r}: expected up to 64 letters, digits and . _ + -, no spaces"
        )


def refuse_open(disputed: int, grades: int, left_out: Mapping[str, int], allow_disputed: bool) -> None:
    """Refuse labels with open disputes, unless these may be left out, and labels that make an empty release.

    Raises
    ------
    RefusedError: as said.
    """
    if disputed and not allow_disputed:
        raise RefusedError(
            f"{amount(disputed, 'judged pair is', 'judged pairs are')} disputed and open. Decide "
            "them first, or leave them out.",
            command="`goldgrade adjudicate list` shows them, --allow-disputed leaves them out.",
        )
    if grades:
        return
    if CHANGED in left_out:
        raise RefusedError(
            f"The release would be empty: {left_out[CHANGED]:,} × {CHANGED} than the corpus has now. "
            "Judge them again, or keep the grades.",
            command="`goldgrade round open NAME --again` opens a round for them, --allow-changed keeps them.",
        )
    raise RefusedError(
        "No graded pair is in a part of the split, so the release would be empty. Split again.",
        command="`goldgrade split --dev 0.7 --test 0.3 --seed 0` splits.",
    )


def _certified(store: Store, content: ReleaseDraft, progress: Progress) -> Certificate:
    """Check the split against the labels of now, which may be newer than the split."""
    split = content.split
    rules = rules_of(split.parameters)
    inputs = within(content.graded.inputs, split.parts)
    graded = replace(content.graded, inputs=inputs)
    inputs = with_tie_data(store, inputs, rules, progress)
    parts = {name: split.parts[name] for name in inputs.queries}
    findings = certify(inputs, parts, rules, progress)
    if findings.leaks:
        first = edge_sentence(without_sealed(findings.leaks[0], inputs.sealed), inputs.queries)
        if content.sharing is not None and rules.document is None:
            raise RefusedError(
                "The split was made without looking for nearly identical documents, so identical ones may be "
                f"relevant in different parts, and shared grades tie them. The first tie across: {first}. "
                "Split again with that search, or freeze without sharing grades.",
                command="Split again without --no-near-duplicates, or freeze without --share-grades.",
            )
        ties = amount(len(findings.leaks), "tie now crosses", "ties now cross")
        raise RefusedError(
            f"Since the split was made, labels, documents or goldgrade have changed: {ties} its parts, the "
            f"first being {first}. Split again.",
            command="`goldgrade split` does.",
        )
    return certificate_of(graded, split.split_id, split.parameters, split.groups, parts, findings)


def _tables(
    content: ReleaseDraft, certificate: Certificate, sealed: Sequence[str], override: Override | None
) -> dict[str, PartText]:
    tables = dict(content.tables)
    split = {"split_id": content.split.split_id, "parameters": content.split.parameters}
    tables["split"] = [split | {"certificate": rounded(asdict(certificate))}]
    tables["agreement"] = content.agreement.rows()
    tables["release"] = header(content, sealed, override)
    return {part: _text(tables[part]) for part in sorted(tables)}


def _text(rows: PartRows) -> PartText:
    return rows if isinstance(rows, PartText) else PartText.of_rows(rows)


def _keep(
    store: Store,
    name: str,
    release_id: str,
    tables: Mapping[str, PartText],
    sums: Mapping[str, PartSum],
    content: ReleaseDraft,
    actor: str,
    override: Override | None,
) -> bool:
    """Store the release; says whether the name is new."""
    manifest = {
        **({"half_judged": content.half_judged} if content.half_judged else {}),
        "gate": rounded([check._asdict() for check in content.agreement.gate.checks]),
        "parts": {part: found._asdict() for part, found in sums.items()},
        "versions": {"goldgrade": __version__, **{package: version(package) for package in _VERSIONED}},
    }
    row = signed_row(name, release_id, manifest, utc_now(), actor)
    detail = {"name": name, "release": release_id, "queries": content.queries, "grades": content.grades}
    if override is not None:
        against = [check.sentence for check in override.against]
        detail["override"] = {"reason": override.reason, "against": against}
    with store.transaction(appends=True, large=True) as cursor:
        known = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [name]).fetchone()
        if known is not None and known[0] == release_id:
            return False
        if known is not None:
            before = {part: text.sums for part, text in read_parts(cursor, known[0]).items()}
            differ = sorted(part for part in {**before, **sums} if before.get(part) != sums.get(part))
            raise RefusedError(
                f"The release {name!r} exists with other content (release id {known[0][:12]}…; now it would "
                f"be {release_id[:12]}…). These parts differ: {', '.join(differ)}. A release "
                "never changes: choose another name.",
            )
        if not cursor.execute("SELECT 1 FROM release_parts WHERE release_id = ?", [release_id]).fetchone():
            for part, text in tables.items():
                add_part(cursor, release_id, part, text)
        append_rows(cursor, "releases", [row])
        record_event(cursor, "freeze", {**detail, "left_out": content.left_out}, actor)
    return True
