"""A drawn document in short, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.labeling.presentation.markup import Element, Node


def outline(nodes: Sequence[Node]) -> str:
    """The elements in short: name{attributes}(children)."""
    return "".join(_short(node) for node in nodes)


def _short(node: Node) -> str:
    if not isinstance(node, Element):
        return f"[{node.text}]" if node.marked else node.text
    about = " ".join(f"{key}={value}" for key, value in node.attributes.items())
    return f"{node.name}{f'<{about}>' if about else ''}({outline(node.children)})"


def below(nodes: Sequence[Node]) -> Iterator[Element]:
    for node in nodes:
        if isinstance(node, Element):
            yield node
            yield from below(node.children)
