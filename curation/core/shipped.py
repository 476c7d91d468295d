"""What comes with goldgrade besides `curation`: where `app`, `labeling_guides` and `data/sample` are.

In a clone they are at its top. An installed goldgrade has them inside its package `goldgrade`, because people
have modules called `app` of their own. Only the process that serves puts this folder on its path.
"""

from __future__ import annotations

from pathlib import Path

_TOP = Path(__file__).resolve().parents[2]
_INSTALLED = _TOP / "goldgrade" / "shipped"
HOME = _INSTALLED if _INSTALLED.is_dir() else _TOP
GUIDES = HOME / "labeling_guides"
SAMPLE = HOME / "data" / "sample"
