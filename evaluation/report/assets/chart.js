// -- values: a bar beside the board and a plot over the moves, from one point of view where two are opposed --------

const WORDS = { w: "win thrown away", d: "draw thrown away", m: "mistake", o: "optimal" };
const isOpposed = () => game.agents.length === 2 && typeof data.sum === "number";
// A value for the seat that moved, as one for the first seat.
const forFirst = (seat, value) => (seat === 0 || !isOpposed() ? value : data.sum - value);

// The proven value of the position after so many moves, for its mover, with the seat; undefined where none is.
function provenAt(number) {
  if (number === last() && last() === game.plies && !game.failure && game.rewards.length) return [0, game.rewards[0]];
  const groups = game.values && game.values[number];
  const next = moveAt(number + 1);
  return groups && next ? [next[0], groups[0][0]] : undefined;
}
// The same for the first seat: proven if possible, else what the agent that moves next thinks, or moved last.
function worthAt(number) {
  const proven = provenAt(number);
  if (proven) return { value: forFirst(...proven), source: number === last() ? "the result" : "proven" };
  for (const move of [moveAt(number + 1), moveAt(number)]) {
    if (move && typeof move[4] === "number") return { value: forFirst(move[0], move[4]), source: `as ${shortOf(move[0])} sees it` };
  }
  return undefined;
}
function boundsOf() {
  if (data.bounds) return data.bounds;
  const known = game.moves.filter((move) => typeof move[4] === "number").map((move) => Math.abs(move[4]));
  const most = Math.max(1e-9, ...known, ...game.rewards.filter((reward) => typeof reward === "number").map(Math.abs));
  return [-most, most];
}
function drawBar() {
  const worth = isOpposed() ? worthAt(ply) : undefined;
  const isShown = isOpposed() && game.moves.some((move, place) => typeof move[4] === "number" || provenAt(place + game.opening));
  $("bar").hidden = !isShown;
  if (!isShown) return;
  const [low, high] = boundsOf();
  const share = worth ? Math.min(1, Math.max(0, (worth.value - low) / (high - low))) : 0.5;
  $("bar-fill").style.height = `${100 * share}%`;
  const said = worth ? `Value for ${agentOf(0)}: ${signed(worth.value)} (${worth.source})` : "The value of this position is not known";
  $("bar").setAttribute("aria-label", said);
  $("bar").title = said;
}

// Lines of the plot: of each seat that says values, and of what is proven.
function seriesOf() {
  const lines = new Map();
  game.moves.forEach((move, place) => {
    if (typeof move[4] !== "number") return;
    if (!lines.has(move[0])) lines.set(move[0], []);
    lines.get(move[0]).push([place + game.opening, isOpposed() ? forFirst(move[0], move[4]) : move[4]]);
  });
  const found = [...lines].sort((a, b) => a[0] - b[0]).map(([seat, points]) => ({ name: shortOf(seat), full: agentOf(seat), stroke: colour(seat), points }));
  const proven = isOpposed() ? [...Array(last() + 1).keys()].flatMap((number) => (provenAt(number) ? [[number, forFirst(...provenAt(number))]] : [])) : [];
  if (proven.length > 1) found.push({ name: "proven", full: "exact value under perfect play", stroke: "var(--ink)", kind: "proven", points: proven });
  return found.filter((line) => line.points.length > 1);
}
function drawChart() {
  const lines = seriesOf();
  $("chart").replaceChildren();
  if (!lines.length) return;
  const values = lines.flatMap((line) => line.points.map((point) => point[1]));
  const [high, low] = [Math.max(0, ...values), Math.min(0, ...values)];
  const margin = 0.08 * (high - low) || 1;
  const [top, bottom] = [high + margin, low - margin];
  const x = (number) => (1000 * number) / last();
  const y = (value) => (1000 * (top - value)) / (top - bottom);
  const whose = isOpposed() ? `for ${agentOf(0)}` : "each for the agent that moved";
  const picture = drawn("svg", { viewBox: "0 0 1000 1000", width: "100%", height: 130, preserveAspectRatio: "none", role: "img",
    "aria-label": `Values between ${signed(low)} and ${signed(high)}, ${whose}` });
  const line = (name, attributes) => picture.append(drawn(name, { "vector-effect": "non-scaling-stroke", ...attributes }));
  const ordinate = element("div", undefined, { class: "ordinate", "aria-hidden": "true" });
  for (const mark of ticks(bottom, top, 4)) {
    line("line", { class: mark === 0 ? "zero" : "grid", x1: 0, x2: 1000, y1: y(mark), y2: y(mark) });
    const text = element("span", signed(mark));
    text.style.top = `${y(mark) / 10}%`;
    ordinate.append(text);
  }
  const key = element("figcaption", isOpposed() ? `Value for ${shortOf(0)}, as found by ` : "Value found, each for the agent that moved: ", { title: isOpposed() ? agentOf(0) : "" });
  for (const { name, full, stroke, kind, points } of lines) {
    line("polyline", { class: kind || "", points: points.map(([number, value]) => `${x(number).toFixed(1)},${y(value).toFixed(1)}`).join(" "), style: `stroke:${stroke}` });
    const label = element("span", name, { class: "key", title: full });
    label.style.setProperty("--colour", stroke);
    key.append(label);
  }
  [...(game.marks || "")].forEach((letter, place) => {
    if (letter !== "." && letter !== "o") line("line", { class: `slip ${letter}`, x1: x(place + 1), x2: x(place + 1), y1: 0, y2: 1000 });
  });
  line("line", { class: "now", id: "now", x1: 0, x2: 0, y1: 0, y2: 1000 });
  const axis = element("div", undefined, { class: "axis", "aria-hidden": "true" });
  for (const mark of ticks(0, last(), 6).filter(Number.isInteger)) {
    const text = element("span", count(mark));
    text.style.left = `${x(mark) / 10}%`;
    axis.append(text);
  }
  const readout = element("p", "\u00a0", { class: "readout", id: "readout" });
  const frame = element("div", undefined, { class: "frame" });
  frame.append(ordinate, picture, axis);
  $("chart").append(key, frame, readout);
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.round((Math.min(Math.max(event.clientX - box.left, 0), box.width) / box.width) * last());
  };
  picture.addEventListener("pointermove", (event) => { readout.textContent = readoutAt(lines, at(event)); });
  picture.addEventListener("pointerleave", () => { readout.textContent = "\u00a0"; });
  picture.addEventListener("click", (event) => step(at(event)));
}
function readoutAt(lines, number) {
  const said = lines.flatMap(({ name, points }) => points.filter((point) => point[0] === number).map((point) => `${name} ${signed(point[1])}`));
  return `After ${count(number)} moves: ${said.join(", ") || "no value is known"}`;
}
function markNow() {
  const now = $("now");
  if (now) for (const end of ["x1", "x2"]) now.setAttribute(end, last() ? (1000 * ply) / last() : 0);
}

