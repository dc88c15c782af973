"use strict";
// Steps through the deals of the page. Without it the hand records below can be read.
const SUITS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const SUIT_NAMES = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
const RANK_NAMES = { T: "10", J: "jack", Q: "queen", K: "king", A: "ace" };
const CARD = /^[2-9TJQKA][CDHS]$/;
const HIDDEN = "--";
const FEW = 6; // alternatives shown at once

function element(name, text, parent, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  parent.append(made);
  return made;
}

// A region that a narrow window makes scroll, and the keyboard can reach.
function scrolling(parent) {
  const made = element("div", "", parent, "scroll");
  made.tabIndex = 0;
  return made;
}

function spoken(card) {
  return `${RANK_NAMES[card[0]] || card[0]} of ${SUIT_NAMES[card[1]]}`;
}

function showCard(parent, card) {
  const made = element("span", card === HIDDEN ? "░" : card[0].replace("T", "10") + SUITS[card[1]], parent, "card");
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", card === HIDDEN ? "hidden card" : spoken(card));
  if (card === HIDDEN) made.classList.add("back");
  else if ("DH".includes(card[1])) made.classList.add("red");
}

// Words, with every card among them drawn; "2:QS" is the queen of spades from seat 2.
function showText(cell, text) {
  cell.textContent = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const [, seat, card, end] = word.match(/^(?:(\d):)?(.*?)([.:,]*)$/);
    if (seat) element("small", `${seat}\u202f`, cell, "soft");
    if (card === HIDDEN || CARD.test(card)) showCard(cell, card);
    else cell.append(card);
    cell.append(`${end} `);
  }
}

function wholeFrames(frames) {
  const whole = [];
  for (const changes of frames) whole.push({ ...whole.at(-1), ...changes });
  return whole;
}

function headings(table, words) {
  const heading = element("tr", "", element("thead", "", table));
  for (const word of words) element("th", word, heading).scope = "col";
  return element("tbody", "", table);
}

function makeTable(deal, parent) {
  const table = element("table", "", scrolling(parent));
  const body = headings(table, ["seat", "cards", "declared", "tricks", "chips"]);
  return deal.names.map((name, seat) => {
    const row = element("tr", "", body);
    element("th", `${seat} ${name}${seat === deal.dealer ? " (dealer)" : ""}`, row).scope = "row";
    const cells = ["cards", "", "", ""].map((kind) => element("td", "", row, kind));
    return { row, cells };
  });
}

// Who played what in the tricks finished by now, and who won them.
function tricksUntil(frames, seats, now) {
  const tricks = [];
  for (let step = 1; step <= now; step += 1) {
    const winner = seats.find((seat) => frames[step][`w${seat}`] !== frames[step - 1][`w${seat}`]);
    if (winner !== undefined) tricks.push(`${frames[step].trick}: won by ${winner}`);
  }
  return tricks;
}

function showAlternatives(box, judged, chose) {
  box.textContent = "";
  if (!judged) return;
  const noise = judged.mistake ? "" : " (no more than noise)";
  const says = judged.loss ? `loss ${judged.loss}${noise}` : "there was nothing better";
  element("p", `${chose} was worth ${judged.worth || "?"} antes; ${says}`, box, judged.mistake ? "bad" : "");
  const isOpen = judged.rows.some((row) => row[3]);
  const words = ["action", "worth", "loss", ...(isOpen ? ["open"] : [])];
  const shown = judged.rows.filter((row, place) => place < FEW || row[4]);
  fillAlternatives(headings(element("table", "", scrolling(box)), words), shown, isOpen);
  const rest = judged.rows.filter((row) => !shown.includes(row));
  if (rest.length) {
    const more = element("details", "", box);
    element("summary", `${rest.length} worse ones`, more);
    fillAlternatives(headings(element("table", "", scrolling(more)), words), rest, isOpen);
  }
  if (judged.line) showText(element("p", "", box), `Best line, all cards open: ${judged.line}`);
}

function fillAlternatives(body, rows, isOpen) {
  for (const [action, worth, loss, open, taken] of rows) {
    const row = element("tr", "", body, taken ? "turn" : "");
    const name = element("th", "", row, "cards");
    name.scope = "row";
    showText(name, action);
    if (taken) element("small", "taken", name, "soft");
    for (const value of [worth, loss, ...(isOpen ? [open] : [])]) element("td", value, row);
  }
}

function stepThrough(box, deal) {
  const frames = wholeFrames(deal.frames);
  const judged = [null, ...(deal.judged || [])];
  const seats = deal.names.map((name, seat) => seat);
  const say = element("p", "", box, "say");
  say.setAttribute("aria-live", "polite");
  const buttons = element("div", "", box, "buttons");
  const rows = makeTable(deal, box);
  const trick = element("p", "", box, "trick");
  const pot = element("p", "", box, "soft");
  const values = element("div", "", box, "values");
  const history = element("ol", "", box, "history");
  let now = 0;

  function show(step) {
    now = Math.max(0, Math.min(frames.length - 1, step));
    const frame = frames[now];
    showText(say, `${now} of ${frames.length - 1}: ${frame.say}`);
    rows.forEach(({ row, cells }, seat) => {
      row.className = frame.turn === String(seat) ? "turn" : "";
      showText(cells[0], frame[`h${seat}`]);
      ["d", "w", "c"].forEach((key, place) => { cells[place + 1].textContent = frame[key + seat]; });
    });
    showText(trick, frame.trick ? `On the table: ${frame.trick}` : "no card on the table");
    showText(pot, `trumps ${SUITS[deal.trumps]} ${SUIT_NAMES[deal.trumps]}, turn-up ${deal.turnUp}, pot ${frame.pot}`);
    showAlternatives(values, judged[now], now ? `Seat ${frames[now - 1].turn}'s choice` : "");
    history.textContent = "";
    for (const text of tricksUntil(frames, seats, now)) showText(element("li", "", history), text);
    slider.value = String(now);
    slider.setAttribute("aria-valuetext", say.textContent);
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

  const first = button("|◀", "first step", () => 0);
  const back = button("◀", "step back", () => now - 1);
  const next = button("▶", "next step", () => now + 1);
  const last = button("▶|", "last step", () => frames.length);
  const slider = element("input", "", buttons);
  Object.assign(slider, { type: "range", min: 0, max: frames.length - 1, step: 1 });
  slider.setAttribute("aria-label", "step");
  slider.addEventListener("input", () => show(Number(slider.value)));
  element("small", "or the arrow keys", buttons, "soft");
  judged.forEach((choice, step) => {
    if (choice && choice.mistake) {
      button(`−${choice.loss.split("±")[0]}`, `mistake at step ${step}, loss ${choice.loss} antes`, () => step);
    }
  });
  const keys = { ArrowLeft: () => now - 1, ArrowRight: () => now + 1, Home: () => 0, End: () => frames.length };
  box.closest("details").addEventListener("keydown", (event) => {
    const { scrollWidth, clientWidth, tabIndex } = event.target;
    const scrolls = tabIndex === 0 && scrollWidth > clientWidth && event.target.matches(".scroll, pre");
    if (scrolls || !(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(keys[event.key]());
  });
  show(0);
}

const data = document.getElementById("deals");
const deals = data ? JSON.parse(data.textContent) : [];
for (const box of document.querySelectorAll("[data-deal]")) {
  const open = () => {
    if (!box.hidden || !box.closest("details").open) return;
    box.hidden = false;
    stepThrough(box, deals[Number(box.dataset.deal)]);
  };
  box.closest("details").addEventListener("toggle", open);
  open();
}
// A page about deals alone: keys that go nowhere else are for the deal that is open first.
if (document.body.dataset.keys) {
  document.addEventListener("keydown", (event) => {
    const deal = document.querySelector("details.deal[open]");
    if (event.target !== document.body || !deal) return;
    const copy = new KeyboardEvent("keydown", { ...keyOf(event), cancelable: true });
    deal.dispatchEvent(copy);
    if (copy.defaultPrevented) event.preventDefault();
  });
}

function keyOf({ key, altKey, ctrlKey, metaKey }) {
  return { key, altKey, ctrlKey, metaKey };
}
