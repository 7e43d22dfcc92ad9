// -- the viewer: moves, what the judge says of them, and the controls ---------------------------------------------

let timer = 0;

function openGame(one, at) {
  stop();
  game = one;
  setBoards(one);
  $("players").replaceChildren(...one.agents.map((number, seat) => {
    const player = element("span", undefined, { class: "one" });
    player.append(dot(seat), `${data.agents[number]} (${data.seats[seat]})`);
    return player;
  }));
  const rewards = one.rewards.length > 1 ? `; rewards ${one.rewards.join(", ")}` : "";
  const why = one.failure ? ` (${one.failure.message})` : one.end === "terminated" ? "" : ` (${one.end})`;
  $("result").textContent = `Ended: ${outcome(one)}${why}${rewards}. ${count(one.plies)} moves, seed ${one.seed}; shown for ${reasons[one.why]}.`;
  fillMoves();
  fillMistakes();
  drawChart();
  $("slide").max = last();
  showChoice();
  // A game opens where there is something to see: at its first mistake, else at its end.
  show(at === undefined ? mistakes()[0] || last() : at);
}
function fillMoves() {
  $("action-heading").textContent = game.names && game.names.some(Boolean) ? "action (written)" : "action";
  const rows = game.actions.map((_, place) => {
    const number = place + 1;
    const move = moveAt(number);
    const row = element("tr", undefined, { "data-ply": number });
    row.append(element("td", number, { class: "n" }));
    const who = element("td", undefined, move ? { title: agentOf(move[0]) } : {});
    if (move) who.append(dot(move[0]), shortOf(move[0]));
    else who.append("opening");
    const action = element("td", actionText(number));
    const letter = game.marks ? game.marks[place] : ".";
    if (letter !== "." && letter !== "o") action.append(" ", element("span", letter === "m" ? "?" : "??", { class: `mark ${letter}`, title: WORDS[letter] }));
    row.append(who, action);
    const [, ms, nodes, depth, value] = move || [];
    const short = typeof value === "number" ? Number(value.toPrecision(4)) : value;
    for (const text of [short, depth, nodes === null || nodes === undefined ? nodes : count(nodes), ms === undefined ? ms : duration(ms)]) {
      row.append(element("td", text ?? "", { class: "n" }));
    }
    return row;
  });
  $("moves").replaceChildren(...rows);
}

// -- what the judge says ------------------------------------------------------------------------------------------

const mistakes = () => [...(game.marks || "")].flatMap((letter, place) => (letter === "." || letter === "o" ? [] : [place + 1]));
function valueWord(value) {
  if (!isOpposed() || data.sum !== 0 || !data.bounds || data.bounds[0] !== -1 || data.bounds[1] !== 1) return signed(value);
  return value > 0 ? "wins" : value < 0 ? "loses" : "draws";
}
function fillMistakes() {
  const found = mistakes();
  $("mistakes").hidden = $("mistake-key").hidden = !game.marks;
  if (!game.marks) return;
  const list = element("ul");
  for (const number of found) {
    const letter = game.marks[number - 1];
    const seat = moveAt(number)[0];
    const button = element("button", undefined, { type: "button", "data-ply": number, title: agentOf(seat) });
    button.append(dot(seat), `${number}. ${writtenOf(game.actions[number - 1])} `, element("span", letter === "m" ? "?" : "??", { class: `mark ${letter}` }), ` ${WORDS[letter]}`);
    const item = element("li");
    item.append(button);
    list.append(item);
  }
  const judged = [...game.marks].filter((letter) => letter !== ".").length;
  const title = found.length ? `Mistakes: ${found.length} of ${judged} judged moves` : judged ? `No mistake in ${judged} judged moves` : "No move of this game could be judged";
  $("mistakes").replaceChildren(element("h3", title), list);
}
function showVerdict() {
  const groups = ply && game.values ? game.values[ply - 1] : undefined;
  const move = ply ? moveAt(ply) : undefined;
  $("verdict").hidden = !game.values;
  if (!game.values) return;
  if (!groups || !move) {
    $("verdict").replaceChildren(element("h3", ply ? `Move ${ply} is not judged` : "Before the first move"));
    return;
  }
  const letter = game.marks[ply - 1];
  const heading = element("h3", `Move ${ply}, ${shortOf(move[0])}: `, { title: agentOf(move[0]) });
  heading.append(element("span", WORDS[letter], { class: `mark ${letter}` }));
  const list = element("ul", undefined, { "aria-label": `Exact value of every action for ${agentOf(move[0])}` });
  const best = groups[0][0];
  for (const [value, actions] of groups) {
    const item = element("li", undefined, { class: value === best ? "best" : "worse" });
    item.append(element("span", `${value === best ? "best, " : ""}${valueWord(value)}`, { class: "worth" }));
    for (const action of actions) {
      const isPlayed = String(action) === game.actions[ply - 1];
      item.append(" ", element("span", writtenOf(action), isPlayed ? { class: "played", title: "played" } : {}));
    }
    list.append(item);
  }
  const parts = [heading, list];
  const found = game.lines && game.lines[ply - 1];
  if (found) parts.push(element("p", `Best line: ${found.join(" ")}${found.length >= 12 ? " …" : ""}`, { class: "line" }));
  $("verdict").replaceChildren(...parts);
}

// -- the position -------------------------------------------------------------------------------------------------

function show(number) {
  ply = Math.min(Math.max(0, number), last());
  drawBoard();
  drawBar();
  showVerdict();
  showStatus();
  $("slide").value = ply;
  $("slide").setAttribute("aria-valuetext", `Move ${ply} of ${last()}`);
  for (const id of ["first", "back"]) $(id).disabled = ply === 0;
  for (const id of ["forward", "last"]) $(id).disabled = ply === last();
  for (const button of $("mistakes").querySelectorAll("button")) button.toggleAttribute("aria-current", Number(button.dataset.ply) === ply);
  showRow();
  markNow();
}
function showStatus() {
  const move = ply ? moveAt(ply) : undefined;
  const who = move ? agentOf(move[0]) : "the opening";
  const parts = ply ? [`Move ${count(ply)} of ${count(last())}: ${who} plays ${game.actions[ply - 1]}${nameOf(ply) && `, written ${nameOf(ply)}`}`] : [`Start of the game, ${count(last())} moves to come`];
  if (move && move[4] !== null) parts.push(`value ${move[4]}`);
  if (move && move[3] !== null) parts.push(`depth ${move[3]}`);
  if (move && move[2] !== null) parts.push(`${count(move[2])} nodes`);
  if (ply === last() && last() < game.plies) parts.push(`${count(game.plies - last())} further moves are not shown`);
  else if (ply === last()) parts.push(outcome(game));
  $("status").textContent = parts.join(" · ");
}
function showRow() {
  for (const row of $("moves").querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
  const row = ply ? $("moves").children[ply - 1] : undefined;
  const list = document.querySelector(".moves");
  if (!row) { list.scrollTop = 0; return; }
  row.setAttribute("aria-current", "step");
  const above = row.offsetTop - list.querySelector("thead").offsetHeight;
  if (above < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = above - list.clientHeight / 3;
}

// -- controls -----------------------------------------------------------------------------------------------------

function stop() {
  clearInterval(timer);
  timer = 0;
  $("play").textContent = "Play";
}
function play() {
  if (timer) { stop(); return; }
  if (ply === last()) show(0);
  $("play").textContent = "Pause";
  timer = setInterval(() => { show(ply + 1); if (ply === last()) stop(); }, 700);
}
function step(to) { stop(); show(to); }
function nextMistake() {
  const found = mistakes();
  if (found.length) step(found.find((number) => number > ply) || found[0]);
}

// Everywhere on the page; where the viewer has the focus, Home, End and the space bar too, which elsewhere scroll.
const keys = {
  ArrowLeft: () => step(ply - 1), ArrowRight: () => step(ply + 1), f: () => step(0), l: () => step(last()), k: play,
  n: () => otherGame(1), p: () => otherGame(-1), b: nextMistake,
};
const insideKeys = { Home: keys.f, End: keys.l, " ": play };
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (at && (at.tagName === "SELECT" || (at.tagName === "BUTTON" && event.key === " "))) return;
  if (at && at.closest(".scroll") && event.key.startsWith("Arrow") && !$("viewer").contains(at)) return;
  const found = keys[event.key] || ($("viewer").contains(at) && insideKeys[event.key]);
  if (!found) return;
  event.preventDefault();
  found();
});
$("first").addEventListener("click", () => step(0));
$("back").addEventListener("click", () => step(ply - 1));
$("forward").addEventListener("click", () => step(ply + 1));
$("last").addEventListener("click", () => step(last()));
$("play").addEventListener("click", play);
$("slide").addEventListener("input", () => step(Number($("slide").value)));
$("agent").addEventListener("change", filterGames);
$("why").addEventListener("change", filterGames);
$("game").addEventListener("change", () => openGame(shown[Number($("game").value)]));
$("previous-game").addEventListener("click", () => otherGame(-1));
$("next-game").addEventListener("click", () => otherGame(1));
for (const id of ["moves", "mistakes"]) {
  $(id).addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-ply]");
    if (chosen) step(Number(chosen.dataset.ply));
  });
}

$("no-script").hidden = true;
$("viewer").hidden = false;
fillFilters();
filterGames();
openGame(game);
