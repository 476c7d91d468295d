"""One vocabulary: an option's name has one meaning in all commands, and a new name is decided here.

`SHARED` are names in several commands: what every help of the name says, and the type of its values.
`ALONE` are names that one command has. A new name, a second meaning or a help that is no sentence fails.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

import pytest

from docs import make_commands
from tests.support import ROOT

SHARED = {
    "--add": ("to the current corpus", "bool"),
    "--address": ("address of the app", "str"),
    "--against": ("file", "str"),
    "--again": ("also", "bool"),
    "--annotator": ("annotator", "str"),
    "--annotators": ("annotators", "str"),
    "--answers": ("answer file", "str"),
    "--breakdown": ("broken down by", "str"),
    "--calls": ("requests to send", "int"),
    "--columns": ("names of the columns", "str"),
    "--date-order": ("how to read dates", "str"),
    "--depth": ("documents", "int"),
    "--documents": ("documents", "int"),
    "--dry-run": ("show ", "bool"),
    "--duplicates": ("blind duplicates", "float"),
    "--encoding": ("encoding of text files", "str"),
    "--email": ("address", "str"),
    "--engine": ("engine to query", "str"),
    "--file": ("file", "Path"),
    "--folder": ("folder", "Path"),
    "--format": ("format", "str"),
    "--grade": ("one of the guide's scale", "int"),
    "--grade-map": ("grades on another scale", "str"),
    "--html": ("as one html file", "Path"),
    "--judge": ("judge", "str"),
    "--license": ("license of the data set", "str"),
    "--link": ("a link that lets the person choose a password", "bool"),
    "--limit": ("number of rows to show; 0 shows all. --json prints all rows.", "int"),
    "--map": ("column that holds a field", "str"),
    "--model": ("model", "str"),
    "--negatives": ("hard negatives", "int"),
    "--no-header": ("no header line", "bool"),
    "--out": ("write", "Path"),
    "--overlap": ("how many annotators", "int"),
    "--part": ("part", "str"),
    "--per-day": ("answers expected of an annotator per day", "int"),
    "--queries": ("queries", "int"),
    "--query": ("quer", "str"),
    "--parallel": ("sent at the same time", "int"),
    "--rate": ("requests per second", "float"),
    "--release": ("release", "str"),
    "--relevant-grade": ("lowest grade of a relevant document", "int"),
    "--role": ("role of the person", "str"),
    "--round": ("round", "str"),
    "--run": ("a run file, or name=file", "str"),
    "--seed": ("seed for the random steps", "int"),
    "--send": ("send texts to the language model", "bool"),
    "--share": ("share of", "float"),
    "--size": ("number of", "int"),
    "--skip-repeated": ("keep the best rank of a document", "bool"),
    "--skip-unknown": ("leave out", "bool"),
    "--systems": ("systems", "str"),
    "--strata": ("strata", "str"),
    "--tag": ("tag", "str"),
    "--threshold": ("similarity", "float"),
}
ALONE = set(
    """
    --about --activate --all --allocation --allow-changed --allow-disputed --alpha --annotator-columns
    --annotator-map --ask-from --asker-only --backup-to --baseline --bot-per-day --bot-per-minute --browser
    --budget --by-time --card --certificate --check-model --chunks --clean --consistency --contributions
    --control-items --cut --deactivate --decided --declare --delete --demo --demo-files --design --differences
    --dismiss --document-threshold --draw --due --end-sign-ins --evidence --evidence-from --exclude-judged
    --exclude-released --fail-if --find --for --fresh --from --graded --group-spellings --guide
    --hard-negatives --host --id --ids --images-from --in-place --information-need --instructions --join
    --judged-queries --keep --keep-words --kind --kinds --known-rows --largest-group --list --lists --log-json
    --markup --max-characters --max-words --measures --merged --method --min-count --min-f1 --min-probability
    --name --new --no-email --no-link --no-near-duplicates --no-paraphrase --no-query-text
    --no-shared-documents --notify --nuggets --only-complete --open-rounds --override --overwrite --pairs
    --paraphrase-threshold --pass --pass-mark --password-stdin --people --per-document --personal-data --pick
    --pilot --port --proposed --purpose --query-threshold --questions --quota --random-negatives
    --reference-answers --refresh --region --rename --reopen --repeat-minutes --replace --retry --rounds
    --rule --same --same-grades --seal --sealed-limit --second-opinion --set --share-grades --show --sign-ins
    --significance-test
    --since --single-annotator --smoothing --source --splitter --stemmer --synthetic --task --text
    --titles-only --to --today --top-ten --top-up --topics --try --twice --unanswerable --unclear
    --unjudgeable --unjudged --unset --until --versions --within --without-grades
    """.split()
)
SENTENCE = re.compile(r"[A-Z“'].*[.)]", re.DOTALL)


class Named(NamedTuple):
    """An option of a command."""

    command: str
    help: str
    kind: str


def _options() -> dict[str, list[Named]]:
    found = defaultdict(list)
    for command, about in make_commands.commands():
        if command == "goldgrade" or (hasattr(about, "commands") and not about.invoke_without_command):
            continue
        for one in about.params:
            if one.param_type_name == "option" and not one.hidden:  # those that went are hidden
                kind = _kind(one.type_descriptor.annotation)
                found[one.opts[0]].append(Named(command, " ".join(one.help.split()), kind))
    return found


def _kind(annotation: Any) -> str:
    """The type of a value: for a list the type of its items, text for one of several words."""
    name = re.sub(r"^list\[(.*)\]$", r"\1", getattr(annotation, "__name__", ""))
    name = str(annotation).partition("[")[2].rstrip("]") if name == "list" else name
    name = name.rpartition(".")[2]
    return name if name in {"bool", "int", "float", "str", "Path", "datetime"} else "str"


OPTIONS = _options()


def test_each_name_of_an_option_is_decided_and_one_of_several_commands_has_its_meaning() -> None:
    shared = {name for name, found in OPTIONS.items() if len(found) > 1}
    assert {"one meaning": shared, "one command": OPTIONS.keys() - shared} == {
        "one meaning": SHARED.keys(),
        "one command": ALONE,
    }


@pytest.mark.parametrize("name", SHARED)
def test_a_name_means_the_same_in_every_command(name: str) -> None:
    said, kind = SHARED[name]
    others = [found for found in OPTIONS[name] if said not in found.help.lower() or found.kind != kind]
    assert others == [], f"{name} says {said!r} and takes {kind} elsewhere"


def test_the_help_of_an_option_is_whole_sentences() -> None:
    assert [
        (name, one) for name, found in OPTIONS.items() for one in found if not SENTENCE.fullmatch(one.help)
    ] == []


def test_the_first_sentence_of_a_help_has_at_most_60_characters() -> None:
    firsts = {
        (name, one.help.partition(". ")[0].rstrip(".")) for name, found in OPTIONS.items() for one in found
    }
    assert sorted((name, first) for name, first in firsts if len(first) >= 60) == []


def test_the_help_of_a_group_has_a_whole_sentence_of_60_characters_for_each_command() -> None:
    groups = [(name, about) for name, about in make_commands.commands() if hasattr(about, "commands")]
    lines = [
        (name, line)
        for name, group in groups
        for line in (command.get_short_help_str(200) for command in group.commands.values())
    ]
    assert [(name, line) for name, line in lines if len(line) > 60 or not line.endswith(".")] == []
    assert "..." not in "".join(line for _, line in lines)


def test_documents_show_no_option_that_no_command_has() -> None:
    known = OPTIONS.keys() | {"--project", "--as", "--reason", "--json", "--quiet", "--version", "--help"}
    for _, about in make_commands.commands():
        known |= {name for one in about.params for name in getattr(one, "secondary_opts", ())}
    written = set((ROOT / "docs").glob("*.md")) - {make_commands.TARGET}
    pages = [ROOT / "README.md", *sorted(written), *(ROOT / "labeling_guides").glob("*.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    shown = [named for line in lines for named in re.findall(r"\bgoldgrade [a-z][^`|]*", line)]
    assert [
        (line, name) for line in shown for name in re.findall(r" (--[a-z-]+)", line) if name not in known
    ] == []
