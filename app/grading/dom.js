// Small things that every part of the screen uses. Text from documents and queries only ever becomes text nodes.

export function node(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function fill(box, segments) {
  box.replaceChildren(...segments.map(([text, marked]) => (marked ? node("mark", {}, text) : document.createTextNode(text))));
}

export function put(box, text) {
  box.textContent = text ?? "";
  box.hidden = !text;
}

// A breath of change, so that two alike items in a row are seen to be two.
export function appear(box) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) box.animate([{ opacity: 0.4 }, { opacity: 1 }], 140);
}

export function plain(segments) {
  return segments.map(([text]) => text).join("");
}

// In a first-strong isolate (Unicode UAX #9): no override in the text reorders the sentence around it.
export function isolated(text) {
  return `\u2068${text.replace(/[\u2066-\u2069]/g, "")}\u2069`;
}

// What an item on screen is known by: a presentation, or a pair that a reviewer decides.
export function nameOf({ presentation_id, pair_id }) {
  return presentation_id ?? pair_id;
}

export function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function keycap({ key, colour }) {
  const cap = node("kbd", { className: "cap" }, key);
  cap.style.background = colour;
  cap.style.color = ink(colour);
  return cap;
}

// A grade in a line of text: its key in its colour, and its name.
export function chip(grade) {
  return node("span", { className: "chip" }, keycap(grade), ` ${grade.name}`);
}

// Black or white, whichever stands out more against the colour (WCAG relative luminance).
function ink(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}
