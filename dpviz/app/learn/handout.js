// Guess first: the answer appears and the control can be moved. Every picture is in the page.

const pictures = JSON.parse(document.getElementById("pictures").textContent);
const isDark = matchMedia("(prefers-color-scheme: dark)");
const OPTIONS = { displayModeBar: false, responsive: true };

for (const section of document.querySelectorAll("section")) {
  const range = section.querySelector("input[type=range]");
  const chart = section.querySelector(".chart");
  const draw = () => {
    const { value, words, data, layout } = pictures[section.id][range.value];
    section.querySelector("output").textContent = value;
    section.querySelector(".sentence").textContent = words;
    chart.setAttribute("aria-label", words);
    range.setAttribute("aria-valuetext", value);
    const ink = getComputedStyle(document.body).color;
    const axes = ["xaxis", "yaxis", ...Object.keys(layout).filter((name) => /^[xy]axis\d/.test(name))];
    const roomy = Object.fromEntries(axes.map((name) => [name, { ...layout[name], automargin: true }]));
    Plotly.react(chart, data, { ...layout, ...roomy, font: { ...layout.font, color: ink } }, OPTIONS);
  };
  range.addEventListener("input", draw);
  isDark.addEventListener("change", draw);
  for (const option of section.querySelectorAll("input[type=radio]")) {
    option.addEventListener("change", () => {
      const isRight = option.value === "right";
      section.querySelector(".answer").hidden = false;
      section.querySelector(".right").hidden = !isRight;
      section.querySelector(".wrong").hidden = isRight;
      if (range.disabled) range.value = range.dataset.asked;
      range.disabled = false;
      draw();
    });
  }
  draw();
}
