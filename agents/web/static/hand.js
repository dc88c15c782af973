// The hand of whoever sits here: playing a card, throwing cards away, passing.
import { HIDDEN, cardName, face, sorted } from "./cards.js";
import { find, keep, make } from "./dom.js";
import { prompt } from "./wording.js";

export class Hand {
  /** `send` takes messages; `isReady` tells whether this seat waits for the others. */
  constructor(send) {
    this.send = send;
    this.marked = new Set();
    this.view = null;
    this.isReady = false;
    this.hints = false;
    this.isLive = true;
  }

  show(view, { isReady, hints, isLive }) {
    const isNew = !this.view || this.view.deal !== view.deal || this.view.step !== view.step;
    this.view = view;
    Object.assign(this, { isReady, hints, isLive });
    if (isNew) {
      find("refusal").textContent = "";
      find("hint").hidden = true;
    }
    const held = view.seats[view.you].cards ?? [];
    this.marked = new Set([...this.marked].filter((card) => held.includes(card) && this.mayThrow()));
    this.draw();
  }

  get isMyTurn() {
    return this.isLive && this.view.turn === this.view.you;
  }

  mayThrow() {
    return this.isMyTurn && this.view.legal.some((choice) => choice.text.startsWith("stay "));
  }

  isLegal(card) {
    return this.view.legal.some((choice) => choice.text === card);
  }

  /** The legal action that throws away exactly the marked cards. */
  stay() {
    const wanted = [...this.marked].sort().join(" ");
    return this.view.legal.find(({ text }) => {
      const [word, ...cards] = text.split(" ");
      return word === "stay" && cards.sort().join(" ") === wanted;
    });
  }

  draw() {
    const { view } = this;
    find("mine").classList.toggle("turn", this.isMyTurn);
    find("prompt").textContent = this.isLive ? prompt(view, this.marked.size, this.isReady) : "";
    const cards = view.seats[view.you].cards ?? [];
    const order = cards.includes(HIDDEN) ? cards : sorted(cards, view.trumps);
    const isPlay = view.phase === "play" && this.isMyTurn;
    keep(find("hand"), order, (card) => (card === HIDDEN ? `${order.indexOf(card)} hidden` : card), () => make("li"), (item, card) => {
      this.drawCard(item, card, isPlay);
    });
    this.drawActions();
  }

  drawCard(item, card, isPlay) {
    let button = item.firstElementChild;
    if (!button) {
      button = make("button", { type: "button", kind: "held" }, face(card));
      if (card !== HIDDEN) button.addEventListener("click", () => this.choose(card));
      item.append(button);
    }
    const isMarked = this.marked.has(card);
    const isLegal = isPlay && this.isLegal(card);
    item.classList.toggle("legal", isLegal);
    item.classList.toggle("barred", isPlay && !isLegal);
    item.classList.toggle("thrown", isMarked);
    const state = isMarked ? ", to be thrown away" : isPlay ? (isLegal ? ", may be played" : ", may not be played") : "";
    button.setAttribute("aria-label", cardName(card) + state);
    if (this.mayThrow()) button.setAttribute("aria-pressed", String(isMarked));
    else button.removeAttribute("aria-pressed");
  }

  choose(card) {
    if (this.mayThrow()) {
      if (!this.marked.delete(card)) this.marked.add(card);
      this.draw();
    } else if (this.isLive && this.view.phase === "play") {
      this.act(this.view.legal.find((choice) => choice.text === card)?.id ?? card);
    }
  }

  act(action) {
    this.send({ do: "act", action, deal: this.view.deal, step: this.view.step ?? 0 });
  }

  /** The buttons under the hand, each with what it does. */
  buttons() {
    const { view } = this;
    if (!this.isLive) return [];
    if (["waiting", "settled"].includes(view.phase)) {
      if (view.over || this.isReady) return [];
      const text = view.phase === "waiting" ? "Deal the cards" : "Next deal";
      return [{ key: "deal", text, main: true, run: () => this.send({ do: "deal" }) }];
    }
    if (!this.isMyTurn) return [];
    const hint = this.hints ? [{ key: "hint", text: "Hint", run: () => this.send({ do: "hint" }) }] : [];
    if (view.phase === "play") return hint;
    const pass = view.legal.find((choice) => choice.text === "pass");
    const stay = this.stay();
    const drawn = this.marked.size ? `${this.marked.size} new` : "keep all";
    const text = view.phase === "draw" ? (this.marked.size ? `Draw ${this.marked.size}` : "Keep all") : this.mayThrow() ? `Stay, ${drawn}` : "Stay";
    return [
      { key: "pass", text: "Pass", isOff: !pass, run: () => this.act(pass.id) },
      { key: "stay", text, main: true, isOff: !stay, run: () => this.act(stay.id) },
      ...hint,
    ].filter((button) => !(button.key === "pass" && view.phase === "draw"));
  }

  drawActions() {
    const create = ({ main }) => make("button", { type: "button", kind: main ? "main-action" : "" });
    keep(find("actions"), this.buttons(), ({ key }) => key, create, (element, { text, isOff, run }) => {
      element.textContent = text;
      element.disabled = Boolean(isOff);
      element.onclick = run;
    });
  }

  /** A key that was pressed; true when it meant something. */
  press(key) {
    const button = { Enter: ["stay", "deal"], p: ["pass"], h: ["hint"] }[key];
    if (button) {
      const found = this.buttons().find((shown) => button.includes(shown.key) && !shown.isOff);
      found?.run();
      return Boolean(found);
    }
    const cards = [...find("hand").querySelectorAll("button")];
    if (key in { ArrowLeft: 1, ArrowRight: 1 } && cards.length && this.isLive) {
      const now = cards.indexOf(document.activeElement);
      const next = now < 0 ? 0 : (now + (key === "ArrowRight" ? 1 : cards.length - 1)) % cards.length;
      cards[next].focus();
      return true;
    }
    const number = Number(key);
    if (number >= 1 && number <= cards.length) cards[number - 1].click();
    return number >= 1 && number <= cards.length;
  }
}
