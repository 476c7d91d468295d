// The item on screen: the query, its document, and the draft of an answer (note, flag and marks of evidence).

import { appear, drawn, fill, isDrawn, isolated, nameOf, node, plain, put } from "./dom.js";
import { Evidence } from "./evidence.js";
import { ask } from "./server.js";
import { Sight } from "./sight.js";

export class Item {
  // `isOn()` says whether the item can be answered just now.
  constructor(root, status, memory, isOn, signal) {
    Object.assign(this, { root, status, memory });
    this.sight = new Sight();
    this.evidence = new Evidence(root, status, { isOn, changed: () => this.#changed() }, signal);
    this.flagged = false;
    this.field.addEventListener("input", () => this.#changed(), { signal });
    document.addEventListener("visibilitychange", () => this.sight.turn(), { signal });
  }

  get field() {
    return this.#find(".answer textarea");
  }

  // What the annotator has begun on this item; painting a showing that carries it goes on there.
  get draft() {
    const { active, shownAt } = this.sight;
    const { ranges: evidence } = this.evidence;
    return { note: this.field.value.trim(), flagged: this.flagged, ...(evidence.length && { evidence }), active, shownAt };
  }

  is(showing) {
    return this.showing && nameOf(this.showing) === nameOf(showing) && this.showing.revision === showing.revision;
  }

  clear() {
    this.showing = undefined;
  }

  // Offer what was written with an answer that was not taken, when its item comes again.
  keep(showing, { note, flagged, evidence }) {
    if (note || flagged || evidence) this.memory.set(draftOf(showing), { note, flagged, evidence, active: 0 });
  }

  forget(showing) {
    this.memory.remove(draftOf(showing));
  }

  paint(showing) {
    const query = this.#find(".query");
    const changed = query.textContent !== showing.query;
    this.showing = showing;
    this.whole = false;
    query.textContent = showing.query;
    query.removeAttribute("tabindex");
    drawHead(this.#find(".found"), showing);
    put(this.#find(".need"), showing.information_need);
    const place = this.#find(".place"); // a pair that is decided has none
    if (place) put(place, showing.item_count > 1 ? `  ·  document ${showing.item_number} of ${showing.item_count}` : "");
    const draft = this.#begun(showing);
    this.#text(showing.passage);
    this.evidence.begin(draft?.evidence, this.marksOf(showing));
    this.#find(".more").hidden = !showing.has_more;
    this.#find(".found").scrollTop = 0;
    this.#write(draft ?? { note: "", flagged: false });
    this.sight.begin(draft);
    appear(this.#find(".found"));
    if (changed) appear(query);
    return changed ? `Query: ${isolated(showing.query)}. ` : "";
  }

  // The head of the document stays in view, below the query; where the page scrolls, the query stays above it.
  #intoView(found) {
    const list = found.parentElement;
    const pageScrolls = getComputedStyle(list).overflowY === "visible";
    found.style.setProperty("--head", `${this.#find(".asked").offsetHeight}px`);
    found.scrollIntoView({ block: pageScrolls || found.clientHeight > list.clientHeight ? "start" : "nearest" });
  }

  // Once it is on screen: the next item starts at its query, and a very long query is scrolled by key, too.
  settle() {
    const [query, found] = [this.#find(".query"), this.#find(".found")];
    if (this.root.hasAttribute("data-list")) this.#intoView(found);
    else this.#find(".asked").scrollIntoView({ block: "nearest" });
    if (query.scrollHeight > query.clientHeight + 4) query.tabIndex = 0;
  }

  get name() {
    return plain(this.showing.title) || "untitled";
  }

  async toggleWhole() {
    const { showing } = this;
    if (!showing?.has_more) return;
    this.whole = !this.whole;
    if (!this.whole) return this.#text(showing.passage);
    try {
      const { body } = await ask(this.wholeAt(showing));
      if (this.showing !== showing || !this.whole) return;
      this.#text(body);
      this.status.announce("The whole document is shown.");
    } catch (error) {
      this.whole = false;
      this.status.notice(`The whole document cannot be loaded now. ${error.message}`);
    }
  }

  // Bring the next marked word on screen; after the last comes the first.
  nextMark() {
    const marks = [...this.root.querySelectorAll(".found mark")];
    const at = marks.findIndex((mark) => mark.hasAttribute("data-here"));
    marks[at]?.removeAttribute("data-here");
    if (!marks.length) return this.status.announce("No word is highlighted here.");
    const next = marks[(at + 1) % marks.length];
    next.setAttribute("data-here", "");
    next.scrollIntoView({ block: "nearest" });
    this.status.announce(`Marked word ${((at + 1) % marks.length) + 1} of ${marks.length}.`);
  }

  // What others marked, by name: nothing, where one annotates alone.
  marksOf() {
    return [];
  }

  // Where the whole document is.
  wholeAt({ presentation_id: id }) {
    return `/api/presentations/${id}/document`;
  }

  toggleFlag() {
    this.flagged = !this.flagged;
    this.#changed();
  }

  showNote(shown) {
    this.#find(".note").hidden = !shown;
  }

  openNote() {
    this.showNote(true);
    this.field.focus();
  }

  closeNote() {
    this.field.blur();
    this.showNote(this.field.value.trim());
    this.#marks();
  }

  // What was typed last wins: a reload in the middle of a change loses the change, and not its words.
  #begun(showing) {
    const kept = this.memory.get(draftOf(showing));
    if (!kept) return showing.draft;
    return { ...kept, ...showing.draft, note: kept.note, flagged: kept.flagged, evidence: kept.evidence };
  }

  #write({ note, flagged }) {
    this.flagged = Boolean(flagged);
    this.field.value = note ?? "";
    this.showNote(note);
    this.#marks();
  }

  // What is typed survives a reload, too.
  #changed() {
    this.#marks();
    if (!this.showing) return;
    const { draft } = this;
    if (draft.note || draft.flagged || draft.evidence) this.memory.set(draftOf(this.showing), draft);
    else this.forget(this.showing);
  }

  #marks() {
    const press = (name, on) => this.#find(`[data-do="${name}"]`)?.setAttribute("aria-pressed", on);
    press("note", Boolean(this.field.value.trim()));
    press("flag", this.flagged);
  }

  #text(nodes) {
    drawText(this.#find(".found"), nodes);
    this.evidence.draw();
    const button = this.#find(".more");
    button.setAttribute("aria-pressed", this.whole);
    button.querySelector("span").textContent = this.whole ? "Best passage only" : "Whole document";
  }

  #find(name) {
    return this.root.querySelector(name);
  }
}

// Title and fields of a document in its box: pictures next to the text, all else below the title.
export function drawHead(box, { title, published, url, facts }) {
  const [name, fields, pictures] = [".title", ".fields", ".pictures"].map((one) => box.querySelector(one));
  fill(name, title.length ? title : [["Untitled document", false]]);
  name.classList.toggle("untitled", !title.length);
  put(box.querySelector(".facts"), [published, url].filter(Boolean).join("  ·  "));
  const words = (facts ?? []).filter(([, value]) => !isPicture(value));
  fields.replaceChildren(...words.map(([label, value]) => node("span", {},
    ...(label ? [node("b", {}, label)] : []), node("bdi", {}, ...drawn(value)))));
  fields.hidden = !words.length;
  pictures.replaceChildren(...(facts ?? []).filter(([, value]) => isPicture(value)).flatMap(([, value]) => drawn(value)));
  pictures.hidden = !pictures.childElementCount;
}

export function drawText(box, nodes) {
  const text = box.querySelector(".text");
  fill(text, nodes.length ? nodes : [["This document has no text beyond its title.", false]]);
  text.classList.toggle("untitled", !nodes.length);
  text.classList.toggle("drawn", isDrawn(nodes));
}

function isPicture([first]) {
  return first[0] === "img" && first.length === 3 && Boolean(first[1].src);
}

// The pictures of the next items are fetched before they are needed.
export function preload({ facts }) {
  for (const [, value] of facts ?? []) if (isPicture(value)) drawn(value);
}

function draftOf(showing) {
  return `draft:${nameOf(showing)}`;
}
