"""The doctor: checks of a project file and its surroundings, which produce findings for the operator.

Some checks are about the surroundings: the log, permissions, disk, and files left behind by killed processes.
The others are about the content: rows, versions, releases, corpus, jobs, backups and times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import StoreError
from curation.operations import doctor_surroundings as surroundings
from curation.operations.doctor_content import CHECKS, check_rows
from curation.operations.doctor_surroundings import DoctorFinding
from curation.store import open_store
from curation.store.project_file import require_file

LEVEL_LABELS = {"fine": "  ok    ", "note": "  note  ", "problem": "PROBLEM "}


@dataclass(frozen=True)
class Examination:
    """The result of the doctor's examination of a project.

    Attributes
    ----------
    findings: first those on the surroundings, then those on the content in the order of `CHECKS`.
    not_checked: the reason for each check that was not made, by its name.
    """

    project: Path
    findings: tuple[DoctorFinding, ...]
    not_checked: dict[str, str]

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the findings, the checks not made, and the number of problems."""
        sentences = []
        for finding in self.findings:
            command = f" ({finding.command})" if finding.command else ""
            sentences.append(f"{LEVEL_LABELS[finding.level]}{finding.what}: {finding.sentence}{command}")
        for check, reason in self.not_checked.items():
            sentences.append(f"not checked: {check}, because {reason}")
        conclusion = f"Problems: {self.problems:,}." if self.problems else "Nothing needs your attention."
        return [*sentences, conclusion]

    @property
    def problems(self) -> int:
        """Return the number of findings that call for action."""
        return sum(finding.level == "problem" for finding in self.findings)


def examine(project: Path, folders: Sequence[Path] = (), *, clean: bool = False) -> Examination:
    """Examine a project, which may be in use, for problems.

    Parameters
    ----------
    folders: folders of exports, which are also searched for files left behind by killed processes.
    clean: remove the files left behind by killed processes.

    Raises
    ------
    NotFoundError: there is no such file.
    StoreError: the path is a folder, or the file is empty or cannot be read.
    """
    project = project.resolve()
    require_file(project)
    findings = [*surroundings.check_log(project), *surroundings.check_permissions(project)]
    findings += surroundings.check_disk(project)
    findings += surroundings.check_leftovers([project.parent, *folders], clean)
    not_checked: dict[str, str] = {}
    store = open_store(project)
    try:
        findings += check_rows(store)
    except StoreError as error:
        findings.append(DoctorFinding("problem", "file", error.found))
        not_checked = dict.fromkeys(CHECKS, "the file cannot be read")
    else:
        findings += [finding for check in CHECKS.values() for finding in check(store)]
    return Examination(project, tuple(findings), not_checked)
