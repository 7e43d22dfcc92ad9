// -- the position: text becomes squares where it is a grid --------------------------------------------------------

const pieces = { K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘", P: "♙", k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
let boards = [];
let grids = [];
let owners = {};
let labels = null;

function setBoards(one) {
  boards = rebuilt(one.frames);
  grids = boards.map(gridOf);
  owners = ownersOf();
  labels = labelsOf();
}
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
function isChess(rows) {
  const all = rows.flat().join("");
  return rows.length === 8 && rows[0].length === 8 && all.includes("k") && all.includes("K") && /^[KQRBNPkqrbnp.]+$/.test(all);
}
// The cells that a move changed, as [row, column, mark].
function changed(number) {
  const [old, now] = [grids[number - 1], grids[number]];
  if (!old || !now || old.length !== now.length) return [];
  return now.flatMap((row, y) => row.flatMap((mark, x) => (old[y][x] === mark ? [] : [[y, x, mark]])));
}
// Whose stones a mark stands for: those that appear when a seat moves are that seat's.
function ownersOf() {
  const votes = {};
  game.moves.forEach((move, place) => changed(place + game.opening + 1).forEach(([, , mark]) => {
    if (!/^[A-Za-z]$/.test(mark)) return;
    votes[mark] = votes[mark] || game.agents.map(() => 0);
    votes[mark][move[0]] += 1;
  }));
  const found = game.agents.length === 2 ? { X: 0, x: 0, O: 1, o: 1 } : {};
  for (const [mark, counts] of Object.entries(votes)) {
    const most = Math.max(...counts);
    if (most >= 0.8 * counts.reduce((a, b) => a + b)) found[mark] = counts.indexOf(most);
  }
  return found;
}
// What to write beside rows and below columns: the coordinates that moves are written in, or where these are not
// known, numbers that lead to the actions, if every move that changed one cell agrees.
function labelsOf() {
  const grid = grids[0];
  if (!grid || isEdge(grid, grid.length - 1, 1) || isEdge(grid, 1, 0)) return null;
  const [height, width] = [grid.length, grid[0].length];
  const [columns, rows] = data.coordinates || [[], []];
  if (columns.length === width && (!rows.length || rows.length === height)) return { columns, rows: rows.length ? rows : null };
  const numbers = (length) => [...Array(length).keys()];
  const placed = game.actions.map((action, place) => [Number(action), changed(place + 1)]).filter(([, cells]) => cells.length === 1);
  const agree = (say) => placed.length > 0 && placed.every(([action, [[y, x]]]) => action === say(y, x));
  if (agree((y, x) => x)) return { columns: numbers(width).map(String), rows: null };
  if (agree((y, x) => y * width + x)) return { columns: numbers(width).map((x) => `+${x}`), rows: numbers(height).map((y) => String(y * width)) };
  return null;
}
function drawText(text, before) {
  $("board").style.removeProperty("--columns");
  const picture = element("pre", undefined, { "aria-label": "Position" });
  const marks = Array.from(text);
  const older = Array.from(before);
  const isNew = (place) => marks.length === older.length && marks[place] !== older[place];
  for (let place = 0, end; place < marks.length; place = end) {
    end = place + 1;
    while (end < marks.length && isNew(end) === isNew(place)) end += 1;
    const part = marks.slice(place, end).join("");
    picture.append(isNew(place) ? element("mark", part) : part);
  }
  return picture;
}
function drawGrid(rows, old) {
  const chess = isChess(rows);
  const picture = element("div", undefined, { class: "squares", role: "img", "aria-label": `Board, row by row: ${rows.map((row) => row.join(" ")).join("; ")}` });
  const columns = rows[0].length + (labels && labels.rows ? 1 : 0);
  picture.style.setProperty("--columns", columns);
  $("board").style.setProperty("--columns", columns);
  rows.forEach((row, y) => {
    if (labels && labels.rows) picture.append(element("div", labels.rows[y], { class: "edge" }));
    row.forEach((mark, x) => {
      const cell = element("div");
      if (isEdge(rows, y, x)) { cell.className = "edge"; cell.textContent = mark; }
      else if (chess) { cell.className = "piece"; cell.textContent = pieces[mark] || ""; cell.classList.toggle("dark", (x + y) % 2 === 1); }
      else if (owners[mark] !== undefined) { cell.className = "stone"; cell.dataset.mark = mark; cell.style.setProperty("--stone", colour(owners[mark])); }
      else if (!/^[.\-_]$/.test(mark)) cell.textContent = mark;
      if (old && old[y] && old[y][x] !== undefined && old[y][x] !== mark) cell.classList.add("new");
      picture.append(cell);
    });
  });
  if (labels) {
    if (labels.rows) picture.append(element("div", "", { class: "edge low" }));
    labels.columns.forEach((name) => picture.append(element("div", name, { class: "edge low" })));
  }
  return picture;
}
function drawBoard() {
  const text = boards[ply];
  if (text === undefined) $("board").replaceChildren(element("p", "This position cannot be drawn; the moves are listed.", { class: "about" }));
  else if (!grids[ply]) $("board").replaceChildren(drawText(text, ply ? boards[ply - 1] : text));
  else $("board").replaceChildren(drawGrid(grids[ply], ply ? grids[ply - 1] : grids[ply]));
}

