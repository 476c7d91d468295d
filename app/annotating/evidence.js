// Evidence: which sentences of the document on screen are marked, by keys or pointer. A sentence is known by its place,
// a range of characters of the stored text that the server gave it, so that marks hold for the passage and the whole.

import { put } from "./dom.js";

const MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

export class Evidence {
  // `isOn()` says whether the document may be marked just now; `changed()` is called after each mark.
  constructor(root, status, { isOn, changed }, signal) {
    Object.assign(this, { root, status, isOn, changed, ranges: [], others: [] });
    root.querySelector(".found .text").addEventListener("click", (event) => this.#click(event), { signal });
  }

  // What the guide asks for: { ask, from_grade }, or nothing.
  ask(asked) {
    this.asked = asked;
    this.#tool.hidden = !asked;
    this.#show();
  }

  // Whether a grade goes with marks.
  takes(grade) {
    return Boolean(this.asked) && grade !== null && grade >= this.asked.from_grade;
  }

  // What goes with a grade: { evidence }, or nothing.
  of(grade) {
    return this.takes(grade) && this.ranges.length ? { evidence: this.ranges } : {};
  }

  // A document with these marks; `others` is the name of each who marked it, and their marks.
  begin(ranges = [], others = []) {
    Object.assign(this, { ranges: [...ranges], others, at: undefined, pending: undefined });
    this.leave();
  }

  // Open the marking before a grade that needs marks; whether it did.
  holds(grade) {
    if (this.asked?.ask !== "required" || !this.takes(grade) || this.ranges.length || !this.#places.length) return false;
    this.pending = grade;
    this.open();
    return true;
  }

  open() {
    if (!this.asked || !this.isOn()) return;
    if (!this.#places.length) return this.status.announce("This document has no sentence to mark.");
    this.isOpen = true;
    this.#to(Math.max(0, this.#places.findIndex((place) => this.#isMarked(place))));
  }

  // Back to the keys of the grades; the marks stay.
  leave() {
    this.isOpen = false;
    this.pending = undefined;
    this.#show();
  }

  toggle() {
    if (this.isOpen) this.leave();
    else this.open();
  }

  // Arrows, which may be held; true where they moved the place.
  step(key) {
    if (!this.isOpen || !MOVES[key]) return false;
    this.#to(Math.min(this.#places.length - 1, Math.max(0, this.at + MOVES[key])));
    return true;
  }

  // Whether the key was for the marks. Enter gives the grade that waits for them to `give`.
  press(key, give) {
    if (!this.isOpen) return false;
    if (this.step(key)) return true;
    if (key === " ") this.#turn(this.#places[this.at]);
    else if (key === "Enter") this.#done(give);
    else return false;
    return true;
  }

  // Draw the marks on the text that is on screen now.
  draw() {
    const pieces = this.#pieces;
    for (const [index, piece] of pieces.entries()) {
      const { at } = piece.dataset;
      piece.toggleAttribute("data-last", pieces[index + 1]?.dataset.at !== at);
      piece.toggleAttribute("data-marked", this.#isMarked(at));
      piece.toggleAttribute("data-cursor", Boolean(this.isOpen) && at === this.#places[this.at]);
      const by = this.others.filter(([, ranges]) => inside(at, ranges)).map(([name]) => name).join(" ");
      if (by) piece.dataset.by = by;
      else delete piece.dataset.by;
    }
  }

  #done(give) {
    const { pending } = this;
    if (pending !== undefined && !this.ranges.length) return this.status.notice("Mark at least one sentence first. Press the space bar to mark.");
    this.leave();
    if (pending !== undefined) give(pending);
  }

  #click({ target }) {
    const piece = target.closest?.("[data-at]");
    if (!piece || !this.asked || !this.isOn() || target.closest("a") || !getSelection().isCollapsed) return;
    this.at = this.#places.indexOf(piece.dataset.at);
    this.#turn(piece.dataset.at);
  }

  #turn(place) {
    const [start, end] = bounds(place);
    const marked = this.#isMarked(place);
    this.ranges = marked
      ? this.ranges.flatMap(([first, last]) => [[first, Math.min(last, start)], [Math.max(first, end), last]].filter(([a, b]) => a < b))
      : [...this.ranges, [start, end]].sort(([a], [b]) => a - b);
    this.#show();
    this.status.announce(marked ? "Mark removed." : "Marked.");
    this.changed();
  }

  #to(index) {
    this.at = index;
    this.#show();
    const place = this.#places[index];
    const pieces = this.#pieces.filter(({ dataset }) => dataset.at === place);
    pieces[0].scrollIntoView({ block: "nearest" });
    const said = pieces.map(({ textContent }) => textContent).join("");
    this.status.announce(`Sentence ${index + 1} of ${this.#places.length}${this.#isMarked(place) ? ", marked" : ""}: ${said}`);
  }

  #isMarked(place) {
    return inside(place, this.ranges);
  }

  #show() {
    const count = this.ranges.length;
    this.#tool.setAttribute("aria-pressed", Boolean(this.isOpen));
    this.#tool.querySelector("span").textContent = count ? `Evidence: ${count}` : "Evidence";
    const hint = this.root.querySelector(".marking");
    hint.hidden = !this.isOpen;
    put(hint.querySelector("b"), this.pending === undefined ? "" : "Which sentences show it?");
    this.root.toggleAttribute("data-markable", Boolean(this.asked));
    this.draw();
  }

  get #tool() {
    return this.root.querySelector('[data-do="evidence"]');
  }

  get #pieces() {
    return [...this.root.querySelectorAll(".found .text [data-at]")];
  }

  get #places() {
    return [...new Set(this.#pieces.map(({ dataset }) => dataset.at))];
  }
}

function bounds(place) {
  return place.split("-").map(Number);
}

function inside(place, ranges) {
  const [start, end] = bounds(place);
  return ranges.some(([first, last]) => first <= start && end <= last);
}
