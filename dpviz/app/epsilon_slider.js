// The slider is moved by the server, except while somebody moves it or types. What is dragged is told to the other views on the
// page at once; what is chosen goes to the server after a moment, so that arrow keys held down are one choice. A live slider sends
// what is dragged, one value at a time: the next one goes when the picture of the one before has come.

const MOMENT = 150;
const sliders = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const element = parentElement.querySelector(".choice");
  if (!sliders.has(element)) sliders.set(element, new Slider(element));
  const slider = sliders.get(element);
  slider.send = (epsilon) => setTriggerValue("epsilon", epsilon);
  slider.show(data);
  return () => { slider.close(); sliders.delete(element); };
}

class Slider {
  constructor(element) {
    this.exact = element.querySelector(".exact");
    this.scale = element.querySelector(".scale");
    this.scale.addEventListener("input", () => this.drag());
    this.scale.addEventListener("change", () => this.choose(this.data.steps[this.scale.value]));
    this.exact.addEventListener("input", () => { this.isTyped = true; });
    this.exact.addEventListener("change", () => this.exact.reportValidity() && this.choose(Number(this.exact.value)));
    this.exact.addEventListener("blur", () => { this.isTyped = false; });
  }

  close() { clearTimeout(this.waiting); }

  show(data) {
    this.data = data;
    this.scale.max = data.steps.length - 1;
    this.scale.setAttribute("aria-label", data.name);
    if (data.live) {
      this.name ??= this.exact.parentElement.querySelector(".name");
      this.name.textContent = data.name;
      this.scale.disabled = data.disabled;
      if (data.epsilon === this.asked) {
        this.asked = undefined;
        this.follow();
      }
      if (this.asked !== undefined) return;
    }
    if (this.waiting || this.isTyped || this.scale.matches(":active")) return;
    this.scale.value = data.at;
    this.say(data.epsilon);
  }

  drag() {
    const epsilon = this.data.steps[this.scale.value];
    this.say(epsilon);
    if (this.data.live) return this.follow();
    window.dispatchEvent(new CustomEvent("dpviz-epsilon", { detail: epsilon }));
  }

  follow() {
    const epsilon = this.data.steps[this.scale.value];
    if (this.asked !== undefined || epsilon === this.data.epsilon) return;
    this.asked = epsilon;
    this.send(epsilon);
  }

  choose(epsilon) {
    if (this.data.live) return this.follow();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.isTyped = false;
      this.send(epsilon);
    }, MOMENT);
  }

  say(epsilon) {
    const said = this.data.said?.[this.data.steps.indexOf(epsilon)];
    this.exact.value = said ?? epsilon;
    this.scale.setAttribute("aria-valuetext", said ?? `ε = ${epsilon}`);
  }
}
