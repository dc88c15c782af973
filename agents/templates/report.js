"use strict";
// Steps through the deals of the page. Without it the hand records below can be read.
const SUITS = { C: "♣", D: "♦", H: "♥", S: "♠" };

function element(name, text, parent, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  parent.append(made);
  return made;
}

function showCards(cell, text) {
  cell.textContent = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const [seat, card] = word.includes(":") ? word.split(":") : ["", word];
    if (seat) element("small", `${seat}: `, cell, "soft");
    const suit = card.slice(-1);
    const rank = card.slice(0, -1).replace("T", "10");
    element("span", `${rank}${SUITS[suit] || suit}`, cell, "DH".includes(suit) ? "red" : "");
    cell.append("\u2002");
  }
}

function wholeFrames(frames) {
  const whole = [];
  for (const changes of frames) whole.push({ ...whole.at(-1), ...changes });
  return whole;
}

function makeTable(deal, parent) {
  const table = element("table", "", element("div", "", parent, "scroll"));
  const heading = element("tr", "", element("thead", "", table));
  for (const word of ["seat", "cards", "declared", "tricks", "chips"]) element("th", word, heading).scope = "col";
  const body = element("tbody", "", table);
  return deal.names.map((name, seat) => {
    const row = element("tr", "", body);
    element("th", `${seat} ${name}${seat === deal.dealer ? " (dealer)" : ""}`, row).scope = "row";
    const cells = ["cards", "word", "", ""].map((kind) => element("td", "", row, kind));
    return { row, cells };
  });
}

function stepThrough(box, deal) {
  const frames = wholeFrames(deal.frames);
  const say = element("p", "", box, "say");
  say.setAttribute("aria-live", "polite");
  const buttons = element("div", "", box, "buttons");
  const rows = makeTable(deal, box);
  const below = element("p", "", box);
  const trick = element("span", "", below, "trick");
  const pot = element("p", "", box, "soft");
  let now = 0;

  function show(step) {
    now = Math.max(0, Math.min(frames.length - 1, step));
    const frame = frames[now];
    say.textContent = `${now} of ${frames.length - 1}: ${frame.say}`;
    rows.forEach(({ row, cells }, seat) => {
      row.className = frame.turn === String(seat) ? "turn" : "";
      showCards(cells[0], frame[`h${seat}`]);
      ["d", "w", "c"].forEach((key, place) => { cells[place + 1].textContent = frame[key + seat]; });
    });
    showCards(trick, frame.trick);
    if (!frame.trick) trick.textContent = "no card on the table";
    pot.textContent = `trumps ${SUITS[deal.trumps]}, turn-up ${deal.turnUp}, pot ${frame.pot}`;
    back.disabled = first.disabled = now === 0;
    next.disabled = last.disabled = now === frames.length - 1;
  }

  function button(text, label, step) {
    const made = element("button", text, buttons);
    made.type = "button";
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => show(step()));
    return made;
  }

  const first = button("⏮", "first step", () => 0);
  const back = button("◀", "step back", () => now - 1);
  const next = button("▶", "next step", () => now + 1);
  const last = button("⏭", "last step", () => frames.length);
  element("small", "or the arrow keys", buttons, "soft");
  const keys = { ArrowLeft: () => now - 1, ArrowRight: () => now + 1, Home: () => 0, End: () => frames.length };
  box.closest("details").addEventListener("keydown", (event) => {
    if (!(event.key in keys)) return;
    event.preventDefault();
    show(keys[event.key]());
  });
  show(0);
}

const data = document.getElementById("deals");
const deals = data ? JSON.parse(data.textContent) : [];
for (const box of document.querySelectorAll("[data-deal]")) {
  box.closest("details").addEventListener("toggle", () => {
    if (box.hidden) {
      box.hidden = false;
      stepThrough(box, deals[Number(box.dataset.deal)]);
    }
  });
}
