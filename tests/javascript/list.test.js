import assert from "node:assert/strict";
import test from "node:test";

import { List } from "../../app/grading/list.js";

const item = (place, more = {}) => ({ presentation_id: `p${place}`, list_id: "p1", item_number: place, item_count: 4, revision: 0, asks_about_query: place === 4, ...more });

function answered(...places) {
  const list = new List();
  list.turn("p1");
  for (const place of places) list.record(item(place), { kind: "grade", grade: 2 });
  return list;
}

const places = (lines) => lines.map(({ showing }) => showing.item_number);

test("a list has what is answered and what is open in its order, and nothing of another list", () => {
  const queue = [item(4), item(1), item(2, { list_id: "other" })];
  assert.deepEqual(places(answered(3, 2).lines(queue)), [1, 2, 3, 4]);
});

test("after an answer comes the next open item, from the top again after the last, and nothing once all are answered", () => {
  const list = answered(3);
  assert.equal(list.after(item(3), [item(1), item(4)]).item_number, 4);
  assert.equal(list.after(item(4), [item(1), item(2)]).item_number, 1);
  assert.equal(answered(1, 2).after(item(2), [item(5, { list_id: "next" })]), undefined);
});

test("a change needs the revision after the last answer, whichever way its item came on screen", () => {
  const list = answered(1);
  list.record(item(1, { list_id: "", revision: 1 }), { kind: "grade", grade: 3 });
  const [line] = list.lines([]);
  assert.deepEqual([line.grade, line.showing.revision, line.showing.list_id], [3, 2, "p1"]);
});

test("what the server says of a list is older than what was done on the page, and another list's is not taken", () => {
  const list = answered(1);
  list.fill([{ showing: item(1), kind: "grade", grade: 0 }, { showing: item(2), kind: "grade", grade: 1 }, { showing: item(3, { list_id: "other" }) }]);
  assert.deepEqual(list.lines([]).map(({ grade }) => grade), [2, 1]);
});

test("the question about the query comes after its last item, unless one of the list was skipped", () => {
  assert.equal(answered(1, 2).asks, false);
  const list = answered(3, 4);
  assert.equal(list.asks, true);
  list.record(item(2), { kind: "later" });
  assert.equal(list.asks, false);
});
