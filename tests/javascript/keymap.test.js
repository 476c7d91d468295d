import assert from "node:assert/strict";
import test from "node:test";

import { Keymap } from "../../app/grading/keymap.js";

const GRADES = [{ value: 0, key: "0", name: "Off topic" }, { value: 1, key: "x", name: "Relevant" }];

function keymap(kept, scale = GRADES) {
  const stored = { keys: kept };
  const memory = { get: (name) => stored[name], set: (name, value) => { stored[name] = value; }, remove: (name) => delete stored[name] };
  return new Keymap(undefined, memory, () => scale);
}

test("a grade of the guide keeps its key, and the command that has it gets a spare one", () => {
  const keys = keymap();
  assert.equal(keys.ofGrade({ value: 1 }), "x");
  assert.equal(keys.of("cannot"), "b");
  assert.equal(keys.command("x"), undefined);
});

test("no key has two meanings, whatever a browser has kept", () => {
  for (const kept of [{}, { later: "0", note: "x", undo: "/" }, { later: "ab", note: 7 }, { "grade 0": "u", undo: "u" }]) {
    const { entries, used } = keymap(kept);
    assert.equal(used.size, entries.length);
  }
});

test("a chosen key that the guide gives to a grade is named, once another guide has it", () => {
  assert.equal(keymap({ later: "k" }).displaced, "");
  assert.match(keymap({ later: "0" }).displaced, /uses the key “0” for a grade, so your key for Later is now “l”/);
});

test("a key that is taken, or is none, is refused and nothing is kept", () => {
  const keys = keymap();
  assert.match(keys.choose("later", "N"), /“n” is already the key of Note/);
  assert.match(keys.choose("later", "/"), /search of the history/);
  assert.match(keys.choose("later", "Enter"), /Press a single letter/);
  assert.equal(keys.of("later"), "l");
  assert.equal(keys.choose("later", "P"), "");
  assert.equal(keys.command("p"), "later");
});
