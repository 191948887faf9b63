// Steps through draws: the drawing is made in Python (dpviz/figures/dots.py), only the marks move here.
//
// Streamlit calls the default export again whenever data or theme change, on the same elements. What outlives that stands in a
// View beside its element. Play runs at 2.5 draws a second, is off at first, and is left out where less motion is asked for.

const NARROW = 520, PAUSE = 400;
const views = new WeakMap();

export default function ({ data, parentElement }) {
  const element = parentElement.querySelector(".draws");
  if (!views.has(element)) views.set(element, new View(element));
  const view = views.get(element);
  view.show(data);
  return () => { view.close(); views.delete(element); };
}

class View {
  constructor(element) {
    this.element = element;
    this.stage = element.querySelector(".stage");
    this.said = element.querySelector(".said");
    this.buttons = Object.fromEntries([...element.querySelectorAll("button")].map((button) => [button.dataset.do, button]));
    this.at = -1;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.onCalm = () => this.dress();
    this.calm.addEventListener("change", this.onCalm);
    element.querySelector(".bar").addEventListener("click", (event) => this.press(event));
    this.resized = new ResizeObserver(() => this.lay());
    this.resized.observe(element);
  }

  close() {
    this.pause();
    this.resized.disconnect();
    this.calm.removeEventListener("change", this.onCalm);
  }

  show(data) {
    const same = this.data && JSON.stringify(this.data.said) === JSON.stringify(data.said);
    if (!same) { this.pause(); this.at = -1; }
    this.data = data;
    this.lay();
    this.dress();
  }

  lay() {
    if (!this.data || !this.element.clientWidth) return;
    const drawing = this.element.clientWidth < NARROW ? this.data.narrow : this.data.wide;
    if (drawing.svg !== this.text) {
      this.text = drawing.svg;
      this.stage.replaceChildren(new DOMParser().parseFromString(drawing.svg, "image/svg+xml").documentElement);
    }
    this.x = drawing.x;
    this.mark();
  }

  press(event) {
    const action = event.target.closest("button")?.dataset.do;
    if (action === "step") { this.pause(); this.step(); }
    if (action === "play") this.timer ? this.pause() : this.play();
    if (action === "clear") { this.pause(); this.at = -1; this.mark(); this.dress(); }
  }

  step() {
    this.at = (this.at + 1) % this.data.said.length;
    this.mark();
    this.dress();
  }

  play() {
    this.timer = setInterval(() => this.step(), PAUSE);
    this.step();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.dress();
  }

  mark() {
    for (const group of this.stage.querySelectorAll(".draw")) {
      const x = this.at < 0 ? undefined : this.x[this.at][Number(group.dataset.row)];
      group.setAttribute("visibility", x === undefined ? "hidden" : "visible");
      if (x !== undefined) group.setAttribute("transform", `translate(${x} 0)`);
    }
  }

  // While it plays a screen reader is left in peace; a step is read out.
  dress() {
    const { step, play, clear } = this.buttons;
    const calm = this.calm.matches;
    if (calm && this.timer) { clearInterval(this.timer); this.timer = undefined; }
    this.said.setAttribute("aria-live", this.timer ? "off" : "polite");
    this.said.textContent = this.at < 0 ? "" : this.data.said[this.at];
    play.hidden = calm;
    this.element.querySelector(".calm").hidden = !calm;
    play.textContent = this.timer ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(Boolean(this.timer)));
    clear.disabled = this.at < 0;
    step.disabled = play.disabled = !this.data?.said.length;
  }
}
