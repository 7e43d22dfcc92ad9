// The board as it is clicked: a picture on a canvas, and a button over each square, point or column.

const NAMES = { bar0: "bar", bar1: "bar", off0: "borne off", off1: "borne off" };

export class Surface {
  // choose(name) is called with the spot that a person has chosen.
  constructor(frame, choose) {
    this.frame = frame;
    this.canvas = frame.querySelector("canvas");
    this.overlay = frame.querySelector("#spots");
    this.names = frame.querySelector("#names");
    this.choose = choose;
    this.spots = [];
    this.buttons = new Map();
    this.turned = false;
    this.image = null;
    this.dragged = false;
    this.overlay.addEventListener("keydown", (event) => this.key(event));
    this.overlay.addEventListener("pointerdown", (event) => this.grab(event));
  }

  set(surface) {
    this.surface = surface;
    this.spots = surface ? surface.spots : [];
    this.overlay.replaceChildren();
    this.buttons.clear();
    for (const spot of this.spots) {
      const button = document.createElement("button");
      button.type = "button";
      button.tabIndex = -1;
      button.dataset.name = spot.name;
      button.setAttribute("aria-label", NAMES[spot.name] || spot.name);
      button.addEventListener("click", () => {
        if (this.dragged) { this.dragged = false; return; }
        this.choose(spot.name);
      });
      this.buttons.set(spot.name, button);
      this.overlay.append(button);
    }
    if (this.spots.length) this.buttons.get(this.spots[0].name).tabIndex = 0;
    this.place();
  }

  // Where a spot is shown, as parts of the picture.
  at(spot) {
    const { width, height } = this.canvas;
    const x = this.turned ? width - spot.x : spot.x;
    const y = this.turned ? height - spot.y : spot.y;
    return { left: (x - spot.width / 2) / width, top: (y - spot.height / 2) / height, width: spot.width / width, height: spot.height / height };
  }

  place() {
    if (!this.image) return;
    for (const spot of this.spots) {
      const style = this.buttons.get(spot.name).style;
      for (const [side, part] of Object.entries(this.at(spot))) style[side] = `${100 * part}%`;
    }
    this.names.replaceChildren();
    const named = this.surface && this.surface.columns.length > 0;
    this.frame.classList.toggle("named", Boolean(named));
    this.frame.classList.toggle("rows", Boolean(named && this.surface.rows.length));
    if (!named) return;
    const last = this.surface.rows.length ? this.surface.rows[this.surface.rows.length - 1] : "";
    const label = (kind, text, side, part) => {
      const made = document.createElement("span");
      made.className = kind;
      made.textContent = text;
      made.style[side] = `${100 * part}%`;
      this.names.append(made);
    };
    for (const column of this.surface.columns) {
      const spot = this.at(this.spots.find((one) => one.name === column + last));
      label("column", column, "left", spot.left + spot.width / 2);
    }
    for (const row of this.surface.rows) {
      const spot = this.at(this.spots.find((one) => one.name === this.surface.columns[0] + row));
      label("row", row, "top", spot.top + spot.height / 2);
    }
  }

  draw(image, turned) {
    this.image = image;
    this.turned = Boolean(turned && this.surface && this.surface.turns);
    this.canvas.width = image.width;
    this.canvas.height = image.height;
    const pen = this.canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0);
    if (this.turned) {
      for (const spot of this.spots) {
        const [w, h] = [spot.width, spot.height];
        pen.drawImage(image, spot.x - w / 2, spot.y - h / 2, w, h, image.width - spot.x - w / 2, image.height - spot.y - h / 2, w, h);
      }
    }
    this.place();
  }

  // Classes of spots, each with the names that have it: free, held (can be dragged), chosen, target, hinted, last.
  mark(classes) {
    for (const [name, button] of this.buttons) {
      for (const [kind, names] of Object.entries(classes)) button.classList.toggle(kind, names.has(name));
      button.setAttribute("aria-pressed", String(classes.chosen.has(name)));
    }
  }

  // What stands on each square is told with its name, as far as the board's text says it.
  name(text) {
    const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
    const letters = lines.find((words) => words.length > 1 && words.every((word) => /^[A-Za-z]$/.test(word)) && this.buttons.has(words[0] + "1"));
    for (const [row, ...marks] of letters ? lines : []) {
      if (!/^\d+$/.test(row) || marks.length !== letters.length) continue;
      marks.forEach((mark, place) => {
        const button = this.buttons.get(letters[place] + row);
        if (button) button.setAttribute("aria-label", `${letters[place]}${row}, ${mark === "." ? "empty" : mark}`);
      });
    }
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const from = event.target.closest("button");
    if (!step || !from) return;
    event.preventDefault();
    event.stopPropagation();
    const here = this.at(this.spots.find((spot) => spot.name === from.dataset.name));
    const middle = (place) => [place.left + place.width / 2, place.top + place.height / 2];
    const [x, y] = middle(here);
    let best = null;
    let least = Infinity;
    for (const spot of this.spots) {
      const [a, b] = middle(this.at(spot));
      const along = (a - x) * step[0] + (b - y) * step[1];
      const aside = Math.abs((a - x) * step[1]) + Math.abs((b - y) * step[0]);
      if (along > 1e-6 && along + 3 * aside < least) { least = along + 3 * aside; best = spot; }
    }
    if (!best) return;
    from.tabIndex = -1;
    const button = this.buttons.get(best.name);
    button.tabIndex = 0;
    button.focus();
  }

  // Dragging: the piece is cut out of the picture, without the colour of its square.
  grab(event) {
    const from = event.target.closest("button");
    if (!from || event.button !== 0 || !from.classList.contains("held")) return;
    const name = from.dataset.name;
    const start = [event.clientX, event.clientY];
    let ghost = null;
    const move = (moved) => {
      if (!ghost && Math.hypot(moved.clientX - start[0], moved.clientY - start[1]) > 7) {
        ghost = this.cut(name, event);
        document.body.append(ghost);
        this.choose(name, true);
      }
      if (ghost) {
        ghost.style.left = `${moved.clientX}px`;
        ghost.style.top = `${moved.clientY}px`;
      }
    };
    const stop = (ended) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
      window.removeEventListener("pointercancel", stop);
      if (!ghost) return;
      ghost.remove();
      this.dragged = true;
      setTimeout(() => { this.dragged = false; }, 0);
      if (ended.type === "pointercancel") return;
      const under = document.elementFromPoint(ended.clientX, ended.clientY);
      const to = under && under.closest ? under.closest("#spots button") : null;
      if (to && to.dataset.name !== name) this.choose(to.dataset.name);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
    window.addEventListener("pointercancel", stop);
  }

  cut(name, event) {
    const spot = this.spots.find((one) => one.name === name);
    const place = this.at(spot);
    const size = Math.min(spot.width, spot.height);
    const scale = this.canvas.clientWidth / this.canvas.width;
    const box = this.overlay.getBoundingClientRect();
    // Of a tall spot, such as a point of backgammon, only what is under the finger.
    const middle = [(place.left + place.width / 2) * this.canvas.width, (place.top + place.height / 2) * this.canvas.height];
    if (spot.height > 1.5 * size) middle[1] = ((event.clientY - box.top) / box.height) * this.canvas.height;
    const ghost = document.createElement("canvas");
    ghost.className = "ghost";
    ghost.width = ghost.height = Math.round(size);
    ghost.style.width = ghost.style.height = `${size * scale}px`;
    const pen = ghost.getContext("2d");
    pen.drawImage(this.canvas, middle[0] - size / 2, middle[1] - size / 2, size, size, 0, 0, ghost.width, ghost.height);
    const piece = pen.getImageData(0, 0, ghost.width, ghost.height);
    const [r, g, b] = piece.data.slice(4 * (2 * ghost.width + 2));
    for (let k = 0; k < piece.data.length; k += 4) {
      const far = Math.abs(piece.data[k] - r) + Math.abs(piece.data[k + 1] - g) + Math.abs(piece.data[k + 2] - b);
      if (far < 24) piece.data[k + 3] = 0;
    }
    pen.putImageData(piece, 0, 0);
    return ghost;
  }
}
