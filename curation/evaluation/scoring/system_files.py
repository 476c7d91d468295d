"""The files of systems, named as `NAME=FILE` or `FILE` on the command line.

Several run files with the same name are runs of one system, for example with several seeds. A system has one
file of answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import refuse_problems

_NAME_AND_FILE = re.compile(r"([\w.+:@ -]{1,80})=(.+)", re.DOTALL)
_FILE_ENDINGS = set(".gz .trec .run .txt .tsv .tab .csv .jsonl .ndjson .json .parquet .pq".split())


class SystemFile(NamedTuple):
    """A file of a system, and the name of the system."""

    name: str
    path: Path


def parse_run_files(texts: Sequence[str]) -> list[SystemFile]:
    """Read `NAME=FILE` or `FILE` as the run files of systems.

    Raises
    ------
    InputError: a name or a file is missing, a file is named twice, or two files without a name would give
        their systems the same name.
    """
    refuse_problems([problem for text in texts if (problem := _find_fault(text))])
    files = [_parse_source(text) for text in texts]
    paths = Counter(source.path.resolve() for source in files)
    repeated = {path: count for path, count in paths.items() if count > 1}
    problems = [f"--run {path}: the file is named {count} times" for path, count in repeated.items()]
    unnamed = Counter(source.name for source, text in zip(files, texts, strict=True) if not _is_named(text))
    problems += [
        f"{count} files would all be the system {name!r}: name them, as in --run {name}-1=FILE; "
        f"several runs of one system are named alike on purpose, as in --run {name}=FILE"
        for name, count in unnamed.items()
        if count > 1
    ]
    refuse_problems(problems)
    return files


def parse_answer_files(texts: Sequence[str]) -> list[SystemFile]:
    """Read `NAME=FILE` or `FILE` as files of answers; by default the system is named after the file.

    Raises
    ------
    InputError: two systems have one name.
    """
    files = []
    for text in texts:
        name, separator, path = text.partition("=")
        if not separator or Path(text).is_file():
            name, path = Path(text).name.removesuffix(".gz").rsplit(".", 1)[0], text
        files.append(SystemFile(name.strip(), Path(path)))
    names = Counter(source.name for source in files)
    refuse_problems(
        [f"--answers: {count} files are the system {name!r}" for name, count in names.items() if count > 1],
        way_out="Give them different names, as in --answers old=a.jsonl --answers new=b.jsonl.",
    )
    return files


def _find_fault(text: str) -> str:
    """Explain which part `NAME=FILE` lacks; '' where it has both parts or is a file."""
    name, separator, file = text.partition("=")
    if Path(text).is_file() or not (separator and (not name.strip() or not file.strip())):
        return "" if text.strip() else "--run: no file was named; expected --run FILE or --run NAME=FILE"
    if not file.strip():
        return f"--run {text}: the file is missing after =; expected --run {name.strip() or 'NAME'}=FILE"
    return f"--run {text}: the name is missing before =; expected --run NAME={file} or --run {file}"


def _is_named(text: str) -> bool:
    return _NAME_AND_FILE.fullmatch(text) is not None and not Path(text).is_file()


def _parse_source(text: str) -> SystemFile:
    match = _NAME_AND_FILE.fullmatch(text)
    if match is not None and _is_named(text):
        return SystemFile(match[1].strip(), Path(match[2]))
    path = Path(text)
    name = path.name
    while Path(name).suffix.lower() in _FILE_ENDINGS:
        name = Path(name).stem
    return SystemFile(name, path)
