import assert from "node:assert/strict";
import test from "node:test";

import { matching } from "../../app/components/palette.js";

const PAGES = ["Home", "Re-label", "Label", "Rounds"].map((title) => ({ title, about: title === "Rounds" ? "Quality" : "" }));

test("an entry is found by all its words, one that begins with them first", () => {
  const found = (text) => matching(PAGES, text).map(({ title }) => title);
  assert.deepEqual(found("label"), ["Label", "Re-label"]);
  assert.deepEqual(found("quality ROUND"), ["Rounds"]);
  assert.deepEqual(found("rounds home"), []);
  assert.equal(found("").length, PAGES.length);
});

test("what the server found comes before pages whose title is no better", () => {
  const found = ["unlabeled", "label  noise", "Label"].map((title) => ({ title, about: "query" }));
  const shown = matching(PAGES, "label", found).map(({ title, about }) => `${title} ${about}`.trim());
  assert.deepEqual(shown, ["Label", "Label query", "label  noise query", "Re-label", "unlabeled query"]);
});
