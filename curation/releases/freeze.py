"""Freezing: the project's labels of this moment become a release that never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version

from curation import __version__
from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.releases.content import CHANGED, Content, content_of, header, rounded
from curation.releases.frozen import PartSum, part_sum, part_text, release_id_of
from curation.releases.reading import read_rows
from curation.splits.certificate import Certificate, certify
from curation.splits.edges import Thresholds
from curation.splits.material import Material
from curation.splits.split import edge_sentence
from curation.store import Store, append, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json

_NAME = re.compile(r"\w[\w.+-]{0,63}")
_VERSIONED = ("datasketch", "duckdb", "krippendorff", "numpy", "scipy")


@dataclass(frozen=True)
class Frozen:
    """A release as it was frozen.

    Attributes
    ----------
    created: False where the name held this very content already.
    queries, grades: part of the split → number.
    parts: part of the release → lines.
    changed: grades given on another version of their document, kept and marked.
    left_out: reason → number.
    """

    name: str
    release_id: str
    created: bool
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    parts: dict[str, int]
    changed: int
    left_out: dict[str, int]


def freeze(
    store: Store,
    name: str,
    allow_disputed: bool = False,
    allow_changed: bool = False,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> Frozen:
    """Freeze queries, grades, split, corpus and all that explains them under a name.

    Parameters
    ----------
    allow_disputed: leave pairs with an open dispute out; otherwise they are refused.
    allow_changed: keep, marked, what was graded on another version of its document only; otherwise it is left
        out and counted.

    Raises
    ------
    InputError: the name cannot be one.
    RefusedError: no corpus, split or grade; open disputes, unless they may be left out; what was judged since
        the split ties queries of different parts; the name holds other content.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"the release name {name!r}: expected up to 64 letters, digits and . _ + -, no spaces"
        )
    with store.reading() as cursor:
        rows = read_rows(cursor)
    content = content_of(rows, allow_changed)
    _refuse_open(content, allow_disputed)
    certificate = _certified(content, progress)
    texts = _texts(content, certificate)
    sums = {part: part_sum(text) for part, text in texts.items()}
    release_id = release_id_of({part: found.sha256 for part, found in sums.items()})
    created = _keep(store, name, release_id, texts, sums, content, actor)
    return Frozen(
        name=name,
        release_id=release_id,
        created=created,
        queries=content.queries,
        grades=content.grades,
        documents=content.documents,
        parts={part: found.lines for part, found in sums.items()},
        changed=content.changed,
        left_out=content.left_out,
    )


def _refuse_open(content: Content, allow_disputed: bool) -> None:
    if content.disputed and not allow_disputed:
        raise RefusedError(
            f"{_counted(content.disputed, 'judged pair is', 'judged pairs are')} disputed and open. Decide "
            "them first (`goldset adjudicate list` shows them), or leave them out: --allow-disputed."
        )
    if sum(content.grades.values()):
        return
    if CHANGED in content.left_out:
        raise RefusedError(
            f"The release would be empty: {content.left_out[CHANGED]:,} × {CHANGED} than the corpus has now. "
            "Judge them again (`goldset round open NAME --again`), or keep the grades: --allow-changed."
        )
    raise RefusedError(
        "No graded pair lies in a part of the split, so the release would be empty. Split again: "
        "`goldset split --dev 0.7 --test 0.3 --seed 0`."
    )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _certified(content: Content, progress: Progress) -> Certificate:
    """Check the split against the labels of now, which may be newer than the split."""
    parts = content.split.parts
    whole = content.graded.material
    relevant = {name: whole.relevant[name] for name in whole.relevant if name in parts}
    kept = frozenset[str]().union(*relevant.values())
    material = Material(
        {name: text for name, text in whole.queries.items() if name in parts},
        relevant,
        {name: text for name, text in whole.documents.items() if name in kept},
    )
    parameters = content.split.parameters
    thresholds = Thresholds(parameters["query_threshold"], parameters["document_threshold"])
    certificate = certify(material, parts, thresholds, progress)
    if certificate.leaks:
        first = edge_sentence(certificate.leaks[0], material.queries)
        ties = _counted(len(certificate.leaks), "tie now crosses", "ties now cross")
        raise RefusedError(
            f"Since the split was made, labels or documents have changed: {ties} its parts, the first being "
            f"{first}. Split again with `goldset split`."
        )
    return certificate


def _texts(content: Content, certificate: Certificate) -> dict[str, str]:
    tables = dict(content.tables)
    tables["split"] = [{**tables["split"][0], "certificate": rounded(asdict(certificate))}]
    tables["agreement"] = content.agreement.rows()
    tables["release"] = header(content)
    return {part: part_text(tables[part]) for part in sorted(tables)}


def _keep(
    store: Store,
    name: str,
    release_id: str,
    texts: Mapping[str, str],
    sums: Mapping[str, PartSum],
    content: Content,
    actor: str,
) -> bool:
    """Store the release; says whether the name is new."""
    manifest = {
        "parts": {part: found._asdict() for part, found in sums.items()},
        "versions": {"goldset": __version__, **{package: version(package) for package in _VERSIONED}},
    }
    described = canonical_json(manifest)
    detail = {"name": name, "release": release_id, "queries": content.queries, "grades": content.grades}
    with store.transaction() as cursor:
        held = cursor.execute("SELECT release_id FROM releases WHERE name = ?", [name]).fetchone()
        if held is not None and held[0] == release_id:
            return False
        if held is not None:
            raise RefusedError(
                f"The release {name!r} exists with other content (release id {held[0][:12]}…; now it would "
                f"be {release_id[:12]}…). A release never changes: choose another name."
            )
        if not cursor.execute("SELECT 1 FROM release_parts WHERE release_id = ?", [release_id]).fetchone():
            columns = {
                "release_id": [release_id] * len(texts),
                "part": list(texts),
                "content": list(texts.values()),
            }
            append(cursor, "release_parts", columns)
        cursor.execute(
            "INSERT INTO releases VALUES (?, ?, ?, ?, ?)",
            [name, release_id, described, utc_now(), actor],
        )
        record_event(cursor, "freeze", {**detail, "left_out": content.left_out}, actor)
    return True
