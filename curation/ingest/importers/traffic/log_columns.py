"""Columns of a block of a log as its import takes them: texts, without white space around them, by number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.core.text import canonical_json
from curation.ingest.readers.blocks import Block, NeedsRowReader
from curation.ingest.readers.times import text_buffers

NONE = -1
"""The number of no text."""


def plain_texts(column: pa.Array) -> pa.StringArray:
    """A column of Parquet as `values.text_of` gives its values."""
    if not pa.types.is_string(column.type) and not pa.types.is_integer(column.type):
        raise NeedsRowReader
    found = column.cast(pa.string()).fill_null("")
    offsets, signs = text_buffers(found)
    if (signs[offsets[0] : offsets[-1]] == 0).any():
        raise NeedsRowReader
    return found


def blank(texts: pa.DictionaryArray) -> NDArray[np.bool_]:
    """Which rows hold nothing but white space."""
    values = texts.dictionary
    odd = _bordered_oddly(values)
    blank = np.zeros(len(values), bool)
    blank[odd] = [not text or text.isspace() for text in values.take(pa.array(odd)).to_pylist()]
    of_rows: NDArray[np.bool_] = blank[texts.indices.to_numpy()]
    return of_rows


def _bordered_oddly(values: pa.StringArray) -> NDArray[np.int64]:
    """Numbers of the texts that are empty, or begin or end with something else than a visible ASCII sign."""
    offsets, signs = text_buffers(values)
    full = offsets[1:] > offsets[:-1]
    odd = ~full
    for at in (offsets[:-1][full], offsets[1:][full] - 1):
        odd[full] |= (signs[at] <= 32) | (signs[at] >= 127)
    return np.flatnonzero(odd)


def stripped(block: Block, name: str | None) -> pa.DictionaryArray:
    """A column's texts without the white space around them; null where nothing is left."""
    if name is None:
        return pa.DictionaryArray.from_arrays(
            pa.nulls(len(block.lines), pa.int32()), pa.array([], pa.string())
        )
    found = block.columns[name].dictionary_encode()
    if not len(_bordered_oddly(found.dictionary)):
        return found
    numbers: dict[str, int] = {}
    bare = (text.strip() for text in found.dictionary.to_pylist())
    mapping = [numbers.setdefault(text, len(numbers)) if text else NONE for text in bare]
    codes = np.array(mapping, np.int32)[found.indices.to_numpy()]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(numbers, pa.string()))


def combined(block: Block, names: tuple[str, ...]) -> pa.DictionaryArray:
    """Each row's further fields as JSON, a combination written once; null where none has a value."""
    if not names:
        return stripped(block, None)
    columns = [stripped(block, name) for name in names]
    codes = [column.indices.fill_null(NONE).to_numpy().astype(np.int64) for column in columns]
    which = np.zeros(len(block.lines), np.int64)
    for column, numbers in zip(columns, codes, strict=True):
        which = np.unique(which * (len(column.dictionary) + 1) + numbers + 1, return_inverse=True)[1]
    first = np.unique(which, return_index=True)[1]
    values = [column.take(pa.array(first)).to_pylist() for column in columns]
    texts = [_json(names, [value or "" for value in row]) for row in zip(*values, strict=True)]
    filled = np.array([bool(text) for text in texts], bool)
    return pa.DictionaryArray.from_arrays(
        pa.array(which.astype(np.int32), mask=~filled[which]), pa.array(texts, pa.string())
    )


def _json(names: tuple[str, ...], values: list[str]) -> str:
    """The fields with a value as a JSON object; '' where none has one."""
    known = {name: bare for name, value in zip(names, values, strict=True) if (bare := value.strip())}
    return canonical_json(known) if known else ""
