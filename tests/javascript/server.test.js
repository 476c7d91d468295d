import assert from "node:assert/strict";
import test from "node:test";

import { isolated } from "../../app/annotating/dom.js";
import { ask, Failure, pause } from "../../app/annotating/server.js";

function answering(body, init) {
  globalThis.fetch = () => Promise.resolve(new Response(body, init));
}

test("the pause grows with each failure and is never shorter than what the server asks for", () => {
  assert.deepEqual([1, 2, 6, 60].map((failures) => pause(failures, {})), [500, 1_000, 15_000, 15_000]);
  assert.equal(pause(1, { wait: 4_000 }), 4_000);
});

test("what is not JSON of goldgrade is a failure, whatever its status", async () => {
  answering("<html>Sign in to the airport</html>", { status: 200 });
  await assert.rejects(ask("/api/worked"), (error) => error instanceof Failure && /other than goldgrade/.test(error.message));
});

test("a refusal says its own sentence, the request's name in the log and for how long to wait", async () => {
  answering(JSON.stringify({ message: "The project is busy", request: "a1b2" }), { status: 503, headers: { "Retry-After": "7" } });
  await assert.rejects(ask("/api/worked"), { message: "The project is busy. The server's log lists this error as a1b2.", status: 503, wait: 7_000 });
});

test("Retry-After of a year, of yesterday or of nonsense holds nobody for long", async () => {
  for (const [asked, wait] of [["31536000", 600_000], ["Mon, 23 Nov 2020 00:00:00 GMT", 0], ["soon", 0]]) {
    answering("{}", { status: 429, headers: { "Retry-After": asked } });
    await assert.rejects(ask("/api/worked"), { wait });
  }
});

test("an override in a text reorders nothing around it", () => {
  assert.equal(isolated("a\u2069\u202eb"), "\u2068a\u202eb\u2069");
});
