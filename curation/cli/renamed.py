"""Former names of commands and options, with the names that replaced them.

A key is the first words of a command, or an option of a command; an option without a command belongs to all
commands. `goldgrade` answers a former name before it parses the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

RENAMED = {
    "--by": "--as NAME",
    "adjudicate decide": "decide QUERY DOCUMENT",
    "adjudicate list": "disputes",
    "adjudicate send-back": "decide QUERY DOCUMENT --second-opinion",
    "adjudicate unclear": "decide QUERY DOCUMENT --unclear TEXT",
    "agreement --annotators": "agreement --breakdown pair",
    "annotator activate": "people set NAME --activate",
    "annotator add": "people add NAME",
    "annotator deactivate": "people set NAME --deactivate",
    "annotator identity": "people set NAME --email ADDRESS",
    "annotator invite": "people add NAME --link",
    "annotator list": "people list",
    "annotator password": "people set NAME --link",
    "annotator role": "people set NAME --role ROLE",
    "annotator sign-ins": "people list --sign-ins",
    "answers decide": "decide QUERY --task TASK",
    "answers disputes": "disputes --reference-answers",
    "answers list": "answers status",
    "answers nuggets propose": "answers nuggets",
    "answers nuggets show": "answers nuggets --proposed",
    "answers reopen": "answers open TASK --reopen",
    "answers show": "answers status TASK --query QUERY",
    "card": "releases NAME --card",
    "certificate": "split --certificate",
    "chunks": "evaluate RELEASE --run FILE --splitter FILE",
    "consistency": "agreement --breakdown annotator",
    "contributions": "pool --contributions last",
    "coverage effects": "evaluate RELEASE --run FILE --breakdown cluster,grid",
    "coverage gaps": "coverage --gaps",
    "coverage map": "coverage --html FILE",
    "coverage open-tasks": "queries write",
    "coverage rename": "coverage --rename NUMBER=NAME",
    "coverage synthetic": "queries write --queries N --share SHARE",
    "coverage write": "queries write",
    "coverage written": "queries write",
    "demo": "init --demo FOLDER",
    "duplicates": "split --dry-run",
    "engine add": "import engine NAME FILE --kind KIND",
    "engine try": "import engine NAME --try TEXT",
    "evaluate --html": "evaluate RELEASE --run FILE --out FILE.html",
    "evaluate --per-query": "evaluate RELEASE --run FILE --out FILE.txt",
    "evaluate --summary": "evaluate RELEASE --run FILE --out FILE.md",
    "evaluate --table": "evaluate RELEASE --run FILE --out FILE.csv",
    "evaluate --to-pool": "import run FILE --name NAME",
    "guide check": "guide use FILE --dry-run",
    "guide diff": "guide show NEW --against OLD",
    "guide questions": "guide show --questions",
    "guide versions": "guide show --versions",
    "import corpus --leave": "import corpus URI --in-place",
    "import delete-log": "import traffic --delete LOG",
    "import logs": "import traffic --list",
    "import nuggets": "import answers FILE --nuggets",
    "leakage": "split --dry-run",
    "notices": "status --notify",
    "plan-overlap": "round open NAME --annotators NAMES --dry-run",
    "pool --sample-bands": "pool --budget N",
    "pool --sample-budget": "pool --budget N",
    "practice again": "practice ROUND --retry ANNOTATOR",
    "practice open": "practice ROUND --annotators NAMES",
    "practice pass": "practice ROUND --pass ANNOTATOR --reason WHY",
    "practice status": "practice ROUND",
    "quality": "agreement --round NAME",
    "query add": "queries add TEXT",
    "relabel show": "relabel plan --stored PLAN",
    "relabel status": "relabel plan --due",
    "release list": "releases",
    "release pack": "export NAME --out NAME.goldgrade",
    "release sealed-limit": "releases --sealed-limit N",
    "release show": "releases NAME",
    "round close": "round set ROUND closed",
    "round delete": "round set ROUND deleted",
    "round draw": "round open ROUND --draw N",
    "round extend": "round move ROUND --join NAMES",
    "round list": "round status",
    "round pause": "round set ROUND paused",
    "round pilot": "round status ROUND",
    "round reassign": "round move ROUND --from NAME",
    "round reopen": "round set ROUND open",
    "round resume": "round set ROUND open",
    "run": "baseline RELEASE --out FOLDER",
    "sample --exclude-release": "sample --size N --exclude-released",
    "split --dev": "split --part dev=0.7 --part test=0.3",
    "split --test": "split --part dev=0.7 --part test=0.3",
    "tags declare": "tags --declare NAME",
    "tags find": "tags --find",
    "tags import": "tags --file FILE",
    "tags list": "tags",
    "tags set": "tags QUERY --set TAG",
}
"""Former words of a command line → the present words. A removed command without a replacement has no row."""
_FIELD = re.compile(r"--([a-z]+(?:-[a-z]+)*)-field")


def explain_renamed(arguments: Sequence[str]) -> list[str]:
    """Make a sentence for each former name in a command line, given without the options of `goldgrade`
    itself."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    words = [argument.partition("=")[0] for argument in options]
    typed = [key for key in RENAMED if _is_typed(key, words)]
    sentences = [f"`goldgrade {key}` is `goldgrade {RENAMED[key]}` now." for key in typed]
    for option in filter(None, map(_FIELD.fullmatch, words)):
        sentences.append(f"{option[0]} COLUMN is called --map {option[1].replace('-', '_')}=COLUMN.")
    return sentences


def _is_typed(key: str, words: Sequence[str]) -> bool:
    """Return whether the words begin with the command of the key and contain its option."""
    command, _, option = key.partition("--")
    start = command.split()
    return list(words[: len(start)]) == start and (not option or f"--{option}" in words)
