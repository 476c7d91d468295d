// The card after a query's last document: does the corpus answer this query?

import { node } from "../annotating/dom.js";

const ANSWERS = { yes: ["Yes", "y"], partly: ["Partly", "p"], no: ["No", "o"] }; // "n" opens a note
const SPARE = "dvkzjqiarce"; // letters for answers whose own mean something else

export class Question {
  constructor(root, answered) {
    Object.assign(this, { root, answered });
    this.keys = new Map();
  }

  // Its keys mean nothing else on this screen, so that somebody who is still grading answers nothing by accident.
  choices(used) {
    const spare = [...SPARE].filter((key) => !used.has(key));
    return Object.entries(ANSWERS).map(([answer, [name, own]]) => [used.has(own) ? spare.shift() : own, answer, name]);
  }

  show(used) {
    const choices = this.choices(used);
    this.keys = new Map(choices.map(([key, answer]) => [key, answer]));
    this.root.querySelector(".question .choices").replaceChildren(...choices.map(([key, answer, name]) => {
      const button = node("button", { type: "button", className: "tool" }, node("kbd", {}, key), ` ${name}`);
      button.addEventListener("click", () => this.answered(answer));
      return button;
    }));
  }

  press(key) {
    if (this.keys.has(key)) this.answered(this.keys.get(key));
    return this.keys.has(key);
  }
}
