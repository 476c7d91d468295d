// Rows to choose from, with a checkbox each. What is chosen is known by id and lives here, so that neither a rerun
// nor another filter loses it; Python hears of every change at once. Arrow keys go from row to row, with Shift they
// choose on the way, and so does Shift with a click.

const element = (name, text) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
};

function cell(value) {
  const made = element("td");
  made.dir = "auto";
  made.classList.toggle("figure", /^[\d,]+$/.test(value));
  if (!Array.isArray(value)) made.textContent = value;
  else made.append(...value.map((word) => element("span", word)));
  return made;
}

function line(id, values, address) {
  const row = element("tr");
  const box = element("input");
  box.type = "checkbox";
  box.value = id;
  box.setAttribute("aria-label", values[0]);
  const first = element("td");
  first.append(box);
  row.append(first, ...values.map(cell));
  if (address) {
    const link = Object.assign(element("a", values[0]), { href: address, className: "gs-page" });
    row.children[1].replaceChildren(link);
  }
  return row;
}

class Picker {
  constructor(root) {
    this.root = root;
    this.body = root.querySelector("tbody");
    this.all = root.querySelector("thead input");
    this.chosen = new Set();
    this.cleared = null;
    this.drawn = "";
    this.last = null; // the box that a range is counted from
    this.body.onmousedown = (event) => event.shiftKey && event.preventDefault(); // or it would mark words
    this.body.onclick = (event) => this.clicked(event);
    this.body.onkeydown = (event) => this.pressed(event);
    this.body.onfocusin = ({ target }) => this.enter(target);
    this.all.onclick = () => this.choose(this.boxes, this.all.checked);
    root.querySelector("button").onclick = () => {
      this.chosen.clear();
      this.say();
      this.boxes[0]?.focus();
    };
  }

  get boxes() {
    return [...this.body.querySelectorAll("input")];
  }

  take(data, tell) {
    this.tell = tell;
    if (data.cleared !== this.cleared) this.chosen = new Set(data.chosen);
    this.cleared = data.cleared;
    const drawn = JSON.stringify([data.columns, data.rows]);
    if (drawn !== this.drawn) this.draw(data);
    this.drawn = drawn;
    this.show();
  }

  draw({ columns, rows }) {
    const held = this.root.activeElement?.value;
    const heads = columns.map((name) => Object.assign(element("th", name), { scope: "col" }));
    this.all.closest("tr").replaceChildren(this.all.closest("th"), ...heads);
    this.body.replaceChildren(...rows.map((row) => line(...row)));
    const first = [...(this.body.rows[0]?.cells ?? [])].slice(1);
    first.forEach((made, index) => heads[index].classList.toggle("figure", made.classList.contains("figure")));
    const boxes = this.boxes;
    const found = boxes.find((box) => box.value === held);
    for (const box of boxes) box.tabIndex = -1;
    this.last = null;
    if (boxes.length) (found ?? boxes[0]).tabIndex = 0;
    found?.focus();
  }

  show() {
    const boxes = this.boxes;
    for (const box of boxes) {
      box.checked = this.chosen.has(box.value);
      box.closest("tr").classList.toggle("chosen", box.checked);
    }
    const here = boxes.filter((box) => box.checked).length;
    const hidden = this.chosen.size - here;
    this.all.checked = here > 0 && here === boxes.length;
    this.all.indeterminate = here > 0 && here < boxes.length;
    const aside = hidden ? `, ${hidden} of them not shown by the filter` : "";
    this.root.querySelector(".count").textContent = this.chosen.size
      ? `${this.chosen.size} chosen${aside}.`
      : boxes.length > 9
        ? `Scroll to see all ${boxes.length}.`
        : "";
    this.root.querySelector("button").hidden = !this.chosen.size;
  }

  choose(boxes, wanted) {
    for (const box of boxes) wanted ? this.chosen.add(box.value) : this.chosen.delete(box.value);
    this.say();
  }

  say() {
    this.show();
    this.tell("chosen", { ids: [...this.chosen], cleared: this.cleared });
  }

  clicked(event) {
    const row = event.target.closest("tr");
    const onBox = event.target.matches("input");
    if (!row || event.target.matches("a") || (!onBox && String(getSelection()))) return; // words were marked, to be copied
    const box = row.querySelector("input");
    const wanted = onBox ? box.checked : !box.checked;
    const boxes = this.boxes;
    const places = [boxes.indexOf(this.last ?? box), boxes.indexOf(box)].sort((a, b) => a - b);
    this.choose(event.shiftKey && event.detail ? boxes.slice(places[0], places[1] + 1) : [box], wanted);
    this.last = box;
    box.focus();
  }

  pressed(event) {
    const boxes = this.boxes;
    const at = boxes.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: boxes.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const box = boxes[Math.max(0, Math.min(boxes.length - 1, to))];
    if (event.shiftKey && event.key.startsWith("Arrow")) this.choose([event.target, box], true);
    box.focus();
    box.closest("tr").scrollIntoView({ block: "nearest" });
  }

  enter(target) {
    for (const box of this.boxes) box.tabIndex = box === target ? 0 : -1;
  }
}

export default ({ parentElement, data, setStateValue }) => {
  parentElement.picker ??= new Picker(parentElement);
  parentElement.picker.take(data, setStateValue);
};
