// The keys of commands and grades. An annotator may choose others; this browser keeps them.

const COMMANDS = {
  cannot: ["x", "Cannot tell"], later: ["l", "Later"], flag: ["f", "Flag"], note: ["n", "Note"], undo: ["u", "Undo"],
  whole: ["w", "Whole document"], mark: ["m", "Next marked word"], "put-off": ["t", "Items put off"], history: ["h", "History"],
  guide: ["g", "Guide"], settings: ["s", "Settings"], keys: ["?", "Keys"],
};
const FIXED = { "/": "the search of the history" };

export class Keymap {
  // `scale()` are the grades as the guide has them.
  constructor(root, memory, scale) {
    Object.assign(this, { root, memory, scale });
    const kept = Object.entries(memory.get("keys") ?? {}).filter(([, key]) => typeof key === "string" && key.length === 1);
    this.own = Object.fromEntries(kept);
  }

  // The key of a grade as the guide has it.
  ofGrade({ value, key }) {
    return this.own[`grade ${value}`] ?? key;
  }

  ofCommand(name) {
    return this.own[name] ?? COMMANDS[name][0];
  }

  command(pressed) {
    return Object.keys(COMMANDS).find((name) => this.ofCommand(name) === pressed);
  }

  // All that has a key: [name, what it is called, its key].
  get entries() {
    const grades = this.scale().map((grade) => [`grade ${grade.value}`, grade.name, this.ofGrade(grade)]);
    const commands = Object.entries(COMMANDS).map(([name, [, words]]) => [name, words, this.ofCommand(name)]);
    return [...grades, ...commands];
  }

  // Every key that means something on an item.
  get used() {
    return new Set(this.entries.map(([, , key]) => key));
  }

  // Give something a key; the sentence that refuses it, or ''.
  choose(name, pressed) {
    const key = pressed.toLowerCase();
    if (key.length !== 1 || key === " ") return "Expected one letter, digit or sign. Press another key.";
    const other = this.entries.find(([of, , its]) => its === key && of !== name)?.[1] ?? FIXED[key];
    if (other) return `“${key}” is the key of ${other}. Press another key, or give that one another key first.`;
    this.own[name] = key;
    this.memory.set("keys", this.own);
    return "";
  }

  // The usual keys again.
  reset() {
    this.own = {};
    this.memory.remove("keys");
  }

  // Write the keys on everything that has one.
  show() {
    for (const name of Object.keys(COMMANDS)) {
      for (const cap of this.root.querySelectorAll(`[data-do="${name}"] kbd, kbd[data-key="${name}"]`)) cap.textContent = this.ofCommand(name);
    }
  }
}
