// The second click of a double click asks for nothing more; something else may be under the pointer by then.
// Steppers of numbers are no such buttons.
function once(event) {
  const button = event.target.closest?.(".stButton button, .stFormSubmitButton button");
  if (!button || event.detail < 2) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

export default function account({ data, parentElement }) {
  window.removeEventListener("click", window.goldsetOnce, true);
  window.goldsetOnce = once;
  window.addEventListener("click", once, true);
  parentElement.querySelector(".who").textContent = data.role === "annotator" || data.role === data.name ? data.name : `${data.name}, ${data.role}`;
  parentElement.querySelector("button").onclick = () => {
    // A form, not a fetch: where an identity provider signed somebody in, the way out leads over its pages.
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/sign-out";
    document.body.append(form);
    form.submit();
  };
}
