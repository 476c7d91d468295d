// The keys of commands and grades. An annotator may choose others; this browser keeps them. A key has one meaning: the
// guide's grades come first, then what was chosen, then what is usual. What finds its key taken, as by the grades of
// another guide, has a spare one.

const COMMANDS = {
  cannot: ["x", "Cannot tell"], later: ["l", "Later"], flag: ["f", "Flag"], note: ["n", "Note"], evidence: ["e", "Evidence"], undo: ["u", "Undo"],
  whole: ["w", "Whole document"], mark: ["m", "Next marked word"], skipped: ["t", "Skipped items"], history: ["h", "History"],
  guide: ["g", "Guide"], settings: ["s", "Settings"], keys: ["?", "Keys"],
};
const FIXED = { "/": "the search of the history" };
const SPARE_KEYS = "bdvkzjqia0123456789";

export class Keymap {
  // `scale()` are the grades as the guide has them.
  constructor(root, memory, scale) {
    Object.assign(this, { root, memory, scale });
    const kept = Object.entries(memory.get("keys") ?? {}).filter(([, key]) => typeof key === "string" && key.length === 1);
    this.own = Object.fromEntries(kept);
  }

  // All that has a key: [name, what it is called, its key].
  get entries() {
    const grades = this.scale().map(({ value, key, name }) => [`grade ${value}`, name, key]);
    const commands = Object.entries(COMMANDS).map(([name, [key, words]]) => [name, words, key]);
    const isOwn = ([name]) => name in this.own;
    const isUsual = (one) => !isOwn(one);
    const taken = new Set(Object.keys(FIXED));
    const keys = new Map();
    for (const [name, , usual] of [grades.filter(isUsual), grades.filter(isOwn), commands.filter(isOwn), commands.filter(isUsual)].flat()) {
      const key = [this.own[name], usual, ...SPARE_KEYS].find((one) => one && !taken.has(one));
      taken.add(key);
      keys.set(name, key);
    }
    return [...grades, ...commands].map(([name, words]) => [name, words, keys.get(name)]);
  }

  // The key of a grade as the guide has it.
  ofGrade({ value }) {
    return this.of(`grade ${value}`);
  }

  of(name) {
    return this.entries.find(([of]) => of === name)[2];
  }

  command(pressed) {
    return this.entries.find(([name, , key]) => key === pressed && name in COMMANDS)?.[0];
  }

  // Every key that means something on an item.
  get used() {
    return new Set(this.entries.map(([, , key]) => key));
  }

  // The sentences about chosen keys that this guide has given to its grades, or ''.
  get displaced() {
    const moved = this.entries.filter(([name, , key]) => name in this.own && this.own[name] !== key);
    return moved.map(([name, words, key]) => `This guide uses the key “${this.own[name]}” for a grade, so your key for ${words} is now “${key}”.`).join(" ");
  }

  // Give something a key; the sentence that refuses it, or ''.
  choose(name, pressed) {
    const key = pressed.toLowerCase();
    if (key.length !== 1 || key === " ") return "Press a single letter, digit or sign.";
    const other = this.entries.find(([of, , its]) => its === key && of !== name)?.[1] ?? FIXED[key];
    if (other) return `“${key}” is already the key of ${other}. Press another key, or change that one first.`;
    this.own[name] = key;
    this.memory.set("keys", this.own);
    return "";
  }

  // Every key as it was at first.
  reset() {
    this.own = {};
    this.memory.remove("keys");
  }

  // Write the keys on everything that has one.
  show() {
    for (const name of Object.keys(COMMANDS)) {
      for (const cap of this.root.querySelectorAll(`[data-do="${name}"] kbd, kbd[data-key="${name}"]`)) cap.textContent = this.of(name);
    }
  }
}
