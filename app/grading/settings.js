// The settings of one annotator in this browser: text size, theme, break hint and keys, in one panel.

import { node, put } from "../annotating/dom.js";

const SIZES = { Small: 0.9, Normal: 1, Large: 1.15, Largest: 1.35 };
const THEMES = { System: "As the system", Light: "Light", Dark: "Dark" };

export class Settings {
  // `opened()` is called when the panel opens, `keysChanged()` when a key was given.
  constructor(root, memory, keymap, rest, { opened, keysChanged }, signal) {
    Object.assign(this, { root, memory, keymap, rest, opened, keysChanged });
    this.#size(SIZES[memory.get("size")] ? memory.get("size") : "Normal");
    this.#choices("size", Object.keys(SIZES).map((name) => [name, name]), (name) => this.#size(name));
    this.#choices("theme", Object.entries(THEMES), (name) => takeTheme(name));
    this.#box.addEventListener("change", () => { rest.suggests = this.#box.checked; }, { signal });
    this.dialog.addEventListener("keydown", (event) => this.#key(event), { signal });
    this.dialog.addEventListener("close", () => this.#ask(null), { signal });
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close(), { signal });
    this.dialog.querySelector(".usual").addEventListener("click", () => {
      keymap.reset();
      this.#changed("The default keys are back.");
    }, { signal });
  }

  get dialog() {
    return this.root.querySelector(".settings");
  }

  show() {
    this.#check("size", this.size);
    this.#check("theme", theme());
    this.#box.checked = this.rest.suggests;
    this.#say(this.keymap.displaced);
    this.#lines();
    this.dialog.showModal();
    this.showWork();
    this.opened();
  }

  showWork() {
    put(this.dialog.querySelector(".work"), this.rest.sentence);
  }

  #size(name) {
    this.size = name;
    this.root.style.setProperty("--size", SIZES[name]);
    this.memory.set("size", name);
  }

  #choices(of, all, chosen) {
    this.dialog.querySelector(`[data-setting="${of}"] .options`).replaceChildren(...all.map(([value, words]) => {
      const input = node("input", { type: "radio", name: of, value });
      input.addEventListener("change", () => chosen(value));
      return node("label", {}, input, ` ${words}`);
    }));
  }

  #check(of, value) {
    this.dialog.querySelector(`input[name="${of}"][value="${value}"]`).checked = true;
  }

  #lines() {
    this.dialog.querySelector(".own-keys").replaceChildren(...this.keymap.entries.map(([name, words, key]) => {
      const line = node("button", { type: "button", className: "own" }, node("span", {}, words), node("kbd", {}, key));
      line.addEventListener("click", () => this.#ask(name, line));
      line.addEventListener("blur", () => this.asking === name && this.#leave());
      line.name = name;
      return line;
    }));
  }

  // The next key goes to this one; null: to none.
  #ask(name, line) {
    this.dialog.querySelector(".own[aria-pressed]")?.removeAttribute("aria-pressed");
    this.asking = name;
    line?.setAttribute("aria-pressed", "true");
    if (line) this.#say(`Press the new key of ${line.firstChild.textContent}. Esc keeps the current key.`);
  }

  #leave() {
    this.#ask(null);
    this.#say("");
  }

  #key(event) {
    const { key, repeat, ctrlKey, metaKey, altKey } = event;
    if (key.length === 1 || this.asking) event.stopPropagation(); // Streamlit listens to single keys too
    if (!this.asking || repeat || ctrlKey || metaKey || altKey || ["Shift", "Tab", "AltGraph", "CapsLock"].includes(key)) return;
    event.preventDefault();
    if (key === "Escape") return this.#leave();
    const refused = this.keymap.choose(this.asking, key);
    if (refused) this.#say(refused);
    else this.#changed("Kept.");
  }

  #changed(said) {
    const { asking } = this;
    this.#ask(null);
    this.keysChanged();
    this.#lines();
    if (asking) this.dialog.querySelector(`.own[name="${CSS.escape(asking)}"]`)?.focus();
    this.#say(said);
  }

  #say(sentence) {
    this.dialog.querySelector(".said").textContent = sentence;
  }

  get #box() {
    return this.dialog.querySelector('[data-setting="rest"]');
  }
}

// The index page gives it to Streamlit, which keeps it by the path of a page.
function theme() {
  try {
    const kept = JSON.parse(localStorage.getItem("goldset:theme"));
    return THEMES[kept] ? kept : "System";
  } catch {
    return "System";
  }
}

function takeTheme(name) {
  try {
    localStorage.setItem("goldset:theme", JSON.stringify(name));
  } catch {
    return; // nothing is kept in this browser
  }
  location.reload(); // what is not saved yet and what is half written are kept
}
