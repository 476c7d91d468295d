"""Writing a guide's text: from the parts of a stored guide, and with another presentation of documents."""

from __future__ import annotations

from curation.guides.front_matter import split_source, with_values
from curation.guides.guide import Guide
from curation.guides.parse_guide import parse_guide
from curation.guides.presentation_template import PresentationTemplate


def source_of(guide: Guide) -> str:
    """The whole text of a guide, written from its parts where the project stored it without one."""
    if guide.source:
        return guide.source
    blank = "---\ntitle: ''\n---\n"
    scale = [grade.model_dump(exclude_defaults=True) for grade in guide.scale]
    for grade in scale:
        if "examples" in grade:
            grade["examples"] = list(grade["examples"])
    return with_values(blank, {"title": guide.title, "scale": scale}, guide.body)


def with_presentation(guide: Guide, template: PresentationTemplate) -> Guide:
    """The guide with another presentation of documents; all else of its text stays as it is."""
    return parse_guide(presented(source_of(guide), template))


def presented(source: str, template: PresentationTemplate) -> str:
    """A guide's text with another presentation of documents."""
    parts = split_source(source)
    values = {"presentation": template.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
    return with_values(source, values, parts[1] if parts else "")
