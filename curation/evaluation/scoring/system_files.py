"""Systems' files, given as `NAME=FILE` or `FILE` on the command line.

Several run files with the same name are runs of one system, for example with several seeds. A system has one
answer file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import refuse_problems
from curation.ingest.readers.fields import ChunkFields

# A name has no slash, so that an argument such as my/dir=x.run is a file.
_NAME_AND_FILE = re.compile(r"([\w.+:@ -]{1,80})=(.+)", re.DOTALL)
_FILE_ENDINGS = set(".gz .trec .run .txt .tsv .tab .csv .jsonl .ndjson .json .parquet .pq".split())


class SystemFile(NamedTuple):
    """A system's file, with the system's name and the columns that a person chose, if any."""

    name: str
    path: Path
    fields: ChunkFields | None = None


class AnswerFields(NamedTuple):
    """Names of the fields in an answer file; None stands for the first usual name found in the file."""

    query: str | None = None
    answer: str | None = None
    contexts: str | None = None
    citations: str | None = None


def parse_run_files(arguments: Sequence[str]) -> list[SystemFile]:
    """Parse `NAME=FILE` or `FILE` as the run files of systems.

    Raises
    ------
    InputError: a name or a file is missing, a file is named twice, or two files without a name would give
        their systems the same name.
    """
    files = _parse_system_files(arguments, "--run")
    paths = Counter(file.path.resolve() for file in files)
    repeated = {path: count for path, count in paths.items() if count > 1}
    problems = [f"--run {path}: the same file is given {count} times" for path, count in repeated.items()]
    unnamed = [not _split_argument(argument)[0] for argument in arguments]
    default_names = Counter(file.name for file in compress(files, unnamed))
    problems += [
        f"{count} files would all be the system {name!r}: name them, as in --run {name}-1=FILE; to give "
        f"several runs of one system, use the same name for each, as in --run {name}=FILE"
        for name, count in default_names.items()
        if count > 1
    ]
    refuse_problems(problems)
    return files


def parse_answer_files(arguments: Sequence[str]) -> list[SystemFile]:
    """Parse `NAME=FILE` or `FILE` as the answer files of systems.

    Raises
    ------
    InputError: a name or a file is missing, or two systems have one name.
    """
    files = _parse_system_files(arguments, "--answers")
    names = Counter(file.name for file in files)
    refuse_problems(
        [f"--answers: {count} files are the system {name!r}" for name, count in names.items() if count > 1],
        way_out="Give them different names, as in --answers old=a.jsonl --answers new=b.jsonl.",
    )
    return files


def _parse_system_files(arguments: Sequence[str], option: str) -> list[SystemFile]:
    """Parse an option's file arguments; a system without a name is named after its file."""
    missing = [_explain_missing_part(argument, option) for argument in arguments]
    refuse_problems([sentence for sentence in missing if sentence])
    parts = map(_split_argument, arguments)
    return [SystemFile(name or _make_default_name(file), Path(file)) for name, file in parts]


def _split_argument(argument: str) -> tuple[str, str]:
    """Split an argument into name and file; the name is '' if the argument is only a file."""
    match = _NAME_AND_FILE.fullmatch(argument)
    if match is None or Path(argument).is_file():
        return "", argument
    return match[1].strip(), match[2]


def _make_default_name(file: str) -> str:
    name = Path(file).name
    while Path(name).suffix.lower() in _FILE_ENDINGS:
        name = Path(name).stem
    return name


def _explain_missing_part(argument: str, option: str) -> str:
    """Explain which part of `NAME=FILE` is missing; '' if no part is missing."""
    name, separator, file = argument.partition("=")
    if Path(argument).is_file() or not (separator and (not name.strip() or not file.strip())):
        expected = f"{option} FILE or {option} NAME=FILE"
        return "" if argument.strip() else f"{option}: no file was named; expected {expected}"
    if not file.strip():
        example = f"{option} {name.strip() or 'NAME'}=FILE"
        return f"{option} {argument}: the file is missing after =; expected {example}"
    example = f"{option} NAME={file} or {option} {file}"
    return f"{option} {argument}: the name is missing before =; expected {example}"
