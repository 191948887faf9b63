// Shows a drawing made in Python, the wide or the narrow one, and reports the data-key of the cell that is chosen in it.
//
// Cells are one stop of the tab key; arrow keys go to the nearest cell in that direction (by data-x and data-y), Enter and space
// choose. Streamlit calls the default export again on the same elements whenever data or theme change.

const NARROW = 520;
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const element = parentElement.querySelector(".picture");
  if (!views.has(element)) views.set(element, new View(element));
  const view = views.get(element);
  view.report = (key) => setTriggerValue("chosen", key);
  view.show(data);
  return () => { view.close(); views.delete(element); };
}

class View {
  constructor(element) {
    this.element = element;
    element.addEventListener("click", (event) => this.choose(event.target.closest("[data-key]")));
    element.addEventListener("keydown", (event) => this.key(event));
    this.resized = new ResizeObserver(() => this.lay());
    this.resized.observe(element);
  }

  close() { this.resized.disconnect(); }

  show(data) {
    this.data = data;
    this.lay();
  }

  lay() {
    if (!this.data || !this.element.clientWidth) return;
    const text = this.element.clientWidth < NARROW ? this.data.narrow : this.data.wide;
    if (text === this.text) return;
    const held = this.element.getRootNode().activeElement?.dataset?.key;
    this.text = text;
    this.element.innerHTML = text;
    this.cells = [...this.element.querySelectorAll("[data-key]")];
    const first = this.cells.find((cell) => cell.getAttribute("aria-selected") === "true") || this.cells[0];
    this.stop(this.cells.find((cell) => cell.dataset.key === held) || first, held !== undefined);
  }

  stop(cell, focus) {
    for (const other of this.cells) other.setAttribute("tabindex", other === cell ? "0" : "-1");
    if (focus) cell?.focus({ preventScroll: true });
  }

  choose(cell) { if (cell) this.report(cell.dataset.key); }

  key(event) {
    const cell = event.target.closest("[data-key]");
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!cell || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    if (!step) return this.choose(cell);
    const next = this.nearest(cell, step);
    if (next) this.stop(next, true);
  }

  nearest(cell, [dx, dy]) {
    let best, least = Infinity;
    for (const other of this.cells) {
      const x = other.dataset.x - cell.dataset.x, y = other.dataset.y - cell.dataset.y;
      const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (along > 1 && along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    return best;
  }
}
