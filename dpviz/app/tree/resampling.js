// Drawings made in Python, one tree per fresh draw; the first is shown at once.

const PAUSE = 1000;

class View extends Stepper {
  constructor(element) { super(element, PAUSE); }

  show(data) {
    if (JSON.stringify(data.said) === JSON.stringify(this.data?.said)) return;
    this.halt();
    this.data = data;
    this.put(0);
  }

  mark() {
    this.stage.innerHTML = this.data.drawings[this.at];
    this.stage.setAttribute("aria-label", this.words);
    for (const place of this.stage.querySelectorAll("[tabindex]")) place.removeAttribute("tabindex");
  }
}

export default follow(".resampling", View);
