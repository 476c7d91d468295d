// Asking the server. Only JSON of goldgrade's own is an answer: whatever else comes, from a proxy, a network's sign-in
// page or a server that is in trouble, is a failure, which may pass.

const TIMEOUT = 15_000; // ms for one request
const BACKOFF = [500, 1_000, 2_000, 4_000, 8_000, 15_000]; // ms after so many failures in a row
const LONGEST_WAIT = 600_000; // ms, whatever an answer asks for
const MOST_OUTLIVING = 64 * 1024; // bytes of all requests under way that may outlive the page (Fetch standard, 4.6)

let outliving = 0;

// Its message is a sentence. `status` is 0 where no answer came; `wait` is for how many ms the answer asked.
export class Failure extends Error {
  constructor(sentence, { status = 0, wait = 0 } = {}) {
    super(/[.!?…]$/.test(sentence) ? sentence : `${sentence}.`);
    Object.assign(this, { status, wait });
  }
}

export function bytes(text) {
  return new TextEncoder().encode(text).length;
}

// ms until the next try after so many failures in a row, of which `failure` is the last.
export function pause(failures, failure) {
  return Math.max(BACKOFF[Math.min(failures, BACKOFF.length) - 1], failure.wait ?? 0);
}

export async function ask(path, body) {
  const request = { signal: AbortSignal.timeout(TIMEOUT), headers: { Accept: "application/json" } };
  if (body === undefined) return read(await send(path, request));
  const text = JSON.stringify(body);
  const size = bytes(text);
  const keepalive = outliving + size <= MOST_OUTLIVING; // beyond that, the browser sends nothing at all
  Object.assign(request, { method: "POST", body: text, keepalive });
  request.headers["Content-Type"] = "application/json";
  if (keepalive) outliving += size;
  try {
    return await read(await send(path, request));
  } finally {
    if (keepalive) outliving -= size;
  }
}

async function send(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    throw new Failure(error.name === "TimeoutError" ? "The server did not answer in time" : "The server cannot be reached");
  }
}

async function read(response) {
  const { ok, status } = response;
  const found = await response.json().catch(() => undefined);
  if (ok && found !== undefined) return found;
  if (status === 401 && found?.signed_in === false) {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
    return new Promise(() => {}); // the page is leaving
  }
  const said = typeof found?.message === "string" && found.message.trim().slice(0, 300);
  const known = status >= 500 && typeof found?.request === "string" ? ` The server's log lists this error as ${found.request.slice(0, 20)}.` : "";
  const other = ok ? "Something other than goldgrade answered. Your network may ask you to sign in" : `The server answered with an error (${status})`;
  throw new Failure(`${said || other}${known && !/[.!?…]$/.test(said || other) ? "." : ""}${known}`, { status, wait: askedWait(response) });
}

// Retry-After is in seconds, or a date.
function askedWait({ headers }) {
  const after = headers.get("Retry-After") ?? "";
  const wait = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return wait > 0 ? Math.min(wait, LONGEST_WAIT) : 0;
}
