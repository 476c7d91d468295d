// Practice: after each answer the grade that was expected, and why; at the end whether it was enough.

import { chip, node, put } from "../annotating/dom.js";

export class Practice {
  constructor(root, guide) {
    Object.assign(this, { root, guide });
  }

  // The line above a practice item, and above what was expected once it is answered.
  banner(state, answered) {
    const place = Math.min(state.answered + (answered ? 0 : 1), state.total);
    return `Practice ${place} of ${state.total}. Practice answers do not count. You see the expected grade at once.`;
  }

  waiting() {
    this.#write("…", [], "");
    this.root.querySelector(".feedback").removeAttribute("data-right");
    this.root.querySelector('.feedback [data-do="go-on"]').hidden = true;
  }

  // Returns the sentence for those who hear the screen.
  show({ expected, given, right, explanation }) {
    const wanted = this.guide.grade(expected);
    const gave = given === null ? "cannot tell" : this.guide.grade(given)?.name ?? given;
    const exact = given === expected;
    const title = exact ? "As expected" : right ? "Close enough" : "Another grade was expected";
    const parts = exact ? ["You gave ", chip(wanted)] : ["Expected: ", chip(wanted), `You gave: ${gave}`];
    this.#write(title, parts, explanation);
    const box = this.root.querySelector(".feedback");
    box.dataset.right = right;
    box.querySelector('[data-do="go-on"]').hidden = false;
    return `${title}. Expected: ${wanted.name}. You gave: ${gave}. ${explanation ?? ""}`;
  }

  result({ right, total, pass_mark: mark }) {
    const needed = Math.ceil(mark * total - 1e-9);
    const enough = right >= needed ? `${needed} ${needed === 1 ? "was" : "were"} needed` : "the lead lets you go on";
    this.root.querySelector(".result .why").textContent =
      `You gave the expected grade in ${right} of ${total} items; ${enough}. From now on your answers count.`;
  }

  #write(title, parts, explanation) {
    const box = this.root.querySelector(".feedback");
    box.querySelector("h2").textContent = title;
    box.querySelector(".verdict").replaceChildren(...parts.map((part) => (part instanceof Node ? part : node("span", {}, part))));
    put(box.querySelector(".explanation"), explanation);
  }
}
