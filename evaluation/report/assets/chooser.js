// -- which game is shown ------------------------------------------------------------------------------------------

if (!data.games.length) return;
const reasons = { asked: "asking the policy", failure: "a failure", upset: "an upset", sample: "the sample" };
let shown = [];
let game = data.games.find((one) => one.actions.length > 1) || data.games[0];
let ply = 0;

const agentOf = (seat) => data.agents[game.agents[seat]];
const shortOf = (seat) => data.short[game.agents[seat]];
const last = () => game.actions.length;
const moveAt = (number) => game.moves[number - 1 - game.opening];
const nameOf = (number) => (game.names && game.names[number - 1]) || "";
const writtenOf = (action) => data.written[action] || String(action);
function actionText(number) {
  const name = nameOf(number);
  return name ? `${game.actions[number - 1]} (${name})` : game.actions[number - 1];
}
function outcome(one, names = data.agents) {
  if (one.failure) {
    const kind = one.failure.kind.replaceAll("_", " ").toLowerCase();
    return one.failure.seat === null ? kind : `${kind} by ${names[one.agents[one.failure.seat]]}`;
  }
  const winner = one.outcomes.indexOf("win");
  if (winner >= 0) return `${names[one.agents[winner]]} wins`;
  return one.outcomes.length ? "drawn" : `return ${one.rewards[0]}`;
}
function fillFilters() {
  $("agent").append(element("option", "any", { value: "" }));
  data.agents.forEach((name, number) => {
    if (data.games.some((one) => one.agents.includes(number))) $("agent").append(element("option", name, { value: number }));
  });
  $("why").append(element("option", "any reason", { value: "" }));
  for (const [reason, text] of Object.entries(reasons)) {
    if (data.games.some((one) => one.why === reason)) $("why").append(element("option", text, { value: reason }));
  }
  if (data.games.some((one) => blundersOf(one))) $("why").append(element("option", "a blunder", { value: "blunder" }));
}
const blundersOf = (one) => [...(one.marks || "")].filter((letter) => letter === "w" || letter === "d").length;
function labelOf(one) {
  const players = one.agents.map((number) => data.short[number]).join(" – ");
  const blunders = blundersOf(one);
  const parts = [outcome(one, data.short), `${count(one.plies)} moves`];
  if (blunders) parts.push(`${blunders} blunder${blunders === 1 ? "" : "s"}`);
  return `${one.id ? `${one.id}: ` : ""}${players}, ${parts.join(", ")}`;
}
function filterGames() {
  const agent = $("agent").value;
  const why = $("why").value;
  const fits = (one) => (agent === "" || one.agents.includes(Number(agent))) && (why === "" || (why === "blunder" ? blundersOf(one) > 0 : one.why === why));
  shown = data.games.filter(fits);
  $("game").replaceChildren();
  shown.forEach((one, place) => $("game").append(element("option", labelOf(one), { value: place, title: one.agents.map((number) => data.agents[number]).join(" – ") })));
  if (!shown.length) $("game").append(element("option", "no such game is shown", { value: "" }));
  $("game").disabled = !shown.length;
  if (shown.length && !shown.includes(game)) openGame(shown[0]);
  else showChoice();
}
function showChoice() {
  const place = shown.indexOf(game);
  $("game").value = place;
  $("game").title = place < 0 ? "" : game.agents.map((number) => data.agents[number]).join(" – ");
  $("previous-game").disabled = place <= 0;
  $("next-game").disabled = place < 0 || place >= shown.length - 1;
}
function otherGame(step) {
  const next = shown[shown.indexOf(game) + step];
  if (next) openGame(next);
}

