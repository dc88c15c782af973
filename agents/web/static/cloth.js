// The cloth: seats around it, the trick, the pot and the turn-up in its middle.
import { HIDDEN, cardName, face, sorted, suitName } from "./cards.js";
import { find, keep, make } from "./dom.js";
import { result, standing } from "./wording.js";

/** Where a seat lies, as shares of the cloth; the one at the bottom is `bottom`, the others clockwise. */
function place(seat, bottom, size) {
  const angle = (2 * Math.PI * ((seat - bottom + size) % size)) / size;
  const x = -Math.sin(angle);
  const y = Math.cos(angle);
  return { x: Math.sign(x) * Math.abs(x) ** 0.72, y: Math.sign(y) * Math.abs(y) ** 0.9 };
}

function put(element, { x, y }) {
  element.style.setProperty("--x", x.toFixed(4));
  element.style.setProperty("--y", y.toFixed(4));
}

/** Show a view; `here` tells which people are connected, null where nobody asks. */
export function showCloth(view, here) {
  const size = view.seats.length;
  const bottom = view.you ?? 0;
  find("cloth").dataset.size = size;
  find("cloth").dataset.open = String(view.seats.some((seat) => (seat.cards ?? []).some((card) => card !== HIDDEN)
    && view.you === null));
  showSeats(view, bottom, here);
  showTrick(view, bottom);
  showMiddle(view);
}

function showSeats(view, bottom, here) {
  const order = view.seats.map((_, step) => (bottom + step) % view.seats.length);
  keep(find("seats"), order, (seat) => seat, () => make("li", { kind: "seat" }), (element, seat) => {
    put(element, place(seat, bottom, view.seats.length));
    element.classList.toggle("turn", view.turn === seat);
    element.classList.toggle("out", Boolean(view.seats[seat].passed));
    element.classList.toggle("mine-seat", view.you === seat);
    element.classList.toggle("bourre", Boolean(view.seats[seat].bourre));
    element.classList.toggle("winner", Boolean(view.seats[seat].takes) && view.phase === "settled");
    element.replaceChildren(...seatParts(view, seat, here));
  });
}

function seatParts(view, seat, here) {
  const shown = view.seats[seat];
  const parts = [];
  if (seat !== view.you && shown.cards?.length) parts.push(fan(view, seat));
  const name = make("span", { kind: "name", text: shown.name });
  if (seat === view.you) name.append(make("span", { kind: "unseen", text: " (you)" }));
  const hasStack = shown.stack !== null && shown.stack !== undefined;
  const chips = make("span", { kind: shown.total < 0 && !hasStack ? "chips minus" : "chips", text: hasStack ? String(shown.stack) : signed(shown.total) });
  const low = make("span", { kind: "standing", text: stateOf(view, seat, here) });
  const plate = make("div", { kind: "plate" }, make("span", { kind: "top" }, name, chips), low, pips(shown.tricks ?? 0));
  if (view.dealer === seat) plate.append(make("abbr", { kind: "dealer", title: "dealer", text: "D" }));
  parts.push(plate);
  return parts;
}

/** What a seat has done, or is about to do. */
function stateOf(view, seat, here) {
  const shown = view.seats[seat];
  const told = standing(view, seat);
  if (told) return told;
  if (view.turn === seat) return seat === view.you ? "your turn" : shown.person ? "to act" : "thinks";
  if (shown.person && here && !here[seat]) return "away";
  return shown.exempt ? "no ante" : "";
}

function fan(view, seat) {
  const cards = view.seats[seat].cards;
  const turnUp = view.turnUp?.held && seat === view.dealer ? view.turnUp.card : null;
  const open = sorted(cards.filter((card) => card !== HIDDEN), view.trumps);
  const hidden = cards.filter((card) => card === HIDDEN);
  const shown = [...hidden, ...open];
  if (!open.length && turnUp && hidden.length) shown.splice(-1, 1, turnUp);
  const named = shown.filter((card) => card !== HIDDEN).map(cardName);
  const label = named.length ? named.join(", ") + (hidden.length && !open.length ? " and hidden cards" : "") : `${shown.length} hidden cards`;
  return make("div", { kind: "fan", role: "img", "aria-label": label }, ...shown.map((card) => face(card, { small: true })));
}

function pips(tricks) {
  const row = make("span", { kind: "won", role: "img", "aria-label": `${tricks} ${tricks === 1 ? "trick" : "tricks"} won` });
  for (let trick = 0; trick < tricks; trick += 1) row.append(make("i"));
  return row;
}

/** The trick on the table; one that is over stays until the next card is led. */
function showTrick(view, bottom) {
  const last = view.tricks?.at(-1);
  const isOver = !view.trick?.length && last !== undefined && view.phase !== "waiting";
  const cards = isOver ? last.cards : view.trick ?? [];
  const number = (view.tricks?.length ?? 0) - (isOver ? 1 : 0);
  find("trick").classList.toggle("over", isOver);
  keep(find("trick"), cards, ([seat, card]) => `${number} ${seat} ${card}`, ([seat, card]) => {
    const label = make("span", { kind: "unseen", text: `${view.seats[seat].name}: ${cardName(card)}` });
    return make("li", { kind: "played" }, face(card), label);
  }, (element, [seat]) => {
    put(element, place(seat, bottom, view.seats.length));
    element.classList.toggle("best", isOver && seat === last.winner);
  });
}

function showMiddle(view) {
  const hasCards = view.phase !== "waiting";
  const turnUp = find("trumps");
  const key = hasCards ? `${view.trumps} ${view.turnUp.card}` : "";
  if (turnUp.dataset.key !== key) {
    turnUp.dataset.key = key;
    turnUp.replaceChildren();
    if (hasCards) {
      const words = make("span", { kind: "trump-words" }, "trumps", make("strong", { text: suitName(view.trumps) }));
      turnUp.append(face(view.turnUp.card, { small: true }), words, make("span", { kind: "unseen", text: `, turned up: ${cardName(view.turnUp.card)}` }));
    }
  }
  const chips = view.phase === "settled" ? view.carry : view.pot;
  find("pot").hidden = !hasCards;
  find("pot").replaceChildren(
    make("span", { kind: "coins", "aria-hidden": "true" }),
    make("span", { kind: "pot-words" }, view.phase === "settled" ? "next pot" : "pot", make("strong", { text: String(chips ?? 0) })),
  );
  showResult(view);
}

function showResult(view) {
  const box = find("result");
  box.hidden = view.phase !== "settled";
  find("middle").hidden = !box.hidden;
  if (box.hidden) return;
  const lines = result(view).map((line, place) => make(place ? "span" : "strong", { text: line }));
  box.replaceChildren(...lines);
}

export const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0");
