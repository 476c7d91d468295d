// The list of a query, where its round shows whole queries: around the item on screen every other one is a line, which
// leads to it. What is open is in the loop's queue; the answers are here until the annotator goes on to the next query.

import { said } from "../annotating/history.js";
import { node, plain, put } from "../annotating/dom.js";

const LONGEST = 400; // characters of a document in its line

export class List {
  constructor(root, guide, chosen) {
    Object.assign(this, { root, guide, chosen });
    this.leave();
  }

  leave() {
    Object.assign(this, { id: "", done: new Map() });
  }

  // Whether another list comes on screen.
  turn(id) {
    if (!id || id === this.id) return false;
    Object.assign(this, { id, done: new Map() });
    return true;
  }

  // What was answered, with the revision that a change of it needs; `answer` has the kind, and what belongs to it.
  record(shown, answer) {
    const { presentation_id: id, revision } = shown;
    const showing = this.done.get(id)?.showing ?? (this.id && shown.list_id === this.id ? shown : undefined);
    if (showing) this.done.set(id, { ...answer, showing: { ...showing, revision: revision + 1, changing: false } });
  }

  // These are open again, or known by the server alone.
  forget(ids) {
    for (const id of ids) this.done.delete(id);
  }

  // What the server has as answered; what was done on this page is newer.
  fill(listing) {
    if (!this.id && listing.length) this.id = listing[0].showing.list_id;
    for (const one of listing) {
      const { presentation_id: id, list_id } = one.showing;
      if (list_id === this.id && !this.done.has(id)) this.done.set(id, one);
    }
  }

  isOpen({ presentation_id: id, list_id }) {
    return Boolean(this.id) && list_id === this.id && !this.done.has(id);
  }

  // All of the list, in its order.
  lines(queue) {
    const open = queue.filter((showing) => this.isOpen(showing)).map((showing) => ({ showing }));
    return [...this.done.values(), ...open].sort((a, b) => a.showing.item_number - b.showing.item_number);
  }

  // The next open item after another one, from the top again.
  after({ item_number: number }, queue) {
    const open = queue.filter((showing) => this.isOpen(showing)).sort((a, b) => a.item_number - b.item_number);
    return open.find((showing) => showing.item_number > number) ?? open[0];
  }

  // Whether to ask if the corpus answers the query: the last item of it was here, and nothing was skipped.
  get asks() {
    const answers = [...this.done.values()];
    return answers.some(({ showing }) => showing.asks_about_query) && answers.every(({ kind }) => kind !== "later");
  }

  // The line `by` steps away from what is on screen; at the end of the list that is nothing.
  neighbour(by) {
    const at = this.drawn.findIndex(({ showing }) => showing.presentation_id === this.current);
    return this.drawn[at < 0 ? this.drawn.length + Math.min(by, 0) : at + by];
  }

  // `showing` is on screen, with the lines of its list around; without one, the whole list is.
  draw(showing, queue) {
    const shown = Boolean(this.id) && (!showing || showing.list_id === this.id);
    this.root.toggleAttribute("data-list", shown);
    this.current = showing?.presentation_id;
    this.drawn = shown ? this.lines(queue) : [];
    const at = this.drawn.findIndex((one) => one.showing.presentation_id === this.current);
    const [before, after] = this.root.querySelectorAll(".list .lines");
    const cut = at < 0 ? this.drawn.length : at;
    before.replaceChildren(...this.drawn.slice(0, cut).map((one) => this.#line(one)));
    after.replaceChildren(...this.drawn.slice(cut + 1).map((one) => this.#line(one)));
    before.hidden = !before.childElementCount;
    after.hidden = !after.childElementCount;
  }

  // What is said once all is answered.
  end() {
    const later = this.drawn.filter(({ kind }) => kind === "later").length;
    const words = `All ${this.drawn.length} documents of this query are answered`;
    put(this.root.querySelector(".listed h2"), later ? `${words}, ${later} skipped` : words);
    return `${words}.`;
  }

  #line(one) {
    const { showing, kind, note, flagged } = one;
    const answer = kind ? said(this.guide, { ...one, ...(kind === "later" && { otherwise: "Later" }) })
      : node("span", { className: "chip none" }, kind === null ? "answered" : "");
    const line = node("button", { type: "button", className: "line" },
      node("span", { className: "number" }, String(showing.item_number)),
      node("span", { className: "words" },
        node("span", { className: "sought", dir: "auto" }, plain(showing.title) || "Untitled document"),
        node("span", { className: "passage", dir: "auto" }, plain(showing.passage).trim().slice(0, LONGEST))),
      ...(flagged ? [node("span", { className: "noted" }, "flag")] : []),
      ...(note ? [node("span", { className: "noted", title: note }, "note")] : []),
      answer);
    line.addEventListener("click", () => this.chosen(one));
    return line;
  }
}
