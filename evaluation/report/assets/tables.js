// -- tables: sorted by a click on a heading, saved as CSV; and the contents say where one is ----------------------

const UNITS = { s: 1, ms: 1e-3, "µs": 1e-6 };

// What a cell is sorted by: its first number with its unit, or its text.
function sortKey(text) {
  const plain = text.trim().replaceAll(MINUS, "-").replaceAll(",", "");
  if (plain === "∞" || plain === "-∞") return plain === "∞" ? Infinity : -Infinity;
  const found = /^([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*(s|ms|µs)\b)?/i.exec(plain);
  return found ? Number(found[1]) * (UNITS[found[2]] || 1) : plain.toLowerCase();
}
function before(one, other) {
  const [a, b] = [one, other].map((row) => row.key);
  if (a === "" || b === "") return (a === "") - (b === "");  // nothing comes last in either direction
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
}
function sortBy(table, place, heading) {
  const body = table.tBodies[0];
  const was = heading.getAttribute("aria-sort");
  const isNumber = heading.classList.contains("n");
  const direction = was ? (was === "ascending" ? "descending" : "ascending") : isNumber ? "descending" : "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
  const rows = [...body.rows].map((row, number) => ({ row, number, key: sortKey(row.cells[place].textContent) }));
  const sign = direction === "ascending" ? 1 : -1;
  rows.sort((a, b) => (a.key === "" || b.key === "" ? before(a, b) : sign * before(a, b)) || a.number - b.number);
  body.append(...rows.map((one) => one.row));
}
function csvOf(table) {
  const cell = (one) => {
    const raw = one.textContent.trim().replaceAll(MINUS, "-");
    const text = /^[=@]/.test(raw) ? `'${raw}` : raw;  // spreadsheets would take it for a formula
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\r\n") + "\r\n";
}
function save(name, text) {
  const link = element("a", undefined, { download: `${name}.csv`, href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
for (const table of document.querySelectorAll(".scroll > table:not(.fixed)")) {
  [...table.tHead.rows[0].cells].forEach((heading, place) => {
    const button = element("button", heading.textContent, { type: "button", class: "sort", title: heading.title || "Sort by this column" });
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, place, heading));
  });
  const name = table.caption.textContent;
  const button = element("button", "CSV", { type: "button", class: "csv", "aria-label": `Save as CSV: ${name}`, title: "Save this table as CSV" });
  button.addEventListener("click", () => save(`${table.closest("section").id}-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`.slice(0, 60), csvOf(table)));
  table.caption.append(" ", button);
}

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
let nearest;
function mark() {
  const line = window.innerHeight / 3;
  let found;
  for (const id of links.keys()) if ($(id).getBoundingClientRect().top <= line) found = id;
  if (window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2) found = [...links.keys()].pop();
  if (found === nearest) return;
  if (nearest) links.get(nearest).removeAttribute("aria-current");
  nearest = found;
  if (!found) return;
  const link = links.get(found);
  link.setAttribute("aria-current", "true");
  const list = link.closest("ul");  // on a phone it is scrolled sideways
  list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
}
let marking = 0;
document.addEventListener("scroll", () => { marking = marking || requestAnimationFrame(() => { marking = 0; mark(); }); }, { passive: true });
mark();

