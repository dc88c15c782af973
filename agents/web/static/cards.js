// Playing cards: their names, and their faces as drawings.
import { draw, make } from "./dom.js";

const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
const SIGNS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten", 9: "nine", 8: "eight", 7: "seven", 6: "six",
  5: "five", 4: "four", 3: "three", 2: "two" };
export const HIDDEN = "--";
const CROWNS = {
  K: "M37 46V32l6.5 6L50 28l6.5 10 6.5-6V46Z",
  Q: "M38 46 35 34l7 4 3-8 5 7 5-7 3 8 7-4-3 12Z",
  J: "M38 46q-1-12 12-12 9 0 11-6 5 9-3 13 5 0 4 5Z",
};
const RANK_ORDER = "23456789TJQKA";

const [LEFT, MIDDLE, RIGHT] = [35, 50, 65];
const CORNERS = [[LEFT, 32], [RIGHT, 32], [LEFT, 108], [RIGHT, 108]];
const SIDES = [[LEFT, 70], [RIGHT, 70]];
const RUNGS = [32, 57, 83, 108].flatMap((y) => [[LEFT, y], [RIGHT, y]]);
const PIPS = {
  2: [[MIDDLE, 32], [MIDDLE, 108]],
  3: [[MIDDLE, 32], [MIDDLE, 70], [MIDDLE, 108]],
  4: CORNERS,
  5: [...CORNERS, [MIDDLE, 70]],
  6: [...CORNERS, ...SIDES],
  7: [...CORNERS, ...SIDES, [MIDDLE, 51]],
  8: [...CORNERS, ...SIDES, [MIDDLE, 51], [MIDDLE, 89]],
  9: [...RUNGS, [MIDDLE, 70]],
  T: [...RUNGS, [MIDDLE, 44], [MIDDLE, 96]],
};

export const suitOf = (card) => card.slice(-1);
export const suitName = (suit) => SUITS[suit] ?? suit;
const rankText = (card) => (card[0] === "T" ? "10" : card[0]);

/** "queen of spades". */
export function cardName(card) {
  return card === HIDDEN ? "a hidden card" : `${RANKS[card[0]]} of ${SUITS[suitOf(card)]}`;
}

/** "Q♠", coloured, with the full name for those who listen. */
export function cardWord(card) {
  const red = "DH".includes(suitOf(card)) ? "card-word red" : "card-word";
  const word = make("span", { kind: red, "aria-hidden": "true", text: rankText(card) + SIGNS[suitOf(card)] });
  return make("span", {}, word, make("span", { kind: "unseen", text: cardName(card) }));
}

/** Cards as people hold them: trumps first, then suit by suit, high cards first. */
export function sorted(cards, trumps) {
  const others = ["S", "H", "C", "D"].filter((suit) => suit !== trumps);
  const place = (card) => [trumps, ...others].indexOf(suitOf(card));
  return [...cards].sort((a, b) => place(a) - place(b) || RANK_ORDER.indexOf(b[0]) - RANK_ORDER.indexOf(a[0]));
}

/** The drawing of a card; small ones show rank and suit alone. */
export function face(card, { small = false } = {}) {
  if (card === HIDDEN) return back();
  const kind = `face ${"DH".includes(suitOf(card)) ? "red" : "black"}${small ? " small" : ""}`;
  const drawing = draw("svg", { viewBox: "0 0 100 140", class: kind, "aria-hidden": "true", focusable: "false" });
  drawing.append(draw("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 9 }));
  drawing.append(...(small ? smallFace(card) : largeFace(card)));
  return drawing;
}

function smallFace(card) {
  return [letters(rankText(card), 50, 66, 72), suit(card, 50, 103, 52)];
}

function largeFace(card) {
  const corner = [letters(rankText(card), 13, 24, rankText(card) === "10" ? 19 : 23), suit(card, 13, 35, 14)];
  const turned = draw("g", { transform: "rotate(180 50 70)" }, ...corner.map((part) => part.cloneNode(true)));
  return [...corner, turned, ...figure(card)];
}

function figure(card) {
  if (card[0] === "A") return [suit(card, 50, 70, 46)];
  if (!(card[0] in PIPS)) return court(card);
  return PIPS[card[0]].map(([x, y]) => suit(card, x, y, 19, y > 70));
}

function court(card) {
  const frame = draw("rect", { class: "frame", x: 26, y: 16, width: 48, height: 108, rx: 4 });
  const lozenge = draw("path", { class: "lozenge", d: "M50 20 72 70 50 120 28 70Z" });
  const crowns = [draw("path", { class: "crown", d: CROWNS[card[0]] }),
    draw("path", { class: "crown", d: CROWNS[card[0]], transform: "rotate(180 50 70)" })];
  return [frame, lozenge, ...crowns, letters(card[0], 50, 84, 42)];
}

function letters(text, x, y, size) {
  const made = draw("text", { x, y, "font-size": size, "text-anchor": "middle" });
  made.textContent = text;
  return made;
}

function suit(card, x, y, size, turned = false) {
  const place = { href: `#suit-${suitOf(card)}`, x: x - size / 2, y: y - size / 2, width: size, height: size };
  return draw("use", turned ? { ...place, transform: `rotate(180 ${x} ${y})` } : place);
}

function back() {
  const drawing = draw("svg", { viewBox: "0 0 100 140", class: "face back", "aria-hidden": "true", focusable: "false" });
  drawing.append(
    draw("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 9 }),
    draw("rect", { class: "weave", x: 8, y: 8, width: 84, height: 124, rx: 5 }),
    draw("path", { class: "lattice", d: lattice() }),
  );
  return drawing;
}

function lattice() {
  const lines = [];
  for (let shift = -120; shift < 100; shift += 14) lines.push(`M${Math.max(8, shift + 8)} ${Math.max(8, -shift + 8)}`
    + `L${Math.min(92, shift + 132)} ${Math.min(132, 92 - shift)}`);
  return lines.join("");
}
