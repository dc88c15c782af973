// The page: what arrives from the server is shown, what the person does is sent.
import { showCloth } from "./cloth.js";
import { Connection } from "./connection.js";
import { find, make } from "./dom.js";
import { Hand } from "./hand.js";
import { showBars, showPanels } from "./panels.js";
import { Replay, showPace, showSpeed, togglePace } from "./transport.js";
import { prompt, result, stepSentence } from "./wording.js";

const token = location.hash.slice(1);
let welcome = null; // what the server said of this link
let table = null; // its last message about the table
let replay = null; // the deal looked at again, if any
let connection = null;
let spoken = { deal: 0, step: 0, phase: "" };

const send = (message) => connection.send(message);
const hand = new Hand(send);

function hear(message) {
  const heard = { welcome: hearWelcome, table: hearTable, refused: hearRefused, hint: hearHint, past: hearPast };
  heard[message.type]?.(message);
}

function hearWelcome(message) {
  welcome = message;
  find("doorway").hidden = true;
  find("side").hidden = false;
  find("seat-options").hidden = message.seat === null;
  document.body.classList.toggle("watching", message.seat === null);
  find("table").hidden = !message.table;
  if (!message.table && !replay) find("heading").textContent = "Recorded deals: choose one";
  drawPast();
}

function hearTable(message) {
  const isSame = table && message.past === table.past;
  table = message;
  if (!isSame) drawPast();
  if (!replay) showLive();
  speak();
}

function hearRefused(message) {
  if (!welcome || message.do === "join") {
    find("doorway").hidden = false;
    find("table").hidden = find("side").hidden = true;
    find("doorway-reason").textContent = `${message.reason[0].toUpperCase()}${message.reason.slice(1)}.`;
    return;
  }
  find("refusal").textContent = `Refused: ${message.reason}.`;
  if (find("mine").hidden) find("spoken").textContent = `Refused: ${message.reason}`;
}

function hearHint(message) {
  if (!table || message.step !== table.view.step) return;
  find("hint").hidden = false;
  showBars(find("hint"), `${message.policy} would`, message.bars);
}

function hearPast(message) {
  replay?.stop();
  replay = new Replay(message, (view) => showView(view, null), table ? leaveReplay : null);
  find("table").hidden = false;
  find("cloth").scrollIntoView({ block: "nearest" });
  find("transport").querySelector("[data-role=play]").focus({ preventScroll: true });
}

function leaveReplay() {
  replay.stop();
  replay = null;
  find("transport").replaceChildren();
  delete find("transport").dataset.key;
  showLive();
}

function showLive() {
  showView(table.view, table);
  const mayConduct = welcome.seat === null && !welcome.people;
  showPace(table, mayConduct, send);
  if (welcome.seat !== null) showSpeed(table, send);
}

function showView(view, live) {
  const size = `${view.seats.length} seats`;
  const deals = view.deals ? `Deal ${view.deal} of ${view.deals}` : `Deal ${view.deal}`;
  find("heading").textContent = view.isPast ? (view.deal ? `Deal ${view.deal} again, ${size}` : `A recorded deal, ${size}`) : view.deal ? `${deals}, ${size}` : size;
  document.body.classList.toggle("looking-back", Boolean(view.isPast));
  showCloth(view, live?.here ?? null);
  find("mine").hidden = view.you === null;
  if (view.you !== null) {
    hand.show(view, { isReady: live?.ready[view.you] ?? false, hints: live?.hints ?? false, isLive: Boolean(live) });
  }
  find("fault").textContent = live?.fault ? `A policy failed: ${live.fault}` : "";
  document.title = live && view.turn === view.you && view.turn !== null ? "Your turn – Bourré" : "Bourré";
  showPanels(view);
}

/** Tell those who listen what is new. */
function speak() {
  const { view } = table;
  const said = [];
  const first = view.deal === spoken.deal ? spoken.step : 0;
  for (const step of (view.log ?? []).slice(first)) said.push(stepSentence(view, step));
  if (view.phase === "settled" && spoken.phase !== "settled") said.push(`${result(view).join(". ")}.`);
  if (view.you !== null && view.turn === view.you) said.push(prompt(view, 0, false));
  spoken = { deal: view.deal, step: (view.log ?? []).length, phase: view.phase };
  if (said.length && !replay) find("spoken").textContent = said.join(" ");
}

function drawPast() {
  const parts = [];
  if (table?.past) {
    const select = make("select", { "aria-label": "Deal that is over" });
    for (let deal = table.past; deal >= 1; deal -= 1) select.append(make("option", { value: deal, text: `Deal ${deal}` }));
    const open = make("button", { type: "button", text: "Step through it" });
    open.addEventListener("click", () => send({ do: "past", deal: Number(select.value) }));
    parts.push(make("div", { kind: "row" }, select, open));
  }
  (welcome?.replays ?? []).forEach((one, number) => parts.push(replayList(one, number)));
  find("past-panel").hidden = !parts.length;
  find("past").replaceChildren(...parts);
}

function replayList(one, number) {
  const list = make("ol", { kind: "replays" });
  one.notes.forEach((note, deal) => {
    const open = make("button", { type: "button", kind: "quiet", text: note });
    open.addEventListener("click", () => send({ do: "replay", number, deal }));
    list.append(make("li", {}, open));
  });
  const details = make("details", { open: number === 0 }, make("summary", { text: one.title }), list);
  return details;
}

function askName() {
  find("new-name").value = table.view.seats[welcome.seat].name;
  find("rename").returnValue = "";
  find("rename").showModal();
}

find("change-name").addEventListener("click", askName);
find("rename").addEventListener("close", () => {
  if (find("rename").returnValue === "save") send({ do: "name", name: find("new-name").value });
});
find("open-help").addEventListener("click", () => find("help").showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const at = event.target;
  const isField = at.matches("input, select, textarea, summary") || at.id === "log";
  const isButton = at.matches("button") && [" ", "Enter"].includes(event.key);
  if (isField || isButton || !table && !replay) return;
  const isMeant = replay ? replay.press(event.key)
    : welcome.seat !== null ? hand.press(event.key)
    : event.key === " " && !welcome.people && (togglePace(table, send), true);
  if (isMeant) event.preventDefault();
});

// --- light or dark: as the system says, until somebody chooses

const stored = { get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
  set: (theme) => { try { localStorage.setItem("theme", theme); } catch { /* private windows keep nothing */ } } };
if (stored.get()) document.documentElement.dataset.theme = stored.get();
find("theme").addEventListener("click", () => {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  stored.set(document.documentElement.dataset.theme);
});

window.addEventListener("hashchange", () => location.reload());
if (token) connection = new Connection(token, { hear, tell: (text) => { find("link-state").textContent = text; } });
else find("doorway").hidden = false;
