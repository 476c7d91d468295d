"""Other people's tools read a release as we froze it: the same queries, the same grades, one nDCG@10.

They are heavy and have an environment of their own: `make test-consumers`. Nothing here may download.
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

_WANTED = ("beir", "mteb", "ranx", "ir_datasets", "datasets", "sentence_transformers", "pytrec_eval")
for _name in _WANTED:
    pytest.importorskip(
        _name, reason=f"{_name} is not installed here: make test-consumers", exc_type=ImportError
    )
for _name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
    os.environ[_name] = "1"

import datasets  # noqa: E402
import ir_datasets  # noqa: E402
import mteb  # noqa: E402
import pytrec_eval  # noqa: E402
import ranx  # noqa: E402
from beir.datasets.data_loader import GenericDataLoader  # noqa: E402
from beir.retrieval.evaluation import EvaluateRetrieval  # noqa: E402
from mteb.abstasks.retrieval import AbsTaskRetrieval  # noqa: E402
from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402
from mteb.models.model_meta import ModelMeta  # noqa: E402

from curation.labeling.consensus.adjudication import decide_pair  # noqa: E402
from tests.support.consumed_project import TOPICS, consumed_project, expected, fixed_run, query_id  # noqa: E402
from tests.support.freezing import export, freeze  # noqa: E402
from tests.support.gold_project import Qrels  # noqa: E402

PARTS = ("dev", "test")
TEXTS = {query_id(topic): f"{topic} that {does}" for topic, does in TOPICS.items()}
Folders = Mapping[str, Path]


@pytest.fixture(scope="module", autouse=True)
def no_network() -> Iterator[None]:
    """Nothing may be looked up or downloaded."""
    patch = pytest.MonkeyPatch()

    def refuse(*arguments: object, **_: object) -> None:
        raise AssertionError(f"a consumer went to the network: {arguments}")

    patch.setattr(socket, "getaddrinfo", refuse)
    patch.setattr(socket.socket, "connect", refuse)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folders]:
    folder = tmp_path_factory.mktemp("consumed")
    patch = pytest.MonkeyPatch()
    patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "cache")
    patch.setenv("IR_DATASETS_HOME", str(folder / "ir_datasets"))
    store = consumed_project(folder)
    for format in ("beir", "trec", "hf", "triplets"):
        parts = PARTS if format == "triplets" else ()
        export(store, "v1", format, folder / format, reason="round trips through other tools", parts=parts)
    yield {format: folder / format for format in ("beir", "trec", "hf", "triplets")}
    store.close()
    patch.undo()


def ndcg10() -> float:
    """nDCG@10 with linear gain, as its definition says: the figure that all must come to."""
    run, total = fixed_run(), 0.0
    for query, grades in expected().items():
        ranked = sorted(run[query], key=lambda name: -run[query][name])
        total += _dcg([grades.get(name, 0) for name in ranked]) / _dcg(sorted(grades.values(), reverse=True))
    return total / len(run)


def _dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:10]))


def mean(qrels: Qrels) -> float:
    """The figure through pytrec_eval."""
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"}).evaluate(fixed_run())
    assert found.keys() == qrels.keys()
    return sum(row["ndcg_cut_10"] for row in found.values()) / len(found)


def weighed(parts: Mapping[str, tuple[Qrels, float]]) -> float:
    """The figure over all queries, computed from the figures of the parts."""
    counts = sum(len(qrels) for qrels, _ in parts.values())
    return sum(len(qrels) * figure for qrels, figure in parts.values()) / counts


def together(parts: Mapping[str, tuple[Qrels, float]]) -> Qrels:
    found: Qrels = {}
    for qrels, _ in parts.values():
        assert not found.keys() & qrels.keys()
        found |= qrels
    return found


def test_beir_loads_its_folder_and_comes_to_the_same_figure(folders: Folders) -> None:
    parts = {}
    for part in PARTS:
        corpus, queries, qrels = GenericDataLoader(str(folders["beir"])).load(part)
        assert len(corpus) == len(TOPICS) * 6
        assert queries == {name: TEXTS[name] for name in qrels}
        run = {name: fixed_run()[name] for name in qrels}
        figure, *_ = EvaluateRetrieval.evaluate(qrels, run, [10])
        parts[part] = (qrels, figure["NDCG@10"])
    assert corpus["kettle-5"]["text"].endswith("near a kettle\nand a second line.")
    assert together(parts) == expected()
    assert weighed(parts) == pytest.approx(ndcg10(), abs=1e-5)  # BEIR rounds to five places


def test_ranx_reads_the_trec_qrels(folders: Folders) -> None:
    qrels = ranx.Qrels.from_file(str(folders["trec"] / "qrels.txt"), kind="trec")
    assert qrels.to_dict() == expected()
    assert ranx.evaluate(qrels, ranx.Run(fixed_run()), "ndcg@10") == pytest.approx(ndcg10(), abs=1e-6)


def test_ir_datasets_reads_the_topics_and_qrels(folders: Folders) -> None:
    levels = {grade: f"grade {grade}" for grade in range(4)}
    topics = ir_datasets.formats.TsvQueries(_local(folders["trec"] / "topics.tsv"))
    read = ir_datasets.formats.TrecQrels(_local(folders["trec"] / "qrels.txt"), levels)
    data = ir_datasets.Dataset(topics, read)
    assert {query.query_id: query.text for query in data.queries_iter()} == TEXTS
    assert data.qrels_dict() == expected()
    assert mean(data.qrels_dict()) == pytest.approx(ndcg10(), abs=1e-6)


def _local(path: Path) -> Any:
    return ir_datasets.util.LocalDownload(path)


def test_datasets_tells_two_releases_apart_in_folders_of_one_name(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache of `datasets` is keyed by the folder's name and its configs, not by what is in its files."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    store = consumed_project(tmp_path)
    topic, *_ = TOPICS
    decide_pair(store, query_id(topic), f"{topic}-0", grade=0, reason="another grade")
    freeze(store, "v2")
    for format in ("hf", "beir"):
        export(store, "v2", format, tmp_path / "other" / format, reason="to test it")
        grades = []
        for folder in (folders[format], tmp_path / "other" / format):
            loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
            rows = [row for part in PARTS for row in loaded[part]]
            pair = (query_id(topic), f"{topic}-0")
            grades += [row["score"] for row in rows if (row["query-id"], row["corpus-id"]) == pair]
        assert grades == [3, 0]


class FixedRun:
    """A system for MTEB whose answers are known beforehand."""

    mteb_model_meta = ModelMeta.create_empty({"name": "goldgrade/fixed-run", "revision": "1"})

    def index(self, corpus: Any, **_: Any) -> None:
        self.documents = set(corpus["id"])

    def search(self, queries: Any, **_: Any) -> dict[str, dict[str, float]]:
        run = fixed_run()
        assert all(document in self.documents for ranked in run.values() for document in ranked)
        return {name: run[name] for name in queries["id"]}


def gold_task(folder: Path) -> AbsTaskRetrieval:
    """A retrieval task of MTEB that lies in this folder."""

    class GoldTask(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=f"Gold{folder.name.title()}",
            dataset={"path": str(folder), "revision": "main"},
            description="A release of goldgrade.",
            reference=None,
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=list(PARTS),
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

    return GoldTask()


def test_mteb_takes_the_hugging_face_folder_as_a_retrieval_task(folders: Folders) -> None:
    task = gold_task(folders["hf"])
    task.load_data()
    held = task.dataset["default"]
    assert {**held["dev"]["relevant_docs"], **held["test"]["relevant_docs"]} == expected()
    found = mteb.evaluate(
        FixedRun(), task, cache=None, co2_tracker=False, show_progress_bar=False, public_only=False
    )
    scores = found.task_results[0].scores
    parts = {part: (dict(held[part]["relevant_docs"]), scores[part][0]["ndcg_at_10"]) for part in PARTS}
    assert weighed(parts) == pytest.approx(ndcg10(), abs=1e-5)  # MTEB rounds to five places


def test_the_loader_of_mteb_takes_the_beir_folder(folders: Folders) -> None:
    qrels: Qrels = {}
    for part in PARTS:
        held = RetrievalDatasetLoader(str(folders["beir"]), "main", split=part).load()
        queries = dict(zip(held["queries"]["id"], held["queries"]["text"], strict=True))
        assert queries == {name: TEXTS[name] for name in held["relevant_docs"]}
        assert len(held["corpus"]) == len(TOPICS) * 6
        qrels |= held["relevant_docs"]
    assert qrels == expected()
    assert mean(qrels) == pytest.approx(ndcg10(), abs=1e-6)


def test_sentence_transformers_computes_a_loss_over_the_triplets(folders: Folders) -> None:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from tokenizers import Tokenizer, models, pre_tokenizers

    rows = datasets.load_dataset("json", data_files=str(folders["triplets"] / "dev.jsonl"), split="train")
    assert rows.column_names == ["anchor", "positive", "negative"]
    words = sorted({word for row in rows for text in row.values() for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(["?", *words])}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)], device="cpu")
    features = [model.tokenize(list(rows[column])) for column in rows.column_names]
    loss = MultipleNegativesRankingLoss(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    found = []
    for _ in range(5):
        optimiser.zero_grad()
        value = loss([dict(feature) for feature in features], torch.empty(0))
        value.backward()
        optimiser.step()
        found.append(value.item())
    assert all(math.isfinite(value) for value in found)
    assert found[-1] < found[0]
