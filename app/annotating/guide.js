// The labeling guide: its panel, and the grade buttons and keys that follow from its scale. While a grade is
// pointed at or focused, the panel shows that grade alone: what it means, and its worked examples.

import { keycap, node } from "./dom.js";
import { ask } from "./server.js";

const WIDE = 1000; // px of window in which the panel is open at first
const POINTED = 120; // ms: a pointer that only passes by changes nothing

export class Guide {
  constructor(root, memory, chosen, wide = WIDE) {
    Object.assign(this, { root, memory, chosen });
    this.panel = root.querySelector(".guide");
    this.keys = new Map();
    this.given = []; // the scale as the guide has it
    this.fold(memory.get("guide") ?? (innerWidth >= wide ? "open" : "folded"));
  }

  // The grade of a value, or undefined where the scale has none.
  grade(value) {
    return this.scale?.find((grade) => grade.value === value);
  }

  async load(hash) {
    this.read = await ask(`/api/guides/${encodeURIComponent(hash)}`);
    this.draw();
  }

  // Draw it, again once keys have changed; `keyOf` says which key a grade has.
  draw(keyOf = this.keyOf) {
    this.keyOf = keyOf;
    if (!this.read) return;
    this.given = this.read.scale;
    const guide = { ...this.read, scale: this.given.map((grade) => ({ ...grade, key: keyOf?.(grade) ?? grade.key })) };
    Object.assign(this, { hash: guide.guide_hash, scale: guide.scale });
    this.keys = new Map(guide.scale.map((grade) => [grade.key, grade]));
    drawGuide(this.panel, guide);
    this.root.querySelector(".grades").replaceChildren(...guide.scale.map((grade) => this.#button(grade)));
  }

  toggle() {
    this.fold(this.root.dataset.guide === "open" ? "folded" : "open");
    this.memory.set("guide", this.root.dataset.guide);
    if (this.root.dataset.guide === "open") this.panel.scrollIntoView({ block: "nearest" }); // on a phone it is below
  }

  fold(state) {
    this.root.dataset.guide = state;
    this.root.querySelector('[data-do="guide"]').setAttribute("aria-expanded", state === "open");
  }

  // Frame the grade that was given before.
  mark(value) {
    this.root.querySelectorAll(".grade").forEach((button, index) => {
      button.toggleAttribute("data-was", this.scale[index].value === value);
    });
  }

  // Show the whole scale, until the pointer moves or a grade is focused: another item asks for all grades alike.
  release() {
    clearTimeout(this.pointing);
    this.pointed = null;
    if (!this.panel.querySelector(".spot").hidden) this.#spot(null);
  }

  // Press the grade that is chosen, where choosing does not answer yet; undefined presses none.
  press(value) {
    this.root.querySelectorAll(".grade").forEach((button, index) => {
      button.setAttribute("aria-pressed", this.scale[index].value === value);
    });
  }

  #button(grade) {
    const button = node("button", { type: "button", className: "grade", title: grade.definition },
      keycap(grade), node("span", {}, grade.name));
    button.style.setProperty("--grade", grade.colour);
    button.addEventListener("click", () => this.chosen(grade.value));
    button.addEventListener("pointermove", ({ movementX, movementY }) => {
      if (grade !== this.pointed && (movementX || movementY)) this.#point(grade, POINTED); // not where only the page moved
    });
    button.addEventListener("pointerleave", () => this.#point(null, POINTED));
    button.addEventListener("focus", () => button.matches(":focus-visible") && this.#point(grade, 0));
    button.addEventListener("blur", () => this.#point(null, 0));
    return button;
  }

  #point(grade, wait) {
    clearTimeout(this.pointing);
    this.pointed = grade;
    this.pointing = setTimeout(() => this.#spot(grade), wait);
  }

  #spot(grade) {
    const [whole, spot] = [this.panel.querySelector(".whole"), this.panel.querySelector(".spot")];
    if (spot.hidden) this.place = this.panel.scrollTop;
    whole.hidden = Boolean(grade);
    spot.hidden = !grade;
    if (grade) spot.replaceChildren(node("dl", { className: "scale" }, meaning(grade)), ...grade.examples.map(example));
    this.panel.scrollTop = grade ? 0 : this.place;
  }
}

// Fill a panel with a guide as the server gives it.
export function drawGuide(panel, guide) {
  panel.querySelector("h2").textContent = guide.title;
  // Made by a Markdown renderer that lets no HTML through; the one place where HTML is set.
  panel.querySelector(".body").innerHTML = guide.html;
  panel.querySelector(".scale").replaceChildren(...guide.scale.map(meaning));
  panel.querySelector(".examples").replaceChildren(...examples(guide.scale));
}

function meaning(grade) {
  return node("div", {}, node("dt", {}, keycap(grade), ` ${grade.name}`), node("dd", {}, grade.definition));
}

function examples(scale) {
  const shown = scale.filter((grade) => grade.examples.length);
  if (!shown.length) return [];
  const parts = shown.flatMap((grade) => [
    node("h4", {}, keycap(grade), ` ${grade.name}`), ...grade.examples.map(example)]);
  return [node("h3", {}, "Worked examples"), ...parts];
}

function example({ query, document, why }) {
  return node("figure", { className: "example" },
    node("p", { className: "sought" }, `“${query}”`),
    node("blockquote", {}, document),
    node("figcaption", {}, why));
}
