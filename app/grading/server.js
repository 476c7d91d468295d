// Asking the server. A refusal is final and says why; any other error may pass, so it is worth another try.

const TIMEOUT = 15_000; // ms for one request

export class Refusal extends Error {}

export async function ask(path, body) {
  const request = { signal: AbortSignal.timeout(TIMEOUT), headers: { Accept: "application/json" } };
  if (body !== undefined) {
    const text = JSON.stringify(body);
    // keepalive lets the request outlive the page; browsers allow it 64 KiB
    Object.assign(request, { method: "POST", body: text, keepalive: text.length < 60_000 });
    request.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, request);
  if (response.status === 401) {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
    return new Promise(() => {}); // the page is leaving
  }
  if (response.ok) return response.json();
  const { message } = await response.json().catch(() => ({}));
  if (response.status >= 500) throw new Error(message ?? `the server answered ${response.status}`);
  throw new Refusal(message ?? `the server answered ${response.status}`);
}
