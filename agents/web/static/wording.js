// What happened, in words.
import { cardName, cardWord, suitName } from "./cards.js";
import { make } from "./dom.js";

const who = (view, seat) => (seat === view.you ? "You" : view.seats[seat].name);
const verb = (view, seat, word) => (seat === view.you ? word : word === "pass" ? "passes" : `${word}s`);
const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0]);
const many = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** A step of the log as pieces: strings and card texts. */
function pieces(view, step) {
  const name = who(view, step.seat);
  const say = (word) => verb(view, step.seat, word);
  if (step.does === "pass") return [`${name} ${say("pass")}`];
  if (step.does === "forfeit") return [`${name} ${say("forfeit")} the deal`];
  if (step.does === "play") {
    const won = step.winner === null ? [] : [` – ${who(view, step.winner)} ${verb(view, step.winner, "win")} the trick`];
    return [`${name} ${say("play")} `, { card: step.cards[0] }, ...won];
  }
  if (!step.new) return [`${name} ${step.does === "draw" ? `${say("keep")} all cards` : say("stay")}`];
  const thrown = step.cards.flatMap((card) => [" ", { card }]);
  const drawn = step.drawn.flatMap((card) => [" ", { card }]);
  const open = step.turnUp ? [", the turn-up among those thrown away"] : [];
  const shown = thrown.length ? [":", ...thrown, " for", ...drawn] : open;
  const does = step.does === "draw" ? `${say("draw")} ${step.new}` : `${say("stay")}, ${step.new} new`;
  return [`${name} ${does}`, ...shown];
}

/** A step as an element. */
export function stepElement(view, step) {
  const parts = pieces(view, step).map((piece) => (typeof piece === "string" ? piece : cardWord(piece.card)));
  return make("li", { kind: step.winner === null ? "" : "wins" }, ...parts);
}

/** A step as a sentence for those who listen. */
export function stepSentence(view, step) {
  return `${pieces(view, step).map((piece) => (typeof piece === "string" ? piece : cardName(piece.card))).join("")}.`;
}

/** How a deal ended, one sentence for each seat that won or owes. */
export function result(view) {
  const lines = [];
  view.seats.forEach((seat, place) => {
    const name = who(view, place);
    if (seat.takes) lines.push(`${name} ${verb(view, place, "take")} ${many(seat.takes, "chip")}`);
  });
  for (const owes of new Set(view.seats.filter((seat) => seat.bourre).map((seat) => seat.owes))) {
    const places = view.seats.flatMap((seat, place) => (seat.bourre && seat.owes === owes ? [place] : []));
    const are = places.length > 1 || places[0] === view.you ? "are" : "is";
    lines.push(`${listed(places.map((place) => who(view, place)))} ${are} bourré, owing ${owes}${places.length > 1 ? " each" : ""}`);
  }
  if (!view.seats.some((seat) => seat.takes)) lines.unshift("Nobody is paid");
  if (view.carry && view.over) lines.push(`The ${many(view.carry, "chip")} left belong to all seats in equal shares`);
  else if (view.carry) lines.push(`${many(view.carry, "chip")} ${view.carry === 1 ? "lies" : "lie"} in the next pot`);
  return lines;
}

/** What the seat's owner should know now. */
export function prompt(view, marked, isWaiting) {
  if (view.phase === "waiting") return isWaiting ? "Waiting for the others to sit down …" : "Sit down: the deal begins when all who are here are ready.";
  if (view.phase === "settled") {
    if (view.over) return "The session is over.";
    return isWaiting ? "Waiting for the others …" : "Deal on when you are ready.";
  }
  if (view.turn !== view.you) return `${view.seats[view.turn].name} ${view.seats[view.turn].person ? "is to act" : "thinks"} …`;
  const trumps = `${suitName(view.trumps)} are trumps`;
  if (view.phase === "play") return view.trick.length ? "Your turn: play a raised card." : "Your lead: play a raised card.";
  if (view.phase === "draw") return `Draw: click the cards to throw away (${trumps}).`;
  if (!view.legal.some((choice) => choice.text.startsWith("stay "))) return `Stay or pass? ${trumps}.`;
  return marked ? `Throw ${marked} away and stay?` : `Pass, or stay; first click the cards to throw away (${trumps}).`;
}

/** What a seat has done, in a few letters. */
export function standing(view, place) {
  const seat = view.seats[place];
  if (seat.bourre) return `bourré −${seat.owes}`;
  if (view.phase === "settled" && seat.takes) return `takes ${seat.takes}`;
  if (seat.passed) return "passed";
  if (seat.stayed) return seat.new ? `stays, ${seat.new} new` : "stays";
  return "";
}
