// Small things that every part of the screen uses. Text from documents and queries only ever becomes text nodes.

export function node(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function fill(box, nodes) {
  box.replaceChildren(...drawn(nodes));
}

// A drawn document comes as a tree: [text, marked] is text, [name, attributes, children] an element of these names.
const NAMES = new Set(("p h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote pre hr "
  + "strong em code sub sup del ins br").split(" "));
const NUMBERS = ["start", "colspan", "rowspan"];
const ALONE = /^(p|h[3-6]|li|d[td]|t[dh]|caption|blockquote|pre)$/;

export function drawn(nodes) {
  return nodes.map((one) => (one.length === 3 ? element(...one) : one[1] ? node("mark", {}, one[0]) : document.createTextNode(one[0])));
}

export function isDrawn(nodes) {
  return nodes.some((one) => one.length === 3 && one[0] !== "span");
}

function element(name, attributes, children) {
  if (name === "img") return picture(attributes);
  if (name === "a") return link(attributes, children);
  if (name === "span" && attributes.at) return sentence(attributes, children);
  if (!NAMES.has(name)) return node("span", {}, ...drawn(children));
  const made = node(name, ALONE.test(name) ? { dir: "auto" } : {}, ...drawn(children));
  for (const number of NUMBERS) if (attributes[number]) made.setAttribute(number, parseInt(attributes[number], 10));
  const outer = name === "table" || name === "pre" ? across(made, name === "pre" ? "Code" : "Table") : made;
  if (attributes.cut) outer.dataset.cut = attributes.cut;
  return outer;
}

// A sentence that can be marked; `at` is its place in the stored text.
function sentence({ at }, children) {
  const made = node("span", { className: "sentence" }, ...drawn(children));
  made.dataset.at = at;
  return made;
}

// What may be wider than the screen scrolls by itself, by keys, too.
function across(made, name) {
  return node("div", { className: "across", tabIndex: 0, role: "group", ariaLabel: name }, made);
}

function link({ href }, children) {
  if (!/^https?:\/\//.test(href)) return node("span", {}, ...drawn(children));
  return node("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...drawn(children));
}

function picture({ src, alt }) {
  if (!src?.startsWith("https://")) return node("span", { className: "no-picture", dir: "auto" }, alt);
  return node("img", { alt, referrerPolicy: "no-referrer", decoding: "async", src });
}

export function put(box, text) {
  box.textContent = text ?? "";
  box.hidden = !text;
}

// A breath of change, so that two alike items in a row are seen to be two.
export function appear(box) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) box.animate([{ opacity: 0.4 }, { opacity: 1 }], 140);
}

export function plain(nodes) {
  return nodes.map((one) => (one.length === 3 ? ` ${plain(one[2])} ` : one[0])).join("");
}

// As the other pages write it: 1,211.
export function thousands(count) {
  return count.toLocaleString("en");
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

// Black or white, whichever has more contrast against the colour (WCAG relative luminance).
function ink(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}
