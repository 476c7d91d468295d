"""The doctor: what an operator should know of a project file and of what is around it, as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import NotFoundError, StoreError
from curation.operations.doctor.file_checks import (
    look_at_disk,
    look_at_log,
    look_at_permissions,
    look_for_leftovers,
)
from curation.operations.doctor.findings import DoctorFinding
from curation.operations.doctor.project_checks import CHECKS, read_everything
from curation.store import open_store
from curation.store.project_file import require_file


@dataclass(frozen=True)
class Examination:
    """All findings, in the order of `CHECKS`; `not_checked` is what → why."""

    project: Path
    findings: tuple[DoctorFinding, ...]
    not_checked: dict[str, str]

    @property
    def problems(self) -> int:
        return sum(finding.level == "problem" for finding in self.findings)


def examine(project: Path, folders: Sequence[Path] = (), *, clean: bool = False) -> Examination:
    """Examine a project that may be in use.

    Parameters
    ----------
    folders: where exports are written; what killed processes left there is found, too.
    clean: remove what killed processes have left.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError: it is a folder, empty, or may not be read.
    """
    project = project.resolve()
    require_file(project)
    findings = [*look_at_log(project), *look_at_permissions(project), *look_at_disk(project)]
    findings += look_for_leftovers([project.parent, *folders], clean)
    not_checked: dict[str, str] = {}
    store = open_store(project)
    try:
        findings += read_everything(store)
    except NotFoundError:
        raise
    except StoreError as error:
        findings.append(DoctorFinding("problem", "file", error.found))
        not_checked = dict.fromkeys(CHECKS, "the file cannot be read")
    else:
        for check in CHECKS.values():
            findings += check(store)
    return Examination(project, tuple(findings), not_checked)
