// What helps to decide a pair: the query's decided documents, one of which can be read next to the disputed one,
// and what reviewers say to each other about the pair.

import { chip, node } from "../annotating/dom.js";
import { drawHead, drawText } from "../annotating/item.js";
import { ask } from "../annotating/server.js";

const WHEN = { dateStyle: "medium", timeStyle: "short" };

export class Context {
  constructor(root, guide, memory, status, signal) {
    Object.assign(this, { root, guide, memory, status, anchors: [] });
    this.field.addEventListener("input", () => this.#keep(), { signal });
  }

  get field() {
    return this.root.querySelector(".thread textarea");
  }

  get comparing() {
    return this.root.hasAttribute("data-comparing");
  }

  // Another pair is on screen.
  async show(showing) {
    if (this.pair?.pair_id !== showing.pair_id) {
      this.pair = showing;
      this.#draw({ anchors: [], comments: [] });
      this.close();
      this.field.value = this.memory.get(`comment:${showing.pair_id}`) ?? "";
    }
    try {
      this.fetched = ask(`/api/disputes/context?${this.#named(showing.document_id)}`);
      const found = await this.fetched;
      if (this.pair.pair_id === showing.pair_id) this.#draw(found);
    } catch { /* they help, and nothing waits for them */ }
  }

  // The words that were written, which leave the field.
  take() {
    const words = this.field.value.trim();
    this.field.value = "";
    this.#keep();
    return words;
  }

  // What was not taken comes back with its pair.
  giveBack({ pair_id: id, words }) {
    this.memory.set(`comment:${id}`, words);
    if (this.pair?.pair_id === id) this.field.value = words;
  }

  // The next decided document next to the disputed one; after the last there is none.
  async compare(at = this.at + 1) {
    const { pair } = this;
    await this.fetched?.catch(() => {});
    const anchor = this.anchors[at];
    if (!anchor) {
      if (!this.anchors.length) this.status.notice("No other document of this query has a decision yet.");
      return this.close();
    }
    this.at = at;
    try {
      const found = await ask(`/api/disputes/one?${this.#named(anchor.document_id)}`);
      if (this.pair !== pair || this.at !== at) return undefined;
      this.#open(found, anchor);
    } catch (error) {
      this.status.notice(`The document cannot be loaded now. ${error.message}`);
    }
    return undefined;
  }

  close() {
    this.at = -1;
    this.root.removeAttribute("data-comparing");
    this.root.querySelector(".other").hidden = true;
    this.#mark();
  }

  #open(found, { grade, reason }) {
    const box = this.root.querySelector(".other");
    drawHead(box, found);
    drawText(box, found.passage);
    box.querySelector(".decided").replaceChildren(chip(this.guide.grade(grade)), node("bdi", {}, reason));
    box.hidden = false;
    box.scrollTop = 0;
    this.root.setAttribute("data-comparing", "");
    this.#mark();
    this.status.announce(`The document on the side was decided as ${this.guide.grade(grade).name}.`);
  }

  #draw({ anchors, comments }) {
    this.anchors = anchors.filter(({ grade }) => this.guide.grade(grade));
    this.root.querySelector(".anchors").hidden = !this.anchors.length;
    this.root.querySelector(".anchors ol").replaceChildren(...this.anchors.map((one, at) => this.#anchor(one, at)));
    this.#mark();
    this.root.querySelector(".comments").replaceChildren(...comments.map((one) => node("li", {},
      node("p", { className: "by" }, node("bdi", {}, one.author), "  ·  ",
        node("time", { dateTime: one.commented_at }, new Date(one.commented_at).toLocaleString("en", WHEN))),
      node("p", { className: "words", dir: "auto" }, one.words))));
  }

  #anchor({ grade, title }, at) {
    const line = node("button", { type: "button", className: "line" },
      chip(this.guide.grade(grade)), node("span", { className: "name", dir: "auto" }, title));
    line.addEventListener("click", () => (this.at === at ? this.close() : this.compare(at)));
    return node("li", {}, line);
  }

  #mark() {
    this.root.querySelectorAll(".anchors .line").forEach((line, at) => line.setAttribute("aria-pressed", at === this.at));
  }

  #named(document) {
    return new URLSearchParams({ query: this.pair.query_id, document });
  }

  #keep() {
    const name = `comment:${this.pair.pair_id}`;
    if (this.field.value.trim()) this.memory.set(name, this.field.value);
    else this.memory.remove(name);
  }
}
