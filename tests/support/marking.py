"""A guide that asks for evidence at grades 2 and 3, and marks on documents of `add_pairs`."""

from __future__ import annotations

GUIDE = """---
title: Marked
evidence: {{ask: {ask}, from_grade: 2}}
scale:
  - {{value: 0, name: Not relevant, key: "0", colour: "#a8323e", definition: No.}}
  - {{value: 1, name: Related, key: "1", colour: "#a04a08", definition: Near.}}
  - {{value: 2, name: Relevant, key: "2", colour: "#2b62a8", definition: In part.}}
  - {{value: 3, name: Fully relevant, key: "3", colour: "#1c6e45", definition: Whole.}}
---
Mark the sentences that say it.
"""
