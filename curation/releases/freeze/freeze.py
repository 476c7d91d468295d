"""The freeze of the project's current labels into a release that never changes.

The labels must first pass the gate: a threshold of agreement between annotators. A person who freezes labels
below the threshold gives a reason, which the release contains.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version

from curation import __version__
from curation.agreement.gate import Gate
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.ingest.filters import Filters, read_filters
from curation.people.annotators import require_author
from curation.people.seal_access import unseal
from curation.pooling.corpus_texts import read_texts
from curation.queries.coverage.coverage_map import CoverageMap
from curation.releases.checksums import compute_release_id, round_floats, sign_row
from curation.releases.freeze.checklist import FreezeCheck, check_table, checklist, refuse_open
from curation.releases.freeze.coverage_part import measure_coverage, read_current_map
from curation.releases.freeze.draft import Override, ReleaseDraft, make_draft, make_header
from curation.releases.freeze.filter_grades import grade_outside_filter
from curation.releases.freeze.project_rows import read_rows
from curation.releases.freeze.shared_grades import check_rule, share_grades
from curation.releases.overview import make_part_table
from curation.releases.requests import FreezeRequest
from curation.releases.seal import choose_seals
from curation.splits.certificate import Certificate, make_certificate
from curation.splits.certify import certify
from curation.splits.chains import describe_edge
from curation.splits.inputs import complete_inputs, restrict_inputs
from curation.splits.sealed_ties import hide_sealed_documents
from curation.splits.stored_rules import read_rules
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now
from curation.store.documents import current_corpus
from curation.store.release_parts import PartText, add_part, read_parts

_NAME = re.compile(r"\w[\w.+-]{0,63}")
_VERSIONED = ("datasketch", "duckdb", "krippendorff", "numpy", "scipy")
PartTexts = dict[str, PartText]
"""The text of each part of a release, by the name of the part."""


@dataclass(frozen=True)
class Frozen:
    """The report on a frozen release.

    Attributes
    ----------
    created: False if a release with this name and this content existed already.
    queries, grades: part of the split → number.
    sealed: parts of the split whose grades people get only for a reason.
    parts: part of the release → number of lines.
    changed: number of grades on another version of their document, which are kept and marked.
    sharing: the rule by which grades are shared, the number of shared grades, and of texts with conflicts.
    without_relevant: part of the split → number of its queries that have no relevant document.
    left_out: reason → number.
    left_out_documents: reason → ids of the documents whose pairs were left out.
    gate: the agreement against the demand of the project.
    override: the person who froze despite the gate and the reason; None if the gate was open.
    parent: id of the release before the last re-labeling; None without a re-labeling.
    coverage: a sentence about the coverage map in the release; None if the project never had a map.
    checks: the checklist at the time of the freeze.
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
    sharing: dict[str, object] | None
    without_relevant: dict[str, int]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]
    gate: Gate
    override: Override | None
    parent: str | None = None
    coverage: str | None = None
    checks: tuple[FreezeCheck, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Return sentences on the grades that the release contains, shares or leaves out."""
        outcome = "Froze" if self.created else "Nothing changed. The project already has this content as"
        queries = sum(self.queries.values())
        lacking = sum(self.without_relevant.values())
        lines = {"nuggets": "nugget", "evidence": "evidence mark"}
        counts = [
            pluralize(queries, "query", "queries"),
            pluralize(sum(self.grades.values()), "grade"),
            pluralize(self.documents, "document"),
            *(pluralize(self.parts[part], line) for part, line in lines.items() if part in self.parts),
        ]
        remarks = [f"{outcome} {self.name}: {', '.join(counts)}."]
        if lacking:
            parts = ", ".join(f"{count:,} of {part}" for part, count in self.without_relevant.items())
            warning = " No system can be evaluated on this release." if lacking == queries else ""
            queries_lacking = pluralize(lacking, "query has", "queries have")
            remarks.append(f"{queries_lacking} no relevant document ({parts}).{warning}")
        if self.changed:
            grades = pluralize(self.changed, "grade")
            remarks.append(f"The release keeps and marks {grades} on a different version of the document.")
        if self.sharing is not None:
            remarks.append(
                f"Grades shared between identical documents: {self.sharing['grades']:,}. "
                f"{self.sharing['conflicts']:,} texts have different grades under different ids, so "
                "documents with these texts do not share grades."
            )
        if self.override is not None:
            reason = self.override.reason
            remarks.append(f"The release was frozen despite the gate, for this reason: “{reason}”.")
        return [*remarks, *describe_left_out(self.left_out)]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return tables of the parts of the release, and of the checklist of the freeze."""
        parts = make_part_table(f"Release {self.name}", self.queries, self.grades, self.sealed)
        return (parts, check_table(self.checks))


def prepare_draft(store: Store, request: FreezeRequest) -> ReleaseDraft:
    """Make the draft of the release that `freeze` would make, without tables and without a check of the
    split.

    Raises
    ------
    RefusedError: there is no corpus or no split.
    """
    filters = read_filters(store)
    rows = store.read(read_rows)
    draft = make_draft(rows, request, filters)
    _finish_draft(store, draft, filters)
    draft.tables.clear()
    return draft


def find_freeze_problem(draft: ReleaseDraft) -> str | None:
    """Return the problem that prevents a freeze even if a reason is given; None if no problem does."""
    try:
        refuse_open(draft)
    except RefusedError as error:
        return error.found
    return None


def freeze(
    store: Store, request: FreezeRequest, progress: Progress = silent, actor: str = COMMAND_LINE
) -> Frozen:
    """Freeze queries, grades, split and corpus as a release with a name.

    A reason to freeze despite the gate has no effect if the labels pass the gate. Otherwise the release
    contains the reason, with the number of the actor.

    Raises
    ------
    InputError: the name is wrong, the override has no reason, or the split has no such part to be sealed.
    NotFoundError: the project does not know the actor.
    RefusedError: the actor is not a lead; no corpus, split or grade; open disputes, unless they may be left
        out; queries that a release seals are in an open part, without a reason; the agreement does not meet
        the demand of the project, unless that is overridden; judgments since the split tie queries of
        different parts; the model of the coverage map is needed and cannot be loaded; the name has other
        content.
    """
    check_name(request.name)
    if request.override is not None and not request.override.strip():
        raise InputError("An override needs a reason, which the release keeps.")
    check_rule(request.share)
    filters = read_filters(store)
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
        rows = read_rows(cursor)
        corpus = current_corpus(cursor) if request.share else None
        coverage_map = read_current_map(cursor)
    draft = make_draft(rows, request, filters)
    del rows  # as large as the draft
    if request.share is not None and corpus is not None:
        share_grades(draft, request.share, read_texts(store, corpus).identical)
    _finish_draft(store, draft, filters)
    refuse_open(draft)
    _refuse_opening_sealed(store, draft, actor)
    override = _check_gate(draft.gate, actor, request.override)
    coverage = _add_coverage(store, draft, coverage_map, progress)
    certificate = _check_split(store, draft, progress)
    texts = _make_texts(draft, certificate, override)
    draft.tables.clear()
    sums = {table: text.sums for table, text in texts.items()}
    release_id = compute_release_id({table: table_sum.sha256 for table, table_sum in sums.items()})
    created = _store_release(store, release_id, texts, draft, actor, override)
    fields = "queries grades sealed documents changed sharing without_relevant left_out left_out_documents"
    return Frozen(
        name=request.name,
        release_id=release_id,
        created=created,
        parts={table: table_sum.lines for table, table_sum in sums.items()},
        gate=draft.gate,
        override=override,
        parent=draft.relabelings.get("parent"),
        coverage=coverage,
        checks=checklist(draft),
        **{field: getattr(draft, field) for field in fields.split()},
    )


def check_name(name: str) -> None:
    """Reject a text that cannot be the name of a release.

    Raises
    ------
    InputError: the name is too long, or has other characters.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"the name {name!r}: expected up to 64 letters, digits and . _ + -, no spaces")


def _finish_draft(store: Store, draft: ReleaseDraft, filters: Filters) -> None:
    """Add the grades that filters give, the sealed parts, and the counts of queries without a relevant
    document."""
    grade_outside_filter(store, draft, filters)
    draft.sealed = choose_seals(draft.queries, draft.request.seal)
    draft.hide_sealed_matches()
    draft.count_without_relevant()


def _add_coverage(
    store: Store, draft: ReleaseDraft, coverage_map: CoverageMap | str | None, progress: Progress
) -> str | None:
    """Add the corpus coverage to the draft, if the project has a usable map, and return a sentence on it."""
    if not isinstance(coverage_map, CoverageMap):
        return coverage_map and f"The release has no clusters of its queries: {coverage_map}"
    relevant_grade = draft.split.parameters["relevant_grade"]
    sentence, added = measure_coverage(
        store, coverage_map, draft.tables["queries"], draft.tables["qrels"], relevant_grade, progress
    )
    draft.tables |= added
    return sentence


def _refuse_opening_sealed(store: Store, draft: ReleaseDraft, actor: str) -> None:
    """Reject an open part that would contain sealed queries of an earlier release, unless a reason is
    given."""
    request = draft.request
    part_of = draft.split.parts
    open_queries = [query_id for query_id, part in part_of.items() if part not in draft.sealed]
    purpose = f"freeze {request.name} with the queries in an open part"
    closed = unseal(store, purpose, request.reason, actor, open_queries).closed
    if closed:
        queries = pluralize(len(closed), "query", "queries")
        parts = ", ".join(sorted({part_of[query_id] for query_id in closed}))
        raise RefusedError(
            f"{queries} of {parts} would be open to everyone, although a release seals these queries. Split "
            "again so that released queries keep their parts, or seal the part.",
            command=f'--seal {parts.partition(",")[0]} seals the part. --reason "why" opens the queries, '
            "and is logged with your name and the time.",
        )


def _check_gate(gate: Gate, actor: str, reason: str | None) -> Override | None:
    """Return the override of the agreement gate, or None if the labels pass the gate.

    Without a reason, refuse labels that miss it.
    """
    if gate.open:
        return None
    if reason is not None:
        return Override(actor, reason.strip(), gate.against)
    figures = "\n".join(f"  {check.sentence}" for check in gate.against)
    raise RefusedError(
        f"The agreement of the labels is below the threshold of this project:\n{figures}\n"
        "Nothing was frozen. To freeze anyway, give a reason; the release stores it.",
        command='`goldgrade gate` changes the threshold. --override "why" freezes anyway.',
    )


def _check_split(store: Store, draft: ReleaseDraft, progress: Progress) -> Certificate:
    """Check the split against the current labels, which may be newer than the split."""
    split = draft.split
    rules = read_rules(split.parameters)
    inputs = restrict_inputs(draft.graded.inputs, split.parts)
    graded = replace(draft.graded, inputs=inputs)
    inputs = complete_inputs(store, inputs, rules, progress)
    parts = {name: split.parts[name] for name in inputs.queries}
    findings = certify(inputs, parts, rules, progress)
    if findings.leaks:
        first = describe_edge(hide_sealed_documents(findings.leaks[0], inputs.sealed), inputs.queries)
        if draft.sharing is not None and rules.document is None:
            raise RefusedError(
                "The split ignored near-duplicate documents, so identical documents may be relevant in "
                f"different parts, and shared grades tie their queries. The first such tie: {first}. "
                "Split again with near-duplicate documents, or freeze without sharing grades.",
                command="Split again without --no-near-duplicates, or freeze without --share-grades.",
            )
        ties = pluralize(len(findings.leaks), "tie now crosses", "ties now cross")
        raise RefusedError(
            f"Since the split was made, labels, documents or goldgrade have changed: {ties} its parts. First "
            f"tie between parts: {first}. Make a new split.",
            command="`goldgrade split` makes a new split.",
        )
    return make_certificate(graded, split.split_id, split.parameters, split.groups, parts, findings)


def _make_texts(draft: ReleaseDraft, certificate: Certificate, override: Override | None) -> PartTexts:
    """Map part names to texts: the tables of the draft, and the parts 'split' and 'release'."""
    split = {"split_id": draft.split.split_id, "parameters": draft.split.parameters}
    split["certificate"] = round_floats(asdict(certificate))
    parts = sorted({**draft.tables, "split": [split], "release": make_header(draft, override)}.items())
    return {part: rows if isinstance(rows, PartText) else PartText.of_rows(rows) for part, rows in parts}


def _store_release(
    store: Store,
    release_id: str,
    texts: PartTexts,
    draft: ReleaseDraft,
    actor: str,
    override: Override | None,
) -> bool:
    """Store the release, and return whether its name is new."""
    name, sums = draft.request.name, {table: text.sums for table, text in texts.items()}
    manifest = {
        **({"half_judged": draft.half_judged} if draft.half_judged else {}),
        "gate": round_floats([check._asdict() for check in draft.gate.checks]),
        "parts": {table: table_sum._asdict() for table, table_sum in sums.items()},
        "versions": {"goldgrade": __version__, **{package: version(package) for package in _VERSIONED}},
    }
    row = sign_row(name, release_id, manifest, utc_now(), actor)
    detail = {"name": name, "release": release_id, "queries": draft.queries, "grades": draft.grades}
    if override is not None:
        against = [check.sentence for check in override.against]
        detail["override"] = {"reason": override.reason, "against": against}
    with store.transaction(appends=True, large=True) as cursor:
        stored = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [name]).fetchone()
        if stored is not None and stored[0] == release_id:
            return False
        if stored is not None:
            frozen = {table: text.sums for table, text in read_parts(cursor, stored[0]).items()}
            differing = sorted(table for table in {**frozen, **sums} if frozen.get(table) != sums.get(table))
            raise RefusedError(
                f"The release {name!r} already exists with different content (release id {stored[0][:12]}…; "
                f"the new id would be {release_id[:12]}…). Parts that differ: {', '.join(differing)}. A "
                "release never changes: choose another name."
            )
        if not cursor.execute("SELECT 1 FROM release_parts WHERE release_id = ?", [release_id]).fetchone():
            for table, text in texts.items():
                add_part(cursor, release_id, table, text)
        append_rows(cursor, "releases", [row])
        record_event(cursor, "freeze", {**detail, "left_out": draft.left_out}, actor)
    return True
