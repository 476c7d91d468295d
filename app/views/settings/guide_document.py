"""Guide, Document: the form in which a lead chooses which parts of a document annotators see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app import ui
from app.acts import Acts
from app.context import image_hosts
from app.views.settings.guide_editor import GuideEditor
from app.views.settings.guide_publishing import ask_to_publish
from curation.guides.guide import DEFAULT_PRESENTATION, PresentationTemplate, TemplateField, current_guide
from curation.guides.guide_editing import replace_presentation, replace_presentation_entry
from curation.guides.guide_text import parse_guide
from curation.ingest.request_options import MARKUPS
from curation.labeling.presentation.drawing import DocumentText, draw_document
from curation.labeling.rounds.use_guide import compute_guide_effects
from curation.store import Document, Store
from curation.store.documents import find_document, first_documents

MAX_DOCUMENTS = 200
"""Number of documents from which the app collects the offered fields and the long and short example."""
IMPORTED_TITLE = ""
"""The entry of the list of titles that stands for the title of the import."""
DRAWN_AS = {"text": "Text", "link": "Link", "image": "Image"}


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    """Ask for fields and their order, with a preview; without a draft, the choice is published here."""
    with store.reading() as cursor:
        guide, documents = current_guide(cursor), first_documents(cursor, MAX_DOCUMENTS)
    if not documents:
        st.info("Import a corpus first. Then choose here which fields of a document annotators see.")
        return
    if editor is not None and editor.valid:
        guide = parse_guide(editor.valid)
    guide_template, names = guide.presentation, _list_fields(documents)
    current_template = guide_template or PresentationTemplate(
        fields=tuple(field for field in DEFAULT_PRESENTATION.fields if field.field in names)
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        template = _ask_template(current_template, names, guide.guide_hash)
        is_changed = template != current_template
        if not is_changed:
            ui.note("The preview shows a document as annotators will see it, with your changes.")
        elif editor is not None:
            ui.note(
                "You have a draft of the guide. Save these settings in the draft; they apply when you "
                "publish it."
            )
            arguments = (lambda source: replace_presentation_entry(source, template),)
            st.button("Save in my draft", type="primary", on_click=editor.change, args=arguments)
        else:
            new_guide = replace_presentation(guide, template)
            effects = compute_guide_effects(store, new_guide)
            ui.sentences(*effects.sentences)
            ask_to_publish(store, acts, new_guide, effects, guide.guide_hash, "How documents are shown")
    with right:
        _show_preview(store, documents, template if is_changed else guide_template)


def _list_fields(documents: Sequence[Document]) -> list[str]:
    """Return the names of the documents' fields, most frequent first."""
    records = (json.loads(document.metadata) for document in documents)
    counter = Counter(name for record in records for name, value in record.items() if value)
    counter["url"] += sum(bool(document.url) for document in documents)
    counter["date"] += sum(bool(document.published) for document in documents)
    return [name for name, count in counter.most_common() if count]


def _ask_template(template: PresentationTemplate, names: Sequence[str], version: str) -> PresentationTemplate:
    titles = list(dict.fromkeys([IMPORTED_TITLE, template.title or IMPORTED_TITLE, *names]))
    title = st.selectbox(
        "Title",
        titles,
        index=titles.index(template.title or IMPORTED_TITLE),
        format_func=lambda name: name or "As imported",
        key=f"title {version}",
    )
    body = st.segmented_control(
        "Text format",
        list(MARKUPS),
        default=template.body,
        required=True,
        format_func=MARKUPS.__getitem__,
        key=f"body {version}",
    )
    links = st.toggle("Make links in the text clickable", template.links, key=f"links {version}")
    current_fields = {field.field: field for field in template.fields}
    key = f"fields {version}"
    st.session_state.setdefault(key, list(current_fields))
    names = list(dict.fromkeys([*current_fields, *names, *st.session_state[key]]))
    chosen = st.multiselect("Fields below the title, in this order", names, key=key, max_selections=20)
    fields = tuple(
        _ask_field(current_fields.get(name) or TemplateField(field=name), index, key)
        for index, name in enumerate(chosen)
    )
    values: dict[str, Any] = {"title": title or None, "body": body, "fields": fields, "links": links}
    return PresentationTemplate(**values)


def _ask_field(field: TemplateField, index: int, key: str) -> TemplateField:
    name = field.field
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.text_input(
            f"Label for {ui.literal(name)}",
            field.name,
            max_chars=40,
            key=f"label {name} {key}",
            placeholder="nothing",
        )
        drawn_as = st.selectbox(
            f"{ui.literal(name)} is", list(DRAWN_AS), index=list(DRAWN_AS).index(field.drawn_as),
            format_func=DRAWN_AS.__getitem__, key=f"as {name} {key}", width=110,
        )  # fmt: skip
        st.button(
            "", icon=":material/arrow_upward:", help=f"Move {ui.literal(name)} up", disabled=not index,
            key=f"up {name} {key}", on_click=_move_up, args=(key, index),
        )  # fmt: skip
    values = {"field": name, "label": None if label == name else label, "as": drawn_as}
    return TemplateField.model_validate(values)


def _move_up(key: str, index: int) -> None:
    names = list(st.session_state[key])
    names.insert(index - 1, names.pop(index))
    st.session_state[key] = names


def _show_preview(store: Store, documents: Sequence[Document], template: PresentationTemplate | None) -> None:
    words = st.text_input("Find a document by its id or words", key="document to preview").strip()
    by_length = sorted(documents, key=lambda document: len(document.body))
    match = None
    if words:
        with store.reading() as cursor:
            match = find_document(cursor, words)
        if match is None:
            ui.note("No document matches.")
    examples = (("Document", match), ("Long document", by_length[-1]), ("Short document", by_length[0]))
    for title, document in examples:
        if document is not None:
            drawing = draw_document(DocumentText.of(document), words, template, image_hosts=image_hosts())
            suffix = ", as it opens" if drawing.has_more else ""
            ui.note(f"{title}{suffix}: {document.document_id}")
            ui.document(drawing.title, drawing.passage, (drawing.published, drawing.url), drawing.facts)
