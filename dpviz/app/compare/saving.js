// Saves a plotly chart of the page as it stands there: its layers in one SVG on the page's ground, or that drawn as PNG. Another
// picture is given whole.

export default function ({ data, parentElement }) {
  const status = parentElement.querySelector("[role=status]");
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = async () => {
      try {
        const svg = data.svg || pictureOf(document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`));
        const is_png = button.dataset.kind === "png";
        save(is_png ? await drawn(svg) : new Blob([svg], { type: "image/svg+xml" }), `${data.name}.${button.dataset.kind}`);
        status.textContent = "";
      } catch (problem) {
        status.textContent = `This browser cannot save it: ${problem.message || problem}`;
      }
    };
  }
}

function pictureOf(plot) {
  const [whole, ...others] = [...plot.querySelectorAll("svg.main-svg")].map((layer) => layer.cloneNode(true));
  for (const layer of others) whole.append(...layer.childNodes);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const app = document.querySelector("[data-testid=stApp]");
  for (const side of ["width", "height"]) ground.setAttribute(side, whole.getAttribute(side));
  ground.setAttribute("fill", getComputedStyle(app).backgroundColor);
  whole.prepend(ground);
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(whole);
}
