"""Which files hold the runs of which systems, as `--run` names them.

`NAME=FILE` names a system. Several files of one name are runs of one system, such as seeds. Without a name it
is the file's own, without its endings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import refuse_problems

_NAMED = re.compile(r"([\w.+:@ -]{1,80})=(.+)", re.DOTALL)
_ENDINGS = {
    ".gz",
    ".trec",
    ".run",
    ".txt",
    ".tsv",
    ".tab",
    ".csv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".pq",
}


class RunSource(NamedTuple):
    """A run's file, and the name of its system."""

    name: str
    path: Path


def named_runs(texts: Sequence[str]) -> list[RunSource]:
    """The runs that `NAME=FILE` or `FILE` name.

    Raises
    ------
    InputError: a name or a file is missing, a file is named twice, or two files without a name would give
        their systems the same one.
    """
    refuse_problems([problem for text in texts if (problem := _missing(text))])
    sources = [_source(text) for text in texts]
    paths = Counter(source.path.resolve() for source in sources)
    problems = [
        f"--run {path}: the file is named {count} times" for path, count in paths.items() if count > 1
    ]
    unnamed = Counter(source.name for source, text in zip(sources, texts, strict=True) if not _is_named(text))
    problems += [
        f"{count} files would all be the system {name!r}: name them, as in --run {name}-1=FILE; "
        f"several runs of one system are named alike on purpose, as in --run {name}=FILE"
        for name, count in unnamed.items()
        if count > 1
    ]
    refuse_problems(problems)
    return sources


def _missing(text: str) -> str:
    """What `NAME=FILE` lacks, in a sentence; nothing where it has both or is a file."""
    name, separator, file = text.partition("=")
    if Path(text).is_file() or not (separator and (not name.strip() or not file.strip())):
        return "" if text.strip() else "--run: no file was named; expected --run FILE or --run NAME=FILE"
    if not file.strip():
        return f"--run {text}: the file is missing after =; expected --run {name.strip() or 'NAME'}=FILE"
    return f"--run {text}: the name is missing before =; expected --run NAME={file} or --run {file}"


def _is_named(text: str) -> bool:
    return _NAMED.fullmatch(text) is not None and not Path(text).is_file()


def _source(text: str) -> RunSource:
    match = _NAMED.fullmatch(text)
    if match is not None and _is_named(text):
        return RunSource(match[1].strip(), Path(match[2]))
    path = Path(text)
    name = path.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return RunSource(name, path)
