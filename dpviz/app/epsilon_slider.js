// The slider is moved by the server, except while somebody moves it. What is dragged is told to the other views on the page at
// once; what is chosen goes to the server after a moment, so that arrow keys held down are one choice.

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
    this.said = element.querySelector("output");
    this.input = element.querySelector("input");
    this.input.addEventListener("input", () => this.drag());
    this.input.addEventListener("change", () => this.choose());
  }

  close() { clearTimeout(this.waiting); }

  show(data) {
    this.data = data;
    this.input.max = data.steps.length - 1;
    if (this.waiting || this.input.matches(":active")) return;
    this.input.value = data.at;
    this.say(data.said);
  }

  drag() {
    const at = this.input.value;
    this.say(this.data.words[at]);
    window.dispatchEvent(new CustomEvent("dpviz-epsilon", { detail: this.data.steps[at] }));
  }

  choose() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.send(this.data.steps[this.input.value]);
    }, MOMENT);
  }

  say(words) {
    this.said.textContent = words;
    this.input.setAttribute("aria-valuetext", words);
  }
}
