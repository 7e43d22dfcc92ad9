"use strict";
// Steps through the games of the page. All text from the data goes in as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.games.length) return;
  const $ = (id) => document.getElementById(id);
  const reasons = { failure: "a failure", upset: "an upset", sample: "the sample" };
  let shown = [];
  let game = data.games.find((one) => one.actions.length > 1) || data.games[0];
  let boards = [];
  let owners = {};
  let ply = 0;
  let timer = 0;

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }
  function drawn(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const agentOf = (seat) => data.agents[game.agents[seat]];
  const colour = (seat) => `var(--seat${seat % 4})`;
  const count = (value) => value.toLocaleString("en");
  const last = () => game.actions.length;
  const moveAt = (number) => game.moves[number - 1 - game.opening];

  function duration(ms) {
    if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
    return ms >= 1 ? `${Number(ms.toPrecision(3))} ms` : `${Math.round(ms * 1000)} µs`;
  }
  const nameOf = (number) => (game.names && game.names[number - 1]) || "";
  function actionText(number) {
    const name = nameOf(number);
    return name ? `${game.actions[number - 1]} (${name})` : game.actions[number - 1];
  }

  // -- which game ---------------------------------------------------------------------------------------------

  function fillFilters() {
    $("agent").append(element("option", "any", { value: "" }));
    data.agents.forEach((name, number) => {
      if (data.games.some((one) => one.agents.includes(number))) $("agent").append(element("option", name, { value: number }));
    });
    $("why").append(element("option", "any reason", { value: "" }));
    for (const [reason, text] of Object.entries(reasons)) {
      if (data.games.some((one) => one.why === reason)) $("why").append(element("option", text, { value: reason }));
    }
  }
  function outcome(one) {
    if (one.failure) {
      const kind = one.failure.kind.replaceAll("_", " ").toLowerCase();
      return one.failure.seat === null ? kind : `${kind} by ${data.agents[one.agents[one.failure.seat]]}`;
    }
    const winner = one.outcomes.indexOf("win");
    if (winner >= 0) return `${data.agents[one.agents[winner]]} wins`;
    return one.outcomes.length ? "drawn" : `return ${one.rewards[0]}`;
  }
  function filterGames() {
    const agent = $("agent").value;
    const why = $("why").value;
    shown = data.games.filter((one) => (agent === "" || one.agents.includes(Number(agent))) && (why === "" || one.why === why));
    $("game").replaceChildren();
    shown.forEach((one, place) => {
      const players = one.agents.map((number) => data.agents[number]).join(" – ");
      $("game").append(element("option", `${one.id ? `${one.id}: ` : ""}${players}, ${outcome(one)}, ${count(one.plies)} moves`, { value: place }));
    });
    if (!shown.length) $("game").append(element("option", "no such game is shown", { value: "" }));
    $("game").disabled = !shown.length;
    if (shown.length && !shown.includes(game)) openGame(shown[0], 0);
    else showChoice();
  }
  function showChoice() {
    const place = shown.indexOf(game);
    $("game").value = place;
    $("previous-game").disabled = place <= 0;
    $("next-game").disabled = place < 0 || place >= shown.length - 1;
  }
  function otherGame(step) {
    const next = shown[shown.indexOf(game) + step];
    if (next) openGame(next, 0);
  }

  // -- the game -----------------------------------------------------------------------------------------------

  function rebuilt(frames) {
    const all = [];
    for (const frame of frames || []) {
      if (typeof frame === "string") { all.push(frame); continue; }
      const cells = Array.from(all[all.length - 1]);
      for (let place = 0; place < frame.length; place += 2) Array.from(frame[place + 1]).forEach((mark, step) => { cells[frame[place] + step] = mark; });
      all.push(cells.join(""));
    }
    return all;
  }
  function openGame(one, at) {
    stop();
    game = one;
    boards = rebuilt(one.frames);
    owners = ownersOf();
    $("players").replaceChildren();
    one.agents.forEach((number, seat) => {
      const player = element("span", undefined, { class: "one" });
      const dot = element("span", undefined, { class: "seat" });
      dot.style.background = colour(seat);
      player.append(dot, `${data.agents[number]} (${data.seats[seat]})`);
      $("players").append(player);
    });
    const rewards = one.rewards.length > 1 ? `; rewards ${one.rewards.join(", ")}` : "";
    const why = one.failure ? ` (${one.failure.message})` : one.end === "terminated" ? "" : ` (${one.end})`;
    $("result").textContent = `Ended: ${outcome(one)}${why}${rewards}. ${count(one.plies)} moves, seed ${one.seed}; shown for ${reasons[one.why]}.`;
    fillMoves();
    drawChart();
    $("slide").max = last();
    showChoice();
    show(at);
  }
  function fillMoves() {
    $("action-heading").textContent = game.names && game.names.some(Boolean) ? "action (written)" : "action";
    const rows = game.actions.map((_, place) => {
      const number = place + 1;
      const move = moveAt(number);
      const row = element("tr", undefined, { "data-ply": number });
      row.append(element("td", number, { class: "n" }));
      const who = element("td");
      if (move) {
        const dot = element("span", undefined, { class: "seat" });
        dot.style.background = colour(move[0]);
        who.append(dot, agentOf(move[0]));
      } else who.append("opening");
      row.append(who, element("td", actionText(number)));
      const [, ms, nodes, depth, value] = move || [];
      for (const text of [value, depth, nodes === null || nodes === undefined ? nodes : count(nodes), ms === undefined ? ms : duration(ms)]) {
        row.append(element("td", text ?? "", { class: "n" }));
      }
      return row;
    });
    $("moves").replaceChildren(...rows);
  }
  function drawChart() {
    const lines = new Map();
    game.moves.forEach((move, place) => {
      if (typeof move[4] !== "number") return;
      if (!lines.has(move[0])) lines.set(move[0], []);
      lines.get(move[0]).push([place + 1 + game.opening, move[4]]);
    });
    $("chart").replaceChildren();
    if (![...lines.values()].some((points) => points.length > 1)) return;
    const values = [...lines.values()].flat().map((point) => point[1]);
    const high = Math.max(0, ...values);
    const low = Math.min(0, ...values);
    const margin = 0.08 * (high - low) || 1;
    const x = (number) => (1000 * number) / last();
    const y = (value) => (100 * (high + margin - value)) / (high - low + 2 * margin);
    const picture = drawn("svg", { viewBox: "0 0 1000 100", width: "100%", height: 110, preserveAspectRatio: "none", role: "img",
      "aria-label": `Values between ${low} and ${high} that the searches found, each for the agent that moved` });
    const line = (name, attributes) => picture.append(drawn(name, { "vector-effect": "non-scaling-stroke", ...attributes }));
    line("line", { class: "zero", x1: 0, x2: 1000, y1: y(0), y2: y(0) });
    const key = element("figcaption", "Value found, each for the agent that moved: ");
    for (const [seat, points] of [...lines].sort((a, b) => a[0] - b[0])) {
      line("polyline", { points: points.map(([number, value]) => `${x(number).toFixed(1)},${y(value).toFixed(2)}`).join(" "), style: `stroke:${colour(seat)}` });
      const name = element("span", agentOf(seat), { class: "key" });
      name.style.setProperty("--colour", colour(seat));
      key.append(name);
    }
    line("line", { class: "now", id: "now", x1: 0, x2: 0, y1: 0, y2: 100 });
    const scale = element("div", undefined, { class: "scale", "aria-hidden": "true" });
    scale.append(element("span", `${low} to ${high}`), element("span", `${count(last())} moves`));
    $("chart").append(key, picture, scale);
  }

  // -- the position -------------------------------------------------------------------------------------------

  const pieces = { K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘", P: "♙", k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };

  // Rows of single marks: words of one or two characters with spaces between, or lines of the same length without.
  function gridOf(text) {
    const lines = text.split("\n").filter((line) => line.trim());
    let rows = lines.map((line) => line.trim().split(/\s+/));
    if (rows.every((row) => row.length === 1)) {
      if (lines.some((line) => /[|+()[\]]/.test(line))) return null;
      const width = Math.max(...lines.map((line) => line.length));
      rows = lines.map((line) => Array.from(line.padEnd(width)));
    }
    const same = rows.every((row) => row.length === rows[0].length);
    if (!same || rows.length < 3 || rows[0].length < 3 || rows[0].length > 26) return null;
    return rows.every((row) => row.every((mark) => mark.length <= 2)) ? rows : null;
  }
  function isEdge(rows, row, column) {
    const lowest = rows.length - 1;
    const letters = rows[lowest].every((mark, place) => mark === " " || mark.toLowerCase() === String.fromCharCode(97 + place - (rows[lowest][0] === " " ? 1 : 0)));
    const digits = rows.every((line, place) => /^[0-9 ]$/.test(line[0]) || place === lowest) && new Set(rows.map((line) => line[0])).size === rows.length;
    return (letters && row === lowest) || (digits && column === 0);
  }
  // Whose stones a mark stands for: those that appear when a seat moves are that seat's.
  function ownersOf() {
    const votes = {};
    const grids = boards.map(gridOf);
    game.moves.forEach((move, place) => {
      const before = grids[place + game.opening];
      const after = grids[place + game.opening + 1];
      if (!before || !after) return;
      after.forEach((row, y) => row.forEach((mark, x) => {
        if (before[y] && before[y][x] === mark || !/^[A-Za-z]$/.test(mark)) return;
        votes[mark] = votes[mark] || game.agents.map(() => 0);
        votes[mark][move[0]] += 1;
      }));
    });
    const found = game.agents.length === 2 ? { X: 0, x: 0, O: 1, o: 1 } : {};
    for (const [mark, counts] of Object.entries(votes)) {
      const most = Math.max(...counts);
      if (most >= 0.8 * counts.reduce((a, b) => a + b)) found[mark] = counts.indexOf(most);
    }
    return found;
  }
  function drawBoard() {
    const text = boards[ply];
    const before = ply ? boards[ply - 1] : text;
    if (text === undefined) {
      $("board").replaceChildren(element("p", "This position cannot be drawn; the moves are listed.", { class: "about" }));
      return;
    }
    const rows = gridOf(text);
    const old = gridOf(before);
    if (!rows) {
      const picture = element("pre", undefined, { "aria-label": "Position" });
      const marks = Array.from(text);
      const older = Array.from(before);
      let place = 0;
      while (place < marks.length) {
        const changed = marks.length === older.length && marks[place] !== older[place];
        let end = place + 1;
        while (end < marks.length && (marks.length === older.length && marks[end] !== older[end]) === changed) end += 1;
        const part = marks.slice(place, end).join("");
        picture.append(changed ? element("mark", part) : part);
        place = end;
      }
      $("board").replaceChildren(picture);
      return;
    }
    const all = rows.flat().join("");
    const isChess = rows.length === 8 && rows[0].length === 8 && all.includes("k") && all.includes("K") && /^[KQRBNPkqrbnp.]+$/.test(all);
    const picture = element("div", undefined, { class: "squares", role: "img", "aria-label": `Board, row by row: ${rows.map((row) => row.join(" ")).join("; ")}` });
    picture.style.setProperty("--columns", rows[0].length);
    rows.forEach((row, y) => row.forEach((mark, x) => {
      const cell = element("div");
      if (isEdge(rows, y, x)) { cell.className = "edge"; cell.textContent = mark; }
      else if (isChess) { cell.className = "piece"; cell.textContent = pieces[mark] || ""; cell.classList.toggle("dark", (x + y) % 2 === 1); }
      else if (owners[mark] !== undefined) { cell.className = "stone"; cell.dataset.mark = mark; cell.style.setProperty("--stone", colour(owners[mark])); }
      else if (!/^[.\-_]$/.test(mark)) cell.textContent = mark;
      if (old && old[y] && old[y][x] !== undefined && old[y][x] !== mark) cell.classList.add("new");
      picture.append(cell);
    }));
    $("board").replaceChildren(picture);
  }
  function show(number) {
    ply = Math.min(Math.max(0, number), last());
    drawBoard();
    const move = ply ? moveAt(ply) : undefined;
    const who = move ? agentOf(move[0]) : "the opening";
    const parts = ply ? [`Move ${count(ply)} of ${count(last())}: ${who} plays ${game.actions[ply - 1]}${nameOf(ply) && `, written ${nameOf(ply)}`}`] : [`Start of the game, ${count(last())} moves to come`];
    if (move && move[4] !== null) parts.push(`value ${move[4]}`);
    if (move && move[3] !== null) parts.push(`depth ${move[3]}`);
    if (move && move[2] !== null) parts.push(`${count(move[2])} nodes`);
    if (ply === last() && last() < game.plies) parts.push(`${count(game.plies - last())} further moves are not shown`);
    else if (ply === last()) parts.push(outcome(game));
    $("status").textContent = parts.join(" · ");
    $("slide").value = ply;
    $("slide").setAttribute("aria-valuetext", `Move ${ply} of ${last()}`);
    for (const id of ["first", "back"]) $(id).disabled = ply === 0;
    for (const id of ["forward", "last"]) $(id).disabled = ply === last();
    for (const row of $("moves").querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
    const row = ply ? $("moves").children[ply - 1] : undefined;
    const list = document.querySelector(".moves");
    if (row) {
      row.setAttribute("aria-current", "step");
      const above = row.offsetTop - list.querySelector("thead").offsetHeight;
      if (above < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = above - list.clientHeight / 3;
    } else list.scrollTop = 0;
    const now = $("now");
    if (now) for (const end of ["x1", "x2"]) now.setAttribute(end, last() ? (1000 * ply) / last() : 0);
  }

  // -- controls -----------------------------------------------------------------------------------------------

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

  const keys = {
    ArrowLeft: () => step(ply - 1), ArrowRight: () => step(ply + 1), Home: () => step(0), End: () => step(last()),
    " ": play, n: () => otherGame(1), p: () => otherGame(-1),
  };
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    const inside = $("viewer").contains(at);
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (at && (at.tagName === "SELECT" || (at.tagName === "BUTTON" && event.key === " "))) return;
    // Elsewhere on the page only the arrows step: Home, End and the space bar scroll.
    if (!inside && !(at === document.body && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("first").addEventListener("click", () => step(0));
  $("back").addEventListener("click", () => step(ply - 1));
  $("forward").addEventListener("click", () => step(ply + 1));
  $("last").addEventListener("click", () => step(last()));
  $("play").addEventListener("click", play);
  $("slide").addEventListener("input", () => step(Number($("slide").value)));
  $("agent").addEventListener("change", filterGames);
  $("why").addEventListener("change", filterGames);
  $("game").addEventListener("change", () => openGame(shown[Number($("game").value)], 0));
  $("previous-game").addEventListener("click", () => otherGame(-1));
  $("next-game").addEventListener("click", () => otherGame(1));
  $("moves").addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) step(Number(row.dataset.ply));
  });

  $("no-script").hidden = true;
  $("viewer").hidden = false;
  fillFilters();
  filterGames();
  openGame(game, 0);
})();
