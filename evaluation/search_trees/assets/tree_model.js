// What the search did: nodes, what is known of them at a step, and a sentence for each step.

// -- numbers and names ----------------------------------------------------------------------------------------

function numberText(value) {
  if (value === null) return "?";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return String(Number(value.toPrecision(4))).replace("-", "−");
}
const vectorText = (values) => `(${values.map(numberText).join(", ")})`;
const windowText = (span) => `α ${numberText(span.low)}, β ${numberText(span.high)}`;
function knownText(span) {
  if (!span) return "";
  if (span.low === span.high) return numberText(span.low);
  const [least, most] = data.bounds.map((bound, side) => bound ?? (side ? Infinity : -Infinity));
  if (span.low <= least) return span.high >= most ? "" : `≤ ${numberText(span.high)}`;
  if (span.high >= most) return `≥ ${numberText(span.low)}`;
  return `[${numberText(span.low)}, ${numberText(span.high)}]`;
}
const listed = (names) => (names.length > 6 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", "));

// -- a search of the root -------------------------------------------------------------------------------------

// The last of dated things that is not later than a step; dates rise.
function lastBy(dated, step, date) {
  let low = 0;
  let high = dated.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (date(dated[middle]) <= step) low = middle + 1; else high = middle;
  }
  return low;
}
const spans = (rows) => rows.map(([step, low, high]) => ({ step, low: low ?? -Infinity, high: high ?? Infinity }));

class Search {
  constructor(raw) {
    this.depth = raw.depth;
    this.steps = raw.steps;
    this.outcomes = raw.outcomes;
    this.kinds = raw.kinds;
    this.best = new Set(raw.best);
    const names = raw.fields;
    this.nodes = raw.nodes.map((row, number) => {
      const node = Object.fromEntries(names.map((name, place) => [name, row[place]]));
      Object.assign(node, { number, children: [], windows: spans(node.windows), known: spans(node.known) });
      return node;
    });
    for (const node of this.nodes) {
      node.up = node.parent >= 0 ? this.nodes[node.parent] : null;
      node.level = node.up ? node.up.level + 1 : 0;
      if (node.up) node.up.children.push(node);
    }
    if (this.outcomes) this.nodes.forEach((node) => this.addUp(node));
  }
  // Sums of outcomes after each visit, so that a mean at any step is one division.
  addUp(node) {
    const sums = this.outcomes[0].map(() => 0);
    node.sums = node.visits.map((visit) => this.outcomes[visit - 1].map((value, seat) => (sums[seat] += value)));
  }
  window(node, step) { return node.windows[lastBy(node.windows, step, (one) => one.step) - 1]; }
  known(node, step) { return node.known[lastBy(node.known, step, (one) => one.step) - 1]; }
  visits(node, step) { return lastBy(node.visits || [], step, (one) => one); }
  values(node, step) {
    const found = lastBy(node.vectors || [], step, (one) => one[0]);
    return found ? node.vectors[found - 1][1] : null;
  }
  mean(node, step) {
    const visits = this.visits(node, step);
    return visits ? node.sums[visits - 1].map((sum) => sum / visits) : null;
  }
  // Those whose values stand beside a node.
  whose(node) {
    const mean = this.outcomes && this.outcomes[0].length > 1;
    return mean || node.role === "own" || this.values(node, this.steps) ? data.seats.join(", ") : data.seats[data.seat];
  }
  // What stands beside a node.
  valueText(node, step) {
    if (this.outcomes) {
      const mean = this.mean(node, step);
      return mean ? (mean.length > 1 ? vectorText(mean) : numberText(mean[0])) : "";
    }
    const values = node.role === "own" || !node.known.length ? this.values(node, step) : null;
    return values ? vectorText(values) : knownText(this.known(node, step));
  }
  path(node) {
    const moves = [];
    for (let here = node; here.up; here = here.up) moves.unshift(here.move || "·");
    return moves;
  }
  title(node) { return node.name || (node.up ? (node.up.name ? node.move : this.path(node).join(" ")) : "the root"); }
  now(step) { return step ? this.nodes[this.kinds[step - 1][1]] : null; }

  // -- sentences ----------------------------------------------------------------------------------------------

  sentence(step) {
    if (!step) return "Before the search.";
    const [kind, place] = this.kinds[step - 1];
    const node = this.nodes[place];
    const head = `${kind === "simulation" ? "Simulation" : "Step"} ${step.toLocaleString("en")} of ${this.steps.toLocaleString("en")}: `;
    return head + this[kind](node, step);
  }
  enter(node, step) {
    const span = this.window(node, step);
    const way = node.up && node.name ? ` by ${node.move}` : "";
    const probability = node.chance < 1 ? `, with probability ${numberText(node.chance)}` : "";
    return `the search ${node.up ? `comes to ${this.title(node)}${way}` : "begins at the root"}${probability}${span ? `, with ${windowText(span)}` : ""}.`;
  }
  leaf(node, step) {
    const why = { end: "where the game ends", evaluation: "by the evaluation", table: "as the transposition table knows", bounds: "as nothing else can matter" };
    return `${this.title(node)} is ${this.worth(node, step)}${why[node.source] ? ` ${why[node.source]}` : ""}${this.effect(node, step)}.`;
  }
  leave(node, step) { return `${this.title(node)} is ${this.worth(node, step)}${this.effect(node, step)}.`; }
  cut(node, step) {
    const span = this.window(node, step);
    const by = node.cut[1] ? `${node.cut[1]} is enough` : "what is known is enough";
    const because = span && node.role !== "own" && span.low > -Infinity && span.high < Infinity && node.role !== "chance"
      ? `, as α (${numberText(span.low)}) is not below β (${numberText(span.high)})` : "";
    const left = node.cut[2];
    return `${this.title(node)} is cut off: ${by}${because}. Not looked at: ${listed(left)}.`;
  }
  simulation(node, step) {
    const outcome = this.outcomes[step - 1];
    const way = this.path(node).join(" ");
    const said = outcome.length > 1 ? vectorText(outcome) : numberText(outcome[0]);
    const added = node.entered === step && node.up ? " adds that node," : "";
    return `${way ? `goes ${way},` : "stays at the root,"}${added} and brings ${said}.`;
  }
  worth(node, step) {
    const text = this.valueText(node, step);
    if (text.startsWith("≤")) return `worth at most ${text.slice(2)}`;
    if (text.startsWith("≥")) return `worth at least ${text.slice(2)}`;
    return text ? `worth ${text}` : "left";
  }
  // What changes at the parent.
  effect(node, step) {
    const up = node.up;
    if (!up) return "";
    const known = this.known(up, step);
    const span = this.window(up, step);
    const changed = known && known.step === step ? `, so ${this.title(up)} is ${this.worth(up, step)}` : "";
    const values = this.values(up, step);
    const vector = !changed && up.role === "own" && values && this.values(up, step - 1) !== values ? `, which ${this.title(up)} takes so far: ${vectorText(values)}` : "";
    return `${changed}${vector}${span && span.step === step ? `, with ${windowText(span)}` : ""}`;
  }
}
