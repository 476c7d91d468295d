// The card after a query's last document: does the corpus answer this query?

import { node } from "./dom.js";

const ANSWERS = { yes: ["Yes", "y"], partly: ["Partly", "p"], no: ["No", "n"] };
const SPARE = "sdvkzjqiotmba"; // letters for answers whose own are grade keys of the guide

export class Question {
  constructor(root, answered) {
    Object.assign(this, { root, answered });
    this.keys = new Map();
  }

  // Its keys are never grade keys, so that somebody who is still grading answers nothing by accident.
  show(gradeKeys) {
    const spare = [...SPARE].filter((key) => !gradeKeys.has(key));
    const choices = Object.entries(ANSWERS).map(([answer, [name, own]]) => {
      const key = gradeKeys.has(own) ? spare.shift() : own;
      return [key, answer, name];
    });
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
