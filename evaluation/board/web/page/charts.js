// What a search says, drawn: the bar of a value, and the values of a game by move.

const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The ends of the scale: those of the game's rewards, or of what there is.
export function ends(bounds, values) {
  if (bounds && bounds[0] < bounds[1]) return bounds;
  const known = values.filter((value) => value !== null);
  const far = Math.max(1e-9, ...known.map(Math.abs));
  return [-far, far];
}

// A value as a part of its scale, steeper in the middle, where a small advantage is.
export function part(value, [low, high]) {
  const middle = (low + high) / 2;
  const half = (high - low) / 2;
  const share = Math.max(-1, Math.min(1, (value - middle) / half));
  return 0.5 + 0.5 * Math.sign(share) * Math.abs(share) ** 0.6;
}

export function drawBar(element, value, bounds, name) {
  const fill = document.createElement("div");
  fill.style.width = `${100 * part(value, ends(bounds, [value]))}%`;
  element.setAttribute("aria-label", `Value ${value.toPrecision(3)} for ${name}`);
  element.title = `for ${name}`;
  element.replaceChildren(fill);
}

// Values of positions for the first seat; losses of the moves between them; jump(ply) when a place is chosen.
export function drawChart(figure, review, bounds, name, now, jump) {
  const values = review.values.map((one) => one[0]);
  const last = Math.max(1, review.total);
  const scale = ends(bounds, values);
  const x = (ply) => (1000 * ply) / last;
  const y = (value) => 200 * (1 - part(value, scale));
  const picture = drawn("svg", { viewBox: "0 0 1000 200", preserveAspectRatio: "none", role: "img",
    "aria-label": `The value for ${name} after each of ${review.total} moves` });
  const points = values.map((value, ply) => (value === null ? null : [x(ply), y(value)])).filter(Boolean);
  if (points.length) {
    const path = points.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
    picture.append(drawn("polygon", { class: "area", points: `${points[0][0]},200 ${path} ${points[points.length - 1][0]},200` }));
    picture.append(drawn("line", { class: "middle", x1: 0, x2: 1000, y1: 100, y2: 100, "vector-effect": "non-scaling-stroke" }));
    picture.append(drawn("polyline", { class: "curve", points: path, "vector-effect": "non-scaling-stroke" }));
  }
  const much = 0.15 * (scale[1] - scale[0]);
  review.losses.forEach((loss, ply) => {
    const value = values[ply + 1];
    if (loss === null || loss < much || value === undefined || value === null) return;
    picture.append(drawn("ellipse", { class: "slip", cx: x(ply + 1), cy: y(value), rx: 7, ry: 6 }));
  });
  picture.append(drawn("line", { class: "now", x1: x(now), x2: x(now), y1: 0, y2: 200, "vector-effect": "non-scaling-stroke" }));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    jump(Math.round((last * (event.clientX - box.left)) / box.width));
  });
  const caption = document.createElement("figcaption");
  caption.className = "soft";
  caption.textContent = `Value by move, for ${name}: light is good. Dots are moves that lose much.`;
  figure.replaceChildren(caption, picture);
}
