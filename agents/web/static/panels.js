// Beside the table: chips, tricks, what was done, and what a policy thought.
import { cardWord } from "./cards.js";
import { signed } from "./cloth.js";
import { find, keep, make } from "./dom.js";
import { stepElement } from "./wording.js";

const BARS_SHOWN = 6;
const LEAST_SHOWN = 0.0005;
const CARD = /^[2-9TJQKA][CDHS]$/;

/** An action in words, its cards with suit signs. */
function actionWords(text) {
  return text.split(" ").flatMap((word) => [CARD.test(word.replace(",", "")) ? cardWord(word) : word, " "]);
}

/** Probabilities as bars, the likeliest first; `taken` is marked. */
export function showBars(box, heading, bars, taken = null) {
  const isShown = ([text, prob], place) => place < BARS_SHOWN && (prob >= LEAST_SHOWN || text === taken);
  const shown = bars.filter(isShown);
  const rest = bars.filter((bar, place) => !isShown(bar, place));
  const list = make("ol");
  const others = [`${rest.length} other${rest.length === 1 ? "" : "s"}`, rest.reduce((sum, [, prob]) => sum + prob, 0)];
  const rows = rest.length ? [...shown, others] : shown;
  for (const [text, prob] of rows) {
    const bar = make("span", { kind: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", prob.toFixed(4));
    const words = make("span", { kind: "bar-words" }, ...actionWords(text));
    list.append(make("li", { kind: text === taken ? "taken" : "" }, words, bar, make("span", { kind: "share", text: `${(100 * prob).toFixed(prob > 0 && prob < 0.0995 ? 1 : 0)} %` })));
  }
  box.replaceChildren(make("p", { text: heading }), list);
}

export function showThought(view) {
  const { thought } = view;
  find("thought-panel").hidden = !thought;
  if (!thought) return;
  const step = view.log.at(-1);
  const taken = step.does === "play" ? step.cards[0] : [step.does === "draw" ? "stay" : step.does, ...step.cards].join(" ");
  showBars(find("thought"), `${view.seats[thought.seat].name}, before the last action`, thought.bars, taken);
}

export function showPanels(view) {
  showThought(view);
  showStandings(view);
  showTricks(view);
  showLog(view);
}

function showStandings(view) {
  const table = make("table");
  const head = ["seat", "this deal", "in all"].map((text) => make("th", { text, scope: "col" }));
  table.append(make("thead", {}, make("tr", {}, ...head)));
  const body = make("tbody");
  view.seats.forEach((seat, place) => {
    const name = make("th", { scope: "row", text: seat.name });
    if (view.dealer === place) name.append(make("span", { kind: "soft", text: " (dealer)" }));
    const deal = make("td", { text: seat.chips === undefined ? "" : signed(seat.chips) });
    body.append(make("tr", {}, name, deal, make("td", { text: seat.total === undefined ? "" : signed(seat.total) })));
  });
  table.append(body);
  find("standings").replaceChildren(table);
}

function showTricks(view) {
  const tricks = [...(view.tricks ?? [])];
  if (view.trick?.length) tricks.push({ cards: view.trick, winner: null });
  if (!tricks.length) {
    find("tricks").replaceChildren(make("p", { kind: "soft", text: "None yet." }));
    return;
  }
  const list = make("ol", { kind: "trick-list" });
  for (const { cards, winner } of tricks) {
    const item = make("li");
    for (const [seat, card] of cards) {
      const kind = seat === winner ? "one best" : "one";
      item.append(make("span", { kind }, make("small", { text: view.seats[seat].name }), cardWord(card)));
    }
    if (winner !== null) item.append(make("span", { kind: "unseen", text: `won by ${view.seats[winner].name}` }));
    list.append(item);
  }
  find("tricks").replaceChildren(list);
}

function showLog(view) {
  const log = find("log");
  const steps = (view.log ?? []).map((step, number) => ({ step, number }));
  keep(log, steps, ({ number, step }) => `${view.deal ?? ""} ${number} ${step.seat} ${step.does} ${step.cards} ${view.seats[step.seat].name}`, ({ step }) => stepElement(view, step));
  log.scrollTop = log.scrollHeight;
}
