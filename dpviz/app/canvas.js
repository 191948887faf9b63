// Draws an SVG on a canvas as PNG, and saves files. The SVG refers to nothing outside itself, so the canvas stays readable.

const SCALE = 2, LARGEST = 8192;

async function drawn(svg) {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  root.setAttribute("data-theme", "light");
  const [width, height] = ["width", "height"].map((side) => Number(root.getAttribute(side)));
  const scale = Math.min(SCALE, LARGEST / Math.max(width, height));
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(root));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const brush = canvas.getContext("2d");
  brush.fillStyle = "white";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("too large"))), "image/png"));
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
