// A button that saves an SVG as PNG; canvas.js draws it.

const given = new WeakMap();

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const status = parentElement.querySelector("[role=status]");
  if (!given.has(button)) {
    button.addEventListener("click", async () => {
      try {
        save(await drawn(given.get(button).svg), given.get(button).name);
        status.textContent = "";
      } catch (problem) {
        status.textContent = `This browser cannot draw it: ${problem.message || problem}`;
      }
    });
  }
  given.set(button, data);
}
