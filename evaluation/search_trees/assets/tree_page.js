// The controls: steps, folding, keys, and what is said of the node that is selected.
{
  const drawing = new Drawing($("tree"));
  window.drawing = drawing; // for tests, and for whoever looks at it in the console
  const searches = data.passes.map((raw) => new Search(raw));
  let search = null;
  let step = 0;
  let timer = null;

  // -- steps ----------------------------------------------------------------------------------------------------

  // Steps inside folded nodes are passed over.
  function isShown(number) { return drawing.places.has(search.now(number)); }
  function next(from, by) {
    let to = from + by;
    while (to > 0 && to < search.steps && !isShown(to)) to += by;
    return Math.max(0, Math.min(search.steps, to));
  }
  function show(number) {
    step = Math.max(0, Math.min(search.steps, number));
    drawing.step = step;
    $("slide").value = step;
    const now = search.now(step);
    if (now) { drawing.selected = drawing.shownFor(now); drawing.follow(now); }
    $("status").textContent = search.sentence(step);
    $("first").disabled = $("back").disabled = step === 0;
    $("last").disabled = $("forward").disabled = step === search.steps;
    if (step === search.steps) stop();
    drawing.draw();
    describe();
  }
  function play() {
    if (step === search.steps) show(0);
    $("play").textContent = "Pause";
    $("status").setAttribute("aria-live", "off");
    let due = performance.now();
    const tick = (time) => {
      const apart = 1000 / Number($("speed").value);
      let to = step;
      while (due <= time && to < search.steps) { to = next(to, 1); due += apart; }
      if (due < time) due = time;
      if (to !== step) show(to);
      if (timer !== null) timer = requestAnimationFrame(tick);
    };
    timer = requestAnimationFrame(tick);
  }
  function stop() {
    if (timer !== null) cancelAnimationFrame(timer);
    timer = null;
    $("play").textContent = "Play";
    $("status").setAttribute("aria-live", "polite");
  }
  function go(number) { stop(); show(number); }

  // -- the node that is selected --------------------------------------------------------------------------------

  function describe() {
    const node = drawing.selected;
    const list = $("node");
    list.replaceChildren();
    $("position").hidden = true;
    $("fold").hidden = !node || !node.children.length;
    if (!node) return;
    const add = (name, text) => { if (text) list.append(element("dt", name), element("dd", text)); };
    $("node-title").textContent = node.up ? `Node ${search.title(node)}` : "The root";
    add("moves", search.path(node).join(" "));
    add("decides", node.role === "chance" ? "chance" : node.seat === null ? "" : `${data.seats[node.seat]}${data.says[node.role] || ""}`);
    add("probability", node.chance < 1 ? numberText(node.chance) : "");
    if (node.entered > step) add("state", "not yet looked at");
    else {
      add(`value to ${search.whose(node)}`, search.valueText(node, step) || "not known yet");
      if (search.outcomes) add("visits", search.visits(node, step).toLocaleString("en"));
      const span = search.window(node, step);
      if (span && node.role === "own") add("elsewhere", drawing.small(node));
      else if (span) { add("α", numberText(span.low)); add("β", numberText(span.high)); }
      const from = { end: "the end of the game", evaluation: "the evaluation", table: "the transposition table", bounds: "bounds" }[node.source];
      add("value from", node.left !== null && node.left <= step ? from : "");
      add("cut off", node.cut && node.cut[0] <= step ? `${listed(node.cut[2])}${node.cut[1] ? ` (by ${node.cut[1]})` : ""}` : "");
    }
    add("depth left", node.depth === null || node.quiet ? "" : String(node.depth));
    add("search", node.quiet ? "quiescence" : node.probed ? "probed first (Star2)" : "");
    add("not drawn", node.hidden ? `${node.hidden.toLocaleString("en")} nodes below` : "");
    if (node.position >= 0 && data.positions[node.position] !== node.name) {
      $("position").textContent = data.positions[node.position];
      $("position").hidden = false;
    }
    $("fold").textContent = drawing.folded.has(node) ? "Unfold what is below" : "Fold what is below";
  }
  function select(node) {
    if (!node) return;
    drawing.selected = node;
    drawing.follow(node);
    describe();
    $("status").textContent = `${search.title(node)}: ${search.worth(node, step)}.`;
  }
  function neighbour(direction) {
    const node = drawing.selected || search.nodes[0];
    if (direction === "up") return node.up;
    if (direction === "down") return drawing.folded.has(node) ? null : node.children.find((child) => child.entered <= step);
    const row = [...drawing.places.keys()].filter((one) => one.level === node.level && one.entered <= step)
      .sort((a, b) => (drawing.sideways ? drawing.places.get(a).y - drawing.places.get(b).y : drawing.places.get(a).x - drawing.places.get(b).x));
    return row[row.indexOf(node) + (direction === "left" ? -1 : 1)];
  }
  function toggle(node) { drawing.toggle(node); describe(); }

  // -- set up ---------------------------------------------------------------------------------------------------

  function open(number) {
    stop();
    search = searches[number];
    $("slide").max = search.steps;
    drawing.resize();
    drawing.open(search);
    show(1);
  }
  function fillLegend() {
    const roles = new Set(searches.flatMap((one) => one.nodes.map((node) => node.role)));
    const signs = { max: "△", min: "▽", chance: "○", own: "○", end: "■" };
    const entry = (sign, text, colour) => {
      const item = element("li");
      const drawn = element("b", sign);
      drawn.style.color = `var(--${colour})`;
      item.append(drawn, ` ${text}`);
      $("legend").append(item);
    };
    for (const [role, text] of Object.entries(data.legend)) {
      if (roles.has(role)) entry(signs[role], text, role);
    }
    if (searches.some((one) => one.nodes.some((node) => node.cut))) entry("┄", "cut off: not looked at", "cut");
    if (searches.some((one) => one.nodes.some((node) => node.quiet))) entry("◌", "dashed outline: quiescence", "soft");
    entry("···", "folded", "soft");
  }
  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target.tagName === "SELECT" || (target.tagName === "INPUT" && event.key !== " " && !event.shiftKey)) return;
    if (target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    const sides = { left: "up", right: "down", up: "left", down: "right" };
    const arrow = event.key.startsWith("Arrow") ? event.key.slice(5).toLowerCase() : "";
    const actions = {
      ArrowRight: () => go(next(step, 1)), ArrowLeft: () => go(next(step, -1)), Home: () => go(0), End: () => go(search.steps),
      " ": () => (timer === null ? play() : stop()), "+": () => drawing.zoom(1.25), "=": () => drawing.zoom(1.25), "-": () => drawing.zoom(0.8),
      0: () => drawing.fit(), t: () => drawing.turn(), "[": () => fold(-1), "]": () => fold(1), Enter: () => drawing.selected && toggle(drawing.selected),
      ArrowUp: () => select(neighbour("up")), ArrowDown: () => select(neighbour("down")),
    };
    const action = arrow && event.shiftKey ? () => select(neighbour(drawing.sideways ? sides[arrow] : arrow)) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
  function fold(by) {
    drawing.foldTo(drawing.level + by);
    drawing.selected = drawing.shownFor(drawing.selected || search.nodes[0]);
    drawing.fit(READABLE);
    drawing.follow(drawing.selected);
    describe();
  }
  function pointers() {
    const canvas = $("tree");
    const down = new Map();
    let moved = 0;
    const place = (event) => { const box = canvas.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); down.set(event.pointerId, place(event)); moved = down.size > 1 ? 99 : 0; });
    canvas.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (down.size === 2) {
        const other = [...down].find(([id]) => id !== event.pointerId)[1];
        const apart = (one) => Math.max(20, Math.hypot(one.x - other.x, one.y - other.y));
        drawing.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else drawing.move(now.x - before.x, now.y - before.y);
      down.set(event.pointerId, now);
    });
    const up = (event) => {
      if (down.delete(event.pointerId) && moved < 6 && event.type === "pointerup") {
        const { x, y } = place(event);
        const found = drawing.at(x, y);
        if (found) { drawing.selected = found; drawing.draw(); describe(); }
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("dblclick", (event) => { const { x, y } = place(event); const found = drawing.at(x, y); if (found) toggle(found); });
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); const { x, y } = place(event); drawing.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y); }, { passive: false });
  }

  $("no-script").hidden = true;
  $("viewer").hidden = false;
  searches.forEach((one, number) => { const option = element("option", one.depth === null ? "to the end" : String(one.depth)); option.value = number; $("iteration").append(option); });
  $("iterations").hidden = searches.length < 2;
  $("iteration").value = data.shown;
  $("iteration").addEventListener("change", () => open(Number($("iteration").value)));
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(next(step, -1)));
  $("forward").addEventListener("click", () => go(next(step, 1)));
  $("last").addEventListener("click", () => go(search.steps));
  $("play").addEventListener("click", () => (timer === null ? play() : stop()));
  $("slide").addEventListener("input", () => go(Number($("slide").value)));
  $("shallower").addEventListener("click", () => fold(-1));
  $("deeper").addEventListener("click", () => fold(1));
  $("in").addEventListener("click", () => drawing.zoom(1.25));
  $("out").addEventListener("click", () => drawing.zoom(0.8));
  $("turn").addEventListener("click", () => drawing.turn());
  $("fit").addEventListener("click", () => drawing.fit());
  $("fold").addEventListener("click", () => drawing.selected && toggle(drawing.selected));
  document.addEventListener("keydown", keys);
  window.addEventListener("resize", () => drawing.resize());
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawing.readColours(); drawing.draw(); });
  pointers();
  fillLegend();
  open(data.shown);
}
