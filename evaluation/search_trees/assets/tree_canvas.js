// The drawing: laid out as the figures are (svg.py), drawn on a canvas, moved and zoomed.
const SIZE = 11;
const LEVEL = 78; // between levels, where the tree hangs down
const ASIDE = 230; // and where it lies on its side
const ROW = 32;
const FEW = 4;
const AT_FIRST = 120; // nodes that are not folded when a search is opened
const VALUE_FONT = "600 13px system-ui, sans-serif";
const SMALL_FONT = "10px system-ui, sans-serif";
const FREE = 90; // left free above and below a tree, so that following a node moves nothing
const READABLE = 0.6; // the scale from which texts can be read
const WHOLE = 0.45; // the smallest scale at which a tree is first shown as a whole; larger ones are followed from the root

// Children side by side, a parent centred above them: subtrees are pushed together until their outlines touch
// (Reingold and Tilford, 1981), those of different parents a little further apart. Sets the distance x of each place
// from its parent, and returns the outline, level by level.
function pushTogether(place, apart) {
  const outline = [];
  for (const child of place.children) {
    const below = pushTogether(child, apart);
    child.x = 0;
    for (let k = 0; k < Math.min(outline.length, below.length); k++) {
      child.x = Math.max(child.x, outline[k][1] - below[k][0] + (k ? apart : 0));
    }
    below.forEach(([left, right], k) => { outline[k] = [outline[k] ? outline[k][0] : child.x + left, child.x + right]; });
  }
  const last = place.children.length - 1;
  const middle = last < 0 ? 0 : (place.children[0].x + place.children[last].x) / 2;
  for (const child of place.children) child.x -= middle;
  return [[-place.half, place.half], ...outline.map(([left, right]) => [left - middle, right - middle])];
}

class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.view = { x: 0, y: 0, k: 1 };
    this.step = 0;
    this.selected = null;
    this.waiting = false;
    this.readColours();
  }
  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = {};
    for (const name of ["card", "ink", "soft", "line", "accent", "max", "min", "chance", "end", "cut", "now", "best", "seat0", "seat1", "seat2", "seat3"]) {
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  // -- which nodes there are, and where -------------------------------------------------------------------------

  open(search) {
    this.search = search;
    this.folded = new Set();
    const perLevel = [];
    for (const node of search.nodes) perLevel[node.level] = (perLevel[node.level] || 0) + 1;
    let shown = 0;
    let level = 0;
    while (level < perLevel.length && (shown += perLevel[level]) <= AT_FIRST) level++;
    this.sideways = false;
    this.foldTo(level < perLevel.length ? Math.max(level - 1, 1) : Infinity);
    if (this.whole() < READABLE) this.turn();
    this.selected = search.nodes[0];
    this.fit(WHOLE);
  }
  foldTo(level) {
    const deepest = this.search.nodes.reduce((most, node) => Math.max(most, node.level), 0);
    this.level = Math.max(0, Math.min(level, deepest));
    this.folded = new Set(this.search.nodes.filter((node) => node.level >= this.level && node.children.length));
    this.layOut();
  }
  toggle(node) {
    if (!node.children.length) return;
    const before = this.places.get(node);
    if (!this.folded.delete(node)) this.folded.add(node);
    this.layOut();
    const after = this.places.get(node);
    if (before && after) { this.view.x += (before.x - after.x) * this.view.k; this.view.y += (before.y - after.y) * this.view.k; }
    this.draw();
  }
  // Large trees are easier to read where they lie on their side.
  turn() {
    this.sideways = !this.sideways;
    this.layOut();
    this.fit(READABLE);
  }
  // Nodes and, where something is cut off, folded or left out, stubs.
  below(item) {
    const node = item.node;
    if (!node) return [];
    if (this.folded.has(node)) return [];
    const items = node.children.map((child) => ({ node: child }));
    if (node.cut) {
      const left = node.cut[2];
      const texts = left.length <= FEW ? left : [`${left.length} more`];
      items.push(...texts.map((text) => ({ cut: node.cut[0], text })));
    }
    if (node.hidden) items.push({ text: `+${node.hidden.toLocaleString("en")}` });
    return items;
  }
  width(item) {
    if (!item.node) return item.text.length * 6 + 14;
    const node = item.node;
    const value = this.search.valueText(node, Infinity).length * 7;
    const span = node.role === "end" ? 0 : (node.windows.length ? windowText(node.windows[node.windows.length - 1]).length : this.search.outcomes ? 10 : 0) * 5.6;
    return Math.max(2 * SIZE + 8 + 2 * Math.max(value, span) * (node.role === "end" ? 0.5 : 1), this.edgeText(node).length * 6) + 8;
  }
  layOut() {
    const root = { data: { node: this.search.nodes[0] }, parent: null, x: 0, level: 0 };
    this.all = [root];
    for (const place of this.all) { // grows as it is gone through
      place.width = this.width(place.data);
      place.half = this.sideways ? ROW / 2 : place.width / 2;
      place.children = this.below(place.data).map((data) => ({ data, parent: place, level: place.level + 1 }));
      this.all.push(...place.children);
    }
    pushTogether(root, this.sideways ? ROW / 4 : 8);
    for (const place of this.all) {
      place.x += place.parent ? place.parent.x : 0;
      place.y = place.level * (this.sideways ? ASIDE : LEVEL);
    }
    if (this.sideways) for (const place of this.all) [place.x, place.y] = [place.y, place.x];
    this.places = new Map(this.all.filter((place) => place.data.node).map((place) => [place.data.node, place]));
    this.fill();
    this.box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const place of this.all) {
      this.box.left = Math.min(this.box.left, place.x - (this.sideways ? SIZE : place.width / 2));
      this.box.right = Math.max(this.box.right, place.x + (this.sideways ? ASIDE / 2 : place.width / 2));
      this.box.top = Math.min(this.box.top, place.y - SIZE);
      this.box.bottom = Math.max(this.box.bottom, place.y + 3 * SIZE);
    }
    this.draw();
  }
  // Small trees are drawn apart until they fill the canvas.
  fill() {
    if (!this.size || this.sideways) return;
    const most = (key) => this.all.reduce((far, place) => Math.max(far, Math.abs(place[key])), 1);
    const half = most("x") + ASIDE / 4;
    const across = Math.max(1, Math.min(2, this.size.width / 2 / half));
    const scale = Math.min(1.6, this.size.width / 2 / half / across);
    if (scale < READABLE) return;
    const down = Math.max(1, Math.min(4, (this.size.height / scale - FREE - 4 * SIZE) / most("y")));
    for (const place of this.all) [place.x, place.y] = [place.x * across, place.y * down];
  }
  // The node itself, or the folded one that it is in.
  shownFor(node) {
    let here = node;
    while (here && !this.places.has(here)) here = here.up;
    return here;
  }

  // -- moving ---------------------------------------------------------------------------------------------------

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.size = { width: box.width, height: box.height };
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ratio = ratio;
    this.draw();
  }
  // The whole tree; or its root, where the tree would be smaller than a scale.
  fit(least = 0.02) {
    if (!this.size || !this.box) return;
    const { left, right, top, bottom } = this.box;
    const whole = this.whole();
    const k = whole < least ? 0.9 : whole;
    const x = k === whole ? (left + right) / 2 : 0;
    const y = k === whole ? (top + bottom) / 2 : 0;
    this.view = { k, x: this.size.width / 2 - k * x, y: this.size.height / 2 - k * y };
    if (this.sideways && k !== whole) this.view.x = 40;
    if (!this.sideways) this.view.y = k * (2 * SIZE + 12);
    this.draw();
  }
  // The scale at which the whole tree can be seen.
  whole() {
    const { left, right, top, bottom } = this.box;
    return Math.min(1.6, this.size.width / (right - left + 40), this.size.height / (bottom - top + FREE));
  }
  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const k = Math.max(0.02, Math.min(4, this.view.k * factor));
    const by = k / this.view.k;
    this.view = { k, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by };
    this.draw();
  }
  move(dx, dy) { this.view.x += dx; this.view.y += dy; this.draw(); }
  // Brings a node into view, if it is outside.
  follow(node) {
    const place = this.places.get(this.shownFor(node));
    if (!place) return;
    const x = this.view.x + place.x * this.view.k;
    const y = this.view.y + place.y * this.view.k;
    const edge = 60;
    const after = this.sideways ? Math.min(140, this.size.width / 3) : edge; // room for its texts
    if (x < (this.sideways ? 2 * SIZE : edge) || x > this.size.width - after) this.view.x += this.size.width / 2 - x;
    if (y < SIZE * this.view.k || y > this.size.height - edge) this.view.y += this.size.height * 0.55 - y;
    this.draw();
  }
  at(x, y) {
    const tx = (x - this.view.x) / this.view.k;
    const ty = (y - this.view.y) / this.view.k;
    const reach = Math.max(SIZE + 4, 16 / this.view.k);
    let best = null;
    let nearest = reach * reach;
    for (const place of this.places.values()) {
      const distance = (place.x - tx) ** 2 + (place.y - ty) ** 2;
      if (distance < nearest && place.data.node.entered <= this.step) { nearest = distance; best = place.data.node; }
    }
    return best;
  }

  // -- drawing --------------------------------------------------------------------------------------------------

  draw() {
    if (this.waiting || !this.size) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  paint() {
    const { pen, view, size, ratio, colours } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    pen.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y);
    const margin = 120;
    const left = -view.x / view.k - margin;
    const right = (size.width - view.x) / view.k + margin;
    const top = -view.y / view.k - margin;
    const bottom = (size.height - view.y) / view.k + margin;
    const active = this.search.now(this.step);
    this.current = active ? this.shownFor(active) : null;
    this.onPath = new Set();
    for (let node = active; node; node = node.up) this.onPath.add(node);
    const seen = this.all.filter((place) => {
      const from = place.parent || place;
      return Math.max(place.x, from.x) >= left && Math.min(place.x, from.x) <= right
        && Math.max(place.y, from.y) >= top && Math.min(place.y, from.y) <= bottom;
    });
    this.paintEdges(seen);
    pen.lineJoin = "round";
    const here = seen.filter((place) => place.x >= left && place.x <= right && place.y >= top && place.y <= bottom);
    for (const place of here) if (place.data.node) this.paintNode(place);
    if (view.k >= 0.5) for (const place of here) this.paintTexts(place);
  }
  // Where an edge begins and ends.
  ends(place) {
    const from = place.parent;
    if (!this.sideways) return [from.x, from.y + SIZE, place.x, place.y - SIZE];
    const width = this.view.k >= 0.5 ? this.textWidth(from) : 0;
    return [from.x + SIZE + (width ? width + 12 : 2), from.y, place.x - SIZE - 2, place.y];
  }
  // How wide the texts beside a node are.
  textWidth(place) {
    const node = place.data.node;
    if (place.step !== this.step) {
      place.step = this.step;
      this.pen.font = VALUE_FONT;
      const value = this.pen.measureText(this.search.valueText(node, this.step)).width;
      this.pen.font = SMALL_FONT;
      place.text = Math.max(value, this.pen.measureText(this.small(node)).width);
    }
    return place.text;
  }
  state(item) {
    if (item.node) return item.node.entered <= this.step ? "there" : "later";
    return item.cut === undefined || item.cut <= this.step ? "there" : "later";
  }
  paintEdges(places) {
    const { pen, colours } = this;
    const kinds = { later: [], plain: [], cut: [], best: [], path: [] };
    const done = this.step >= this.search.steps;
    for (const place of places) {
      if (!place.parent) continue;
      const item = place.data;
      let kind = this.state(item) === "later" ? "later" : item.node ? "plain" : "cut";
      if (kind === "plain" && this.onPath.has(item.node) && !done) kind = "path";
      else if (kind === "plain" && done && this.search.best.has(item.node.number)) kind = "best";
      kinds[kind].push(place);
    }
    const styles = { later: [colours.line, 1.5, 1], plain: [colours.soft, 1, 0.8], cut: [colours.cut, 1, 0.9], best: [colours.best, 3, 1], path: [colours.now, 4, 1] };
    for (const [kind, list] of Object.entries(kinds)) {
      if (!list.length) continue;
      [pen.strokeStyle, pen.lineWidth, pen.globalAlpha] = styles[kind];
      pen.setLineDash(kind === "cut" ? [4, 4] : []);
      pen.beginPath();
      for (const place of list) {
        const [x, y, toX, toY] = this.ends(place);
        pen.moveTo(x, y);
        if (this.sideways) pen.bezierCurveTo((x + toX) / 2, y, (x + toX) / 2, toY, toX, toY);
        else pen.lineTo(toX, toY);
      }
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.cut;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const place of kinds.cut) if (place.data.cut) this.cross(place);
    pen.stroke();
  }
  cross(place) {
    const { pen } = this;
    const [fromX, fromY, toX, toY] = this.ends(place);
    const dx = toX - fromX;
    const dy = toY - fromY;
    const length = Math.hypot(dx, dy) || 1;
    const [ax, ay] = [(-dy / length) * 5, (dx / length) * 5];
    for (const shift of [-2.5, 2.5]) {
      const x = fromX + dx * 0.5 + (dx / length) * shift;
      const y = fromY + dy * 0.5 + (dy / length) * shift;
      pen.moveTo(x - ax, y - ay);
      pen.lineTo(x + ax, y + ay);
    }
  }
  colour(node) {
    if (node.role === "own" && node.seat !== null) return this.colours[`seat${node.seat % 4}`];
    return this.colours[node.role] || this.colours.end;
  }
  shape(node, x, y) {
    const { pen } = this;
    pen.beginPath();
    if (node.role === "max" || node.role === "min") {
      const up = node.role === "max" ? -SIZE : SIZE;
      pen.moveTo(x, y + up);
      pen.lineTo(x + SIZE, y - up);
      pen.lineTo(x - SIZE, y - up);
      pen.closePath();
    } else if (node.role === "end") pen.rect(x - 5, y - SIZE, 10, 10);
    else pen.arc(x, y, SIZE, 0, 2 * Math.PI);
  }
  paintNode(place) {
    const { pen, colours, view } = this;
    const node = place.data.node;
    if (node.entered > this.step) {
      pen.fillStyle = colours.line;
      pen.fillRect(place.x - 4, place.y - 4, 8, 8);
      return;
    }
    if (view.k < 0.15) {
      pen.fillStyle = this.colour(node);
      pen.fillRect(place.x - SIZE, place.y - SIZE, 2 * SIZE, 2 * SIZE);
    } else {
      this.shape(node, place.x, place.y);
      pen.fillStyle = node.role === "end" ? colours.end : colours.card;
      pen.fill();
      pen.strokeStyle = this.colour(node);
      pen.lineWidth = 2;
      if (node.quiet) pen.setLineDash([3, 2]);
      pen.stroke();
      pen.setLineDash([]);
      if (this.folded.has(node)) {
        pen.fillStyle = this.colour(node);
        const x = this.sideways ? place.x + SIZE + 20 + this.textWidth(place) : place.x;
        for (const dx of [-6, 0, 6]) pen.fillRect(x + dx - 1.5, this.sideways ? place.y - 1 : place.y + SIZE + 4, 3, 3);
      }
    }
    if (node === this.current || node === this.selected) {
      pen.beginPath();
      if (node.role === "end") pen.arc(place.x, place.y - 6, SIZE, 0, 2 * Math.PI);
      else pen.arc(place.x, place.y, SIZE + 6, 0, 2 * Math.PI);
      pen.strokeStyle = node === this.current ? colours.now : colours.accent;
      pen.lineWidth = node === this.current ? 4 : 2;
      pen.stroke();
    }
  }
  edgeText(node) {
    if (node.chance === 1) return node.move;
    const probability = String(Number(node.chance.toPrecision(3)));
    return !node.move || node.move === probability ? probability : `${node.move}: ${probability}`;
  }
  paintTexts(place) {
    const { pen, colours } = this;
    const item = place.data;
    if (this.state(item) === "later") return;
    const node = item.node;
    const label = node ? (node.up ? this.edgeText(node) : "") : item.text;
    if (label) {
      const [fromX, fromY, toX, toY] = this.ends(place);
      let [x, y] = [fromX + (toX - fromX) * 0.72, fromY + (toY - fromY) * 0.72 + 4];
      if (this.sideways) [x, y] = [toX - 6, toY + 4];
      else if (!node) [x, y] = [toX, toY + 12];
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = !this.sideways ? "center" : node ? "right" : "left";
      pen.lineWidth = 4;
      pen.strokeStyle = colours.card;
      pen.strokeText(label, x, y);
      pen.fillStyle = node ? colours.soft : item.cut ? colours.cut : colours.soft;
      pen.fillText(label, x, y);
    }
    if (!node) return;
    this.paintValue(place, node);
  }
  paintValue(place, node) {
    const { pen, colours } = this;
    const isEnd = node.role === "end" && !this.sideways;
    const value = this.search.valueText(node, this.step);
    pen.textAlign = isEnd ? "center" : "left";
    pen.font = VALUE_FONT;
    pen.fillStyle = colours.ink;
    const x = isEnd ? place.x : place.x + SIZE + 8;
    if (value) pen.fillText(value, x, place.y + (isEnd ? SIZE + 5 : 0));
    const small = this.small(node);
    pen.font = SMALL_FONT;
    pen.fillStyle = colours.soft;
    if (small) pen.fillText(small, x, place.y + (isEnd ? SIZE + 17 : 12));
    if (node.role !== "end" && (node.name || node.role === "own")) {
      pen.textAlign = "center";
      pen.fillStyle = colours.ink;
      pen.fillText(node.name || String.fromCharCode(65 + (node.seat % 26)), place.x, place.y + (node.role === "max" ? 7 : node.role === "min" ? 0 : 4));
    }
  }
  small(node) {
    if (this.search.outcomes) return `${this.search.visits(node, this.step).toLocaleString("en")}×`;
    if (node.source === "table" || node.source === "evaluation") return node.source;
    const span = node.role === "end" ? null : this.search.window(node, this.step);
    if (!span || (span.low === -Infinity && span.high === Infinity)) return "";
    if (node.role !== "own") return windowText(span);
    return node.up && node.up.seat !== null ? `${data.seats[node.up.seat]} has ${numberText(span.low)}` : "";
  }
}
