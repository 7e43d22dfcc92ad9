// -- what all parts use -------------------------------------------------------------------------------------------

const MINUS = "\u2212";

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const colour = (seat) => `var(--seat${seat % 4})`;
const count = (value) => value.toLocaleString("en");

function dot(seat) {
  const made = element("span", undefined, { class: "seat" });
  made.style.background = colour(seat);
  return made;
}
function duration(ms) {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
  return ms >= 1 ? `${Number(ms.toPrecision(3))} ms` : `${Math.round(ms * 1000)} µs`;
}
// A number with its sign, as values of positions have it.
function signed(value) {
  if (typeof value !== "number") return String(value);
  const text = String(Math.abs(Number(value.toPrecision(4))));
  return value > 0 ? `+${text}` : value < 0 ? MINUS + text : "0";
}
// Round numbers between two, about as many as wanted.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place <= Math.floor(high / step + 1e-9); place += 1) found.push(Number((place * step).toPrecision(10)));
  return found;
}

