// The page: asks the server what is new, shows it, and sends what the person does. All text goes in as text.
import { Surface } from "/surface.js";
import { drawBar, drawChart } from "/charts.js";

const $ = (id) => document.getElementById(id);
const store = window.sessionStorage;
if (location.hash.length > 1) {
  store.setItem("token", location.hash.slice(1));
  history.replaceState(null, "", "/"); // the token is not left in the address, where others may see it
}
const token = store.getItem("token") || "";

let table = store.getItem("table");
let view = null;
let shownPly = null; // null: the present position
let surfaceKey = "";
let pictureKey = "";
let turned = null; // null: as the person's seat has it
let chosen = [];
let received = 0;
let listKey = "";
let settingsKey = "";
const surface = new Surface($("frame"), choose);

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// -- the server ---------------------------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

async function ask(path, options = {}) {
  const headers = { "X-Zermelo-Token": token };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/api/${path}`, { ...options, headers });
  if (answer.ok) return answer;
  let text = `the server answers with status ${answer.status}`;
  try { text = (await answer.json()).error || text; } catch { /* no JSON */ }
  throw new Refused(answer.status, text);
}

async function command(name, body = {}) {
  try {
    await ask(`tables/${table}/${name}`, { method: "POST", body: JSON.stringify(body) });
    complain("");
    return true;
  } catch (error) {
    complain(error.message);
    return false;
  }
}

async function watch() {
  for (;;) {
    try {
      if (!table) {
        table = (await (await ask("tables", { method: "POST", body: "{}" })).json()).id;
        store.setItem("table", table);
      }
      const after = view ? `?after=${view.version}` : "";
      const answer = await (await ask(`tables/${table}${after}`)).json();
      $("connection").textContent = "";
      await show(answer);
    } catch (error) {
      if (error.status === 404) { table = null; view = null; continue; }
      $("connection").textContent = error instanceof Refused ? `The server refuses: ${error.message}.` : "The server does not answer; trying again.";
      if (error.status === 403) return;
      if (!(error instanceof Refused) && !(error instanceof TypeError)) console.error(error);
      await new Promise((done) => { setTimeout(done, 1000); });
    }
  }
}

let ownProblem = "";
function complain(text) {
  ownProblem = text;
  const shown = ownProblem || (view && view.problem) || "";
  $("problem").hidden = !shown;
  $("problem").textContent = shown ? shown.charAt(0).toUpperCase() + shown.slice(1) + (/[.!?]$/.test(shown) ? "" : ".") : "";
}

// -- showing ------------------------------------------------------------------------------------------------------

async function show(news) {
  const before = view;
  view = news;
  received = performance.now();
  if (!before || before.moves.length !== view.moves.length || before.settings.seed !== view.settings.seed) {
    shownPly = null;
    chosen = [];
    if (view.moves.length) complain("");
  }
  const key = JSON.stringify([table, view.env, view.hides]);
  if (key !== surfaceKey) {
    surface.set(await (await ask(`tables/${table}/surface`)).json());
    surfaceKey = key;
    pictureKey = "";
  }
  await render();
}

async function render() {
  $("title").textContent = view.env;
  document.title = `${view.env}: zermelo board`;
  await showBoard();
  showSeats();
  showStatus();
  showMoves();
  showLegal();
  showAnalysis();
  showReview();
  showSettings();
  complain(ownProblem);
}

const last = () => view.moves.length;
const ply = () => (shownPly === null ? last() : shownPly);
const isLive = () => ply() === last();
const isTurned = () => (turned === null ? view.people.length === 1 && view.people[0] === 1 : turned);

async function showBoard() {
  const key = JSON.stringify([table, ply(), view.moves.map((move) => move.text).join(" "), view.env, view.hides, isTurned(), view.people, view.over]);
  if (key !== pictureKey) {
    pictureKey = key;
    const answer = await ask(`tables/${table}/pictures/${ply()}`);
    const isPicture = answer.status === 200;
    $("frame").hidden = !isPicture;
    $("text").hidden = isPicture;
    if (isPicture) {
      const image = await createImageBitmap(await answer.blob());
      surface.draw(image, isTurned());
    } else {
      $("text").textContent = isLive() ? view.text : (await (await ask(`tables/${table}/frames/${ply()}`)).json()).text;
    }
    surface.name(isLive() ? view.text : "");
    $("picture").setAttribute("aria-label", `Board after ${ply()} moves. ${isLive() ? view.text : ""}`);
  }
  $("turn").hidden = !(surface.surface && surface.surface.turns);
  mark();
}

function showSeats() {
  const seats = view.seats.map((seat, number) => ({ ...seat, number }));
  const mine = view.people.length === 1 ? view.people[0] : 0;
  fillSeat($("below"), [seats[mine]]);
  fillSeat($("above"), seats.filter((seat) => seat.number !== mine));
  tick();
}

function fillSeat(strip, seats) {
  strip.replaceChildren();
  strip.hidden = !seats.length;
  strip.classList.toggle("moving", seats.some((seat) => seat.number === view.mover));
  for (const seat of seats) {
    strip.append(element("span", undefined, { class: "lamp" }));
    strip.append(element("span", seat.player === "you" ? `You (${seat.name})` : `${seat.player} (${seat.name})`, { class: "who" }));
    if (seat.clock !== null) strip.append(element("span", "", { class: "clock", "data-seat": seat.number, "aria-label": `Clock of ${seat.name}` }));
  }
}

function tick() {
  if (!view || !view.clocked) return;
  const gone = (performance.now() - received) / 1000;
  for (const clock of document.querySelectorAll(".clock")) {
    const seat = Number(clock.dataset.seat);
    const runs = seat === view.mover && view.moves.length > 0;
    const left = Math.max(0, view.seats[seat].clock - (runs ? gone : 0));
    const minutes = Math.floor(left / 60);
    const seconds = left < 20 ? (left % 60).toFixed(1).padStart(4, "0") : String(Math.floor(left % 60)).padStart(2, "0");
    clock.textContent = `${minutes}:${seconds}`;
    if (runs && left === 0 && !clock.dataset.told) {
      clock.dataset.told = "yes";
      ask(`tables/${table}`).then((answer) => answer.json()).then(show).catch(() => {});
    }
  }
}
setInterval(tick, 100);

function showStatus() {
  let text = "";
  if (view.over) text = view.over;
  else if (view.waits) text = `${view.seats[view.mover].player} will think in a moment: ${view.waits}`;
  else if (view.thinking) text = `${view.seats[view.mover].player} is thinking`;
  else if (view.yours) text = chosen.length ? `${chosen.join(" ")}: where to?` : "Your turn";
  if (!isLive()) text = `Position after move ${ply()} of ${last()}`;
  $("status").textContent = text;
  const finished = view.moves.some((move) => view.people.includes(move.seat));
  $("back").disabled = !finished;
  $("hint").disabled = !view.yours || (view.analyses && view.analysis === null);
  $("hint").textContent = view.yours && view.analyses && view.analysis === null ? "Looking" : "Hint";
  $("swap").disabled = view.seats.length < 2;
  $("now").disabled = view.mover === null || view.yours;
  $("move").disabled = !view.yours;
  $("review").disabled = !view.moves.length || view.hides;
}

function showMoves() {
  const key = JSON.stringify([view.moves.map((move) => move.text), ply()]);
  if (key === listKey) return;
  listKey = key;
  const pairs = view.seats.length === 2;
  $("moves").replaceChildren(...view.moves.map((move, place) => {
    const item = element("li");
    if (!pairs || place % 2 === 0) item.append(element("span", `${pairs ? place / 2 + 1 : place + 1}.`, { class: "number" }));
    const button = element("button", move.text, { type: "button", "aria-label": `Move ${place + 1}: ${move.text} by ${view.seats[move.seat].name}` });
    if (typeof move.value === "number") button.title = `value ${move.value.toPrecision(3)} for the mover, depth ${move.depth ?? 0}, ${(move.nodes ?? 0).toLocaleString("en")} nodes`;
    if (place + 1 === ply()) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => goTo(place + 1));
    item.append(button);
    return item;
  }));
  const current = $("moves").querySelector("[aria-current]");
  if (current) $("moves").scrollTop = current.offsetTop - $("moves").offsetTop - 40;
  $("first").disabled = $("previous").disabled = ply() === 0;
  $("next").disabled = $("last").disabled = isLive();
}

async function goTo(place) {
  shownPly = Math.max(0, Math.min(last(), place));
  if (shownPly === last()) shownPly = null;
  chosen = [];
  await render();
  if ($("analyse").getAttribute("aria-pressed") === "true") startAnalysis();
}

// -- moves --------------------------------------------------------------------------------------------------------

function begins(path, start) {
  return start.every((name, place) => path[place] === name);
}
const fitting = (start) => view.legal.filter((move) => move.paths.some((path) => begins(path, start)));

function mark() {
  const sets = { free: new Set(), held: new Set(), chosen: new Set(chosen), target: new Set(), hinted: new Set(), last: new Set() };
  if (isLive() && view.yours) {
    for (const move of view.legal) {
      for (const path of move.paths) {
        sets.free.add(path[0]);
        if (path.length > 1) sets.held.add(path[0]);
        if (!chosen.length || path.length <= chosen.length || !begins(path, chosen)) continue;
        sets.target.add(path[chosen.length]);
        if (chosen.length % 2 === 0) sets.held.add(path[chosen.length]); // the next checker of a play
      }
    }
    for (const name of sets.target) sets.free.add(name);
    const hinted = view.legal.find((move) => move.number === view.hint);
    if (hinted && hinted.paths.length) for (const name of hinted.paths[0]) sets.hinted.add(name);
  }
  const before = view.moves[ply() - 1];
  if (before && before.path) for (const name of before.path) sets.last.add(name);
  surface.mark(sets);
}

// A spot that was clicked, or dragged from or to; a drag begins anew.
function choose(name, anew = false) {
  if (!view || !view.yours || !isLive()) return;
  const start = anew && !fitting([...chosen, name]).length ? [] : chosen;
  let next = [...start, name];
  if (!anew && chosen.length && chosen[chosen.length - 1] === name && !fitting(next).length) next = []; // the same again
  let moves = next.length ? fitting(next) : [];
  if (!moves.length && next.length) { next = [name]; moves = fitting(next); }
  if (!moves.length) next = [];
  chosen = next;
  $("choice").hidden = true;
  const complete = moves.filter((move) => move.paths.some((path) => path.length === next.length && begins(path, next)));
  if (complete.length === 1 && moves.length === 1) { play(complete[0].number); return; }
  if (complete.length) offer(complete);
  mark();
  showStatus();
}

function offer(moves) {
  $("choice").replaceChildren(...moves.map((move) => {
    const button = element("button", move.label, { type: "button" });
    button.addEventListener("click", () => play(move.number));
    return button;
  }));
  $("choice").hidden = false;
  $("choice").querySelector("button").focus();
}

async function play(move) {
  $("choice").hidden = true;
  view.yours = false; // until the server says what came of it
  const done = await command("play", { move, turn: view.turn });
  view.yours = !done;
  chosen = [];
  mark();
  showStatus();
  return done;
}

function showLegal() {
  const unplaced = view.legal.filter((move) => !move.paths.length);
  $("count").textContent = view.yours ? `(${view.legal.length})` : "";
  $("list").hidden = !view.legal.length;
  if (view.legal.length && (unplaced.length === view.legal.length || !surface.spots.length || view.hides)) $("list").open = true;
  $("legal").replaceChildren(...view.legal.map((move) => {
    const button = element("button", move.label, { type: "button" });
    if (move.number === view.hint) button.className = "hinted";
    button.addEventListener("click", () => play(move.number));
    return button;
  }));
}

// -- analysis -----------------------------------------------------------------------------------------------------

const short = (value) => (value === null || value === undefined ? "" : Number(value.toPrecision(3)).toString().replace("-", "−"));

function showAnalysis() {
  const found = view.analysis;
  const on = view.analysed !== null || (found !== null && found !== undefined);
  $("analyse").setAttribute("aria-pressed", String(on));
  $("analyse").textContent = on ? "Stop" : "Analyse";
  $("found").hidden = !found;
  if (!found) return;
  const mover = view.seats[0].name;
  if (found.values[0] !== null) drawBar($("bar"), found.values[0], view.bounds, mover);
  const proven = found.proven ? `, proven${found.plies !== null ? ` (${found.plies} moves to the end)` : ""}` : "";
  const depth = found.depth ? `depth ${found.depth}, ` : "";
  $("figures").textContent = `Value ${short(found.value)} for the player to move${proven}; ${depth}${found.nodes.toLocaleString("en")} nodes, ${found.seconds.toFixed(1)} s${view.analyses ? " so far" : ""}`;
  $("line").textContent = found.line.length ? `Best play: ${found.line.slice(0, 14).join(" ")}` : "";
  const visited = found.actions.some((action) => action.visits);
  $("visits-heading").hidden = !visited;
  $("values").replaceChildren(...found.actions.map((action) => {
    const row = element("tr");
    row.append(element("td", action.label), element("td", short(action.value), { class: "n" }));
    if (visited) row.append(element("td", action.visits.toLocaleString("en"), { class: "n" }));
    return row;
  }));
}

function startAnalysis() {
  return command("analyse", { on: true, ply: ply(), agent: $("analyst").value || "auto" });
}

function showReview() {
  const review = view.review;
  $("reviewed").hidden = !review;
  if (!review) return;
  drawChart($("chart"), review, view.bounds, view.seats[0].name, ply(), goTo);
  $("accuracy").replaceChildren(...review.seats.map((seat) => {
    const row = element("tr");
    row.append(element("td", seat.name));
    for (const text of [seat.moves, seat.best, short(seat.loss)]) row.append(element("td", text, { class: "n" }));
    return row;
  }));
  const judged = review.judged;
  const agents = judged ? judged.agents.filter((agent) => agent.judged) : [];
  $("judged").hidden = !agents.length;
  $("judge-note").textContent = judged ? judged.note || "" : "The judge is at work.";
  $("proofs").replaceChildren(...agents.map((agent) => {
    const row = element("tr");
    row.append(element("td", agent.agent));
    for (const text of [agent.judged, agent.optimal, short(agent.mean_regret), agent.wins_thrown_away, agent.draws_thrown_away]) row.append(element("td", text, { class: "n" }));
    return row;
  }));
}

// -- settings and files -------------------------------------------------------------------------------------------

function showSettings() {
  const key = JSON.stringify([view.settings, view.formats, view.seats.length]);
  if (key === settingsKey) return;
  settingsKey = key;
  $("opponent").value = view.settings.opponent;
  $("clock").value = view.settings.clock;
  $("analyst").value = view.settings.analyst;
  $("seat").replaceChildren(...view.seats.map((seat, number) => element("option", `${number + 1}: ${seat.name}`, { value: number })));
  $("seat").value = String(view.people.length ? view.people[0] : 0);
  $("saves").replaceChildren(...view.formats.map((form) => {
    const button = element("button", `Save as ${form.toUpperCase()}`, { type: "button" });
    button.addEventListener("click", () => save(form));
    return button;
  }));
}

async function save(form) {
  try {
    const text = await (await ask(`tables/${table}/files/${form}`)).text();
    const link = element("a", "", { href: URL.createObjectURL(new Blob([text])), download: `game.${form}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    complain("");
  } catch (error) { complain(error.message); }
}

$("load").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file) return;
  if (file.size > 1 << 20) { complain("The file is too large: a game has at most 1 MB"); return; }
  await command("load", { text: await file.text() });
});
$("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  command("new", { opponent: $("opponent").value, seat: Number($("seat").value), clock: $("clock").value, seed: Math.floor(Math.random() * 2 ** 31) });
});
$("typed").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("move").value.trim();
  if (text && await play(text)) $("move").value = "";
});
$("back").addEventListener("click", () => command("back"));
$("hint").addEventListener("click", () => command("hint"));
$("swap").addEventListener("click", () => command("swap"));
$("now").addEventListener("click", () => command("now"));
$("review").addEventListener("click", () => command("review"));
$("turn").addEventListener("click", () => { turned = !isTurned(); render(); });
$("analyse").addEventListener("click", () => {
  if ($("analyse").getAttribute("aria-pressed") === "true") command("analyse", { on: false });
  else startAnalysis();
});
$("first").addEventListener("click", () => goTo(0));
$("previous").addEventListener("click", () => goTo(ply() - 1));
$("next").addEventListener("click", () => goTo(ply() + 1));
$("last").addEventListener("click", () => goTo(last()));
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, button") && !event.target.closest("#moves")) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && view) { event.preventDefault(); goTo(ply() + step); }
  if (event.key === "Escape" && chosen.length) { chosen = []; $("choice").hidden = true; mark(); showStatus(); }
});

if (token) watch();
else $("connection").textContent = "The link's token is missing: open the link that the terminal shows.";
