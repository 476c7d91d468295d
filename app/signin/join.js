// A link by which somebody chooses a password has its token after #, which browsers send to nobody. It goes from
// the address to the server, and is not in the history afterwards.
function send() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  const form = Object.assign(document.createElement("form"), { method: "post", action: location.pathname });
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "token", value: token }));
  document.body.append(form);
  form.submit();
}
addEventListener("hashchange", send);
addEventListener("DOMContentLoaded", send);
