// The drawing is made in Python (dpviz/figures/compare/dots.py), only the marks of one draw move here.

const NARROW = 520, PAUSE = 400;

class View extends Stepper {
  constructor(element) {
    super(element, PAUSE);
    this.resized = new ResizeObserver(() => this.lay());
    this.resized.observe(element);
  }

  close() {
    super.close();
    this.resized.disconnect();
  }

  show(data) {
    if (JSON.stringify(data.said) !== JSON.stringify(this.data?.said)) { this.halt(); this.at = -1; }
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

  mark() {
    for (const group of this.stage.querySelectorAll(".draw")) {
      const x = this.at < 0 ? undefined : this.x[this.at][Number(group.dataset.row)];
      group.setAttribute("visibility", x === undefined ? "hidden" : "visible");
      if (x !== undefined) group.setAttribute("transform", `translate(${x} 0)`);
    }
  }

  dress() {
    super.dress();
    const { step, play, clear } = this.buttons;
    clear.disabled = this.at < 0;
    step.disabled = play.disabled = !this.data?.said.length;
  }
}

export default follow(".draws", View);
