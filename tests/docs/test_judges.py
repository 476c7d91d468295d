"""The first commands of docs/judges.md grade pairs with a model, and people correct it, as it says."""

from __future__ import annotations

import re
import shlex

import pytest

from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.judged_pairs import PAIRS, build_pairs, too_kind, true_grade
from tests.support.language_model import ServedModel, model
from tests.support.projects import add_names, rows_of

pytestmark = pytest.mark.slow

__all__ = ["model"]
CHANGED = {
    **{"--people 200": "--people 30", "--calls 20": "--calls 7", "--rate 5": "--rate 5000"},
    "split": "split --no-paraphrase",
}
"""The page's numbers are for 2,000 pairs; the project of the test has 48, and no embedding model."""


def test_the_commands_of_the_page_run_in_their_order(
    store: Store, model: ServedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
    [block] = re.findall(r"## Grade 2,000 pairs.*?```\n(.*?)```", text, re.DOTALL)
    add_names(build_pairs(store), "ada", "grace")
    folder = store.path.parent
    lines = [f"{query} Q0 {name} {9 - int(name[-1])} 1 x\n" for query, name in PAIRS]
    (folder / "new.trec").write_text("".join(lines))
    monkeypatch.chdir(folder)
    model.answer = too_kind
    printed = {}
    for line in block.splitlines():
        command = line.partition("#")[0].strip()
        for written, size in CHANGED.items():
            command = command.replace(written, size)
        if command == "goldgrade app":
            drawn = rows_of(store, "SELECT DISTINCT query_id, document_id FROM presentations")
            for name in ("ada", "grace"):
                grades = [ImportedJudgment(*pair, name, true_grade(pair[1])) for pair in drawn]
                add_judgments(store, grades, f"{name}.csv")
            continue
        store.close()
        done = invoke(["--project", str(store.path), *shlex.split(command)[1:]])
        assert done.exit_code == 0, (command, done.output)
        printed[command] = done.stdout
    asked = [command for command in printed if "judge ask" in command]
    assert "48 pairs" in printed[asked[0]]
    assert model.sent == 52
    assert "too kind" in printed["goldgrade judge gpt-5"]
    assert "people's grades of" in printed[next(name for name in printed if "evaluate" in name)]
