// No answer is forgotten for what a proxy, a network or a server in trouble says.

import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";

import { Memory } from "../../app/annotating/memory.js";
import { Outbox } from "../../app/annotating/outbox.js";

const ANSWER = { presentation_id: "p1", revision: 0, kind: "grade", grade: 2 };
let posted; // the answers in each request that reached goldgrade

class Storage {
  getItem(name) { return this[name] ?? null; }

  setItem(name, value) { this[name] = value; }

  removeItem(name) { delete this[name]; }
}

globalThis.location = { pathname: "/", assign: () => assert.fail("the page was left") };

beforeEach(() => {
  globalThis.localStorage = new Storage();
  posted = [];
});

const sentIn = (request) => JSON.parse(request.body).submissions;
const json = (value, init) => new Response(JSON.stringify(value), init);

function goldgrade(request) {
  posted.push(sentIn(request));
  const outcomes = posted.at(-1).map(({ client_key }) => ({ client_key, status: "saved", revision: 1 }));
  return json({ outcomes, queue: null });
}

function answering(answer) {
  globalThis.fetch = async (path, request) => answer(request);
}

function outboxOf(answers) {
  const routes = { judgments: { path: "/api/judgments", body: (batch) => ({ submissions: batch }) } };
  const outbox = new Outbox(new Memory("test"), routes, { answered: () => {}, changed: () => {} });
  outbox.busy = true; // until all are in it
  for (const answer of answers) outbox.add("judgments", answer, 1);
  outbox.busy = false;
  return outbox;
}

async function once() {
  localStorage = new Storage();
  const outbox = outboxOf([ANSWER]);
  await outbox.send();
  clearTimeout(outbox.timer);
  const { problem, waiting, committed, retryAt } = outbox;
  return { problem, kept: [waiting.length, Object.keys(localStorage).length], committed, wait: retryAt - Date.now() };
}

// Send until nothing waits, without the pauses between two tries; returns how many answers still wait.
async function drain(answers, most = 40) {
  const outbox = outboxOf(answers);
  for (let tries = 0; outbox.waiting.length && tries < most; tries += 1) {
    while (outbox.busy) await new Promise((done) => { setTimeout(done, 1); });
    await outbox.send();
    clearTimeout(outbox.timer);
  }
  return outbox.waiting.length;
}

// What others than goldgrade answer, or goldgrade about the request and not about an answer in it.
const CODES = [400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 431, 451, 500, 502, 503, 504];
const STRANGE = {
  ...Object.fromEntries(CODES.map((status) => [status, () => new Response("<h1>nginx</h1>", { status })])),
  "a gateway's JSON": () => json({ message: "no Route matched" }, { status: 404 }),
  "a network's sign-in page": () => new Response("<form>", { headers: { "Content-Type": "text/html" } }),
  nothing: () => new Response(""),
  null: () => new Response("null"),
  "another JSON": () => json({ outcomes: "none" }),
  "no outcome": () => json({ outcomes: [] }),
  "the outcome of another answer": () => json({ outcomes: [{ client_key: "of another answer", status: "refused", message: "no" }, null] }),
};

test("no answer is forgotten for what goldgrade has not said of it", async () => {
  for (const [kind, answer] of Object.entries(STRANGE)) {
    answering(answer);
    const { kept, committed, problem } = await once();
    assert.deepEqual([kept, committed], [[1, 1], false], kind);
    assert.match(problem, /\.$/, kind);
  }
  answering(() => { throw new TypeError("Failed to fetch"); });
  assert.equal((await once()).problem, "The server cannot be reached.");
});

test("what goldgrade says of an answer is final", async () => {
  for (const status of ["saved", "repeated", "stale", "refused"]) {
    answering((request) => json({ outcomes: [{ client_key: sentIn(request)[0].client_key, status }] }));
    const { kept, committed } = await once();
    assert.deepEqual([kept, committed], [[0, 0], ["saved", "repeated"].includes(status)]);
  }
});

test("the server's own reason is said and its wish to wait is kept", async () => {
  const message = "The database file could not be used, and nothing was changed: No space left on device";
  answering(() => json({ message }, { status: 500 }));
  const { problem, wait } = await once();
  assert.equal(problem, `${message}.`);
  assert.ok(wait > 0 && wait <= 500);
  for (const [after, least, most] of [["90", 89_000, 90_000], ["99999", 599_000, 600_000], ["soon", 0, 500]]) {
    answering(() => new Response("", { status: 429, headers: { "Retry-After": after } }));
    const asked = (await once()).wait;
    assert.ok(least <= asked && asked <= most, after);
  }
});

test("a proxy that takes small requests only gets small ones", async () => {
  answering((request) => (request.body.length > 600 ? new Response("<h1>Too Large</h1>", { status: 413 }) : goldgrade(request)));
  const given = Array.from({ length: 9 }, (_, n) => ({ ...ANSWER, presentation_id: `p${n}`, note: "x".repeat(60) }));
  assert.equal(await drain(given), 0);
  const sent = posted.flat().map(({ presentation_id }) => presentation_id);
  assert.deepEqual(sent.sort(), given.map(({ presentation_id }) => presentation_id), "each once");
});

test("an answer that a proxy never lets through holds up no other item", async () => {
  answering((request) => (request.body.includes("DROP TABLE") ? new Response("<h1>Blocked</h1>", { status: 403 }) : goldgrade(request)));
  const given = Array.from({ length: 5 }, (_, n) => ({ ...ANSWER, presentation_id: `p${n}` }));
  given[0].note = "DROP TABLE";
  given.splice(3, 0, { ...ANSWER, presentation_id: "p0", revision: 1, kind: "undo" });
  assert.equal(await drain(given, 30), 2, "the answer, and what was done with its item later");
  const reached = new Set(posted.flat().map(({ presentation_id }) => presentation_id));
  assert.deepEqual([...reached].sort(), ["p1", "p2", "p3", "p4"]);

  posted = [];
  localStorage = new Storage();
  answering(goldgrade);
  assert.equal(await drain(given), 0);
  const first = posted.flat().filter(({ presentation_id }) => presentation_id === "p0");
  assert.deepEqual(first.map(({ revision }) => revision), [0, 1]);
});

test("long notes in any script leave in requests that outlive the page", async () => {
  const outlives = [];
  let largest = 0;
  answering((request) => {
    outlives.push(request.keepalive);
    largest = Math.max(largest, new TextEncoder().encode(request.body).length);
    return goldgrade(request);
  });
  const given = Array.from({ length: 12 }, (_, n) => ({ ...ANSWER, presentation_id: `p${n}`, note: "电热水壶".repeat(1_000) }));
  assert.equal(await drain(given, 12), 0);
  assert.equal(posted.flat().length, 12);
  assert.ok(largest < 64 * 1024);
  assert.deepEqual([...new Set(outlives)], [true]);
});
