// Stepping through a deal that is over, and the pace of one that policies play.
import { draw, find, make } from "./dom.js";

const SPEEDS = [[3, "slow"], [1.5, "easy"], [0.8, "steady"], [0.35, "brisk"], [0.1, "fast"], [0, "at once"]];

const ICONS = {
  first: "M5 4h3v16H5zM20 4v16L9 12z",
  back: "M18 4v16L6 12z",
  play: "M7 4v16l12-8z",
  stop: "M6 4h4v16H6zM14 4h4v16h-4z",
  on: "M6 4v16l10-8zM17 4h3v16h-3z",
  last: "M4 4v16l7-8zM11 4v16l7-8zM18 4h3v16h-3z",
};

function button(role, icon, label, run, isOff = false) {
  const made = make("button", { type: "button", "aria-label": label, title: label, "data-role": role });
  const path = ICONS[icon];
  made.append(path ? draw("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, draw("path", { d: path })) : icon);
  made.disabled = isOff;
  made.addEventListener("click", run);
  return made;
}

/** Fill the box anew; what had the focus has it again. */
function refill(box, ...children) {
  const role = box.contains(document.activeElement) ? document.activeElement.dataset.role : null;
  box.replaceChildren(...children);
  if (role) box.querySelector(`[data-role="${role}"]:not(:disabled)`)?.focus({ preventScroll: true });
}

function speedChoice(now, choose, mayRush = false) {
  const select = make("select", { "aria-label": "Speed", "data-role": "speed" });
  const nearest = SPEEDS.reduce((best, one) => (Math.abs(one[0] - now) < Math.abs(best[0] - now) ? one : best));
  for (const [seconds, text] of SPEEDS.slice(0, mayRush ? undefined : -1)) select.append(make("option", { value: seconds, text, selected: seconds === nearest[0] }));
  select.addEventListener("change", () => choose(Number(select.value)));
  return make("label", { kind: "speed" }, "speed ", select);
}

/** A deal that is over, step by step. */
export class Replay {
  /** `past` is the server's message, `show` draws a view, `leave` goes back to the table (null where there is none). */
  constructor(past, show, leave) {
    Object.assign(this, { past, show, leave, place: 0, timer: null, seconds: 0.8 });
    this.go(0);
  }

  get view() {
    const view = this.past.views[this.place];
    view.seats.forEach((seat, place) => Object.assign(seat, { name: this.past.names[place], total: seat.chips }));
    return Object.assign(view, { you: this.past.you, legal: [], over: false, deal: this.past.deal ?? 0, isPast: true });
  }

  go(place) {
    this.place = Math.max(0, Math.min(this.past.views.length - 1, place));
    if (this.place === this.past.views.length - 1) this.stop();
    this.draw();
    this.show(this.view);
  }

  play() {
    if (this.place === this.past.views.length - 1) this.place = 0;
    this.timer = setInterval(() => this.go(this.place + 1), 1000 * this.seconds);
    this.draw();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }

  toggle() {
    if (this.timer) this.stop();
    else this.play();
    this.draw();
  }

  setSpeed(seconds) {
    this.seconds = seconds;
    if (this.timer) {
      this.stop();
      this.play();
    }
  }

  /** A key that was pressed; true when it meant something. */
  press(key) {
    const places = { ArrowLeft: this.place - 1, ArrowRight: this.place + 1, Home: 0, End: this.past.views.length };
    if (key in places) {
      this.stop();
      this.go(places[key]);
    } else if (key === " ") this.toggle();
    return key in places || key === " ";
  }

  draw() {
    const box = find("transport");
    const last = this.past.views.length - 1;
    const slider = make("input", { type: "range", min: 0, max: last, value: this.place, "aria-label": "Step", "data-role": "slider" });
    slider.addEventListener("input", () => { this.stop(); this.go(Number(slider.value)); });
    const title = make("p", { kind: "replay-title", text: this.past.title ?? `Deal ${this.past.deal}, as it was played` });
    const count = make("span", { kind: "count", text: `${this.place} of ${last}` });
    const row = make("div", { kind: "buttons" },
      button("first", "first", "First step", () => { this.stop(); this.go(0); }, this.place === 0),
      button("back", "back", "Step back", () => { this.stop(); this.go(this.place - 1); }, this.place === 0),
      button("play", this.timer ? "stop" : "play", this.timer ? "Stop" : "Play", () => this.toggle()),
      button("on", "on", "Step on", () => { this.stop(); this.go(this.place + 1); }, this.place === last),
      button("last", "last", "Last step", () => { this.stop(); this.go(last); }, this.place === last),
      count, speedChoice(this.seconds, (seconds) => this.setSpeed(seconds)));
    if (this.leave) row.append(button("leave", "Back to the table", "Back to the table", this.leave));
    refill(box, title, slider, row);
    box.hidden = false;
  }
}

/** The pace of policies, for those who watch them. */
export function showPace(table, mayConduct, send) {
  const box = find("transport");
  box.hidden = !mayConduct;
  if (box.hidden) return;
  const isPaused = table.pace === null;
  const key = `pace ${table.pace}`;
  if (box.dataset.key === key && box.childElementCount) return;
  box.dataset.key = key;
  if (!isPaused) box.dataset.pace = table.pace;
  const row = make("div", { kind: "buttons" },
    button("play", isPaused ? "play" : "stop", isPaused ? "Go on" : "Pause", () => togglePace(table, send)),
    button("on", "on", "One action", () => send({ do: "step" }), !isPaused),
    speedChoice(table.pace ?? Number(box.dataset.pace ?? 0.8), (seconds) => send({ do: "pace", seconds })));
  refill(box, row);
}

/** How fast the others act, for whoever plays with them. */
export function showSpeed(table, send) {
  const box = find("seat-speed");
  if (box.dataset.pace === String(table.pace)) return;
  box.dataset.pace = table.pace;
  refill(box, speedChoice(table.pace, (seconds) => send({ do: "pace", seconds }), true));
}

/** Pause, or go on as fast as before. */
export function togglePace(table, send) {
  const before = Number(find("transport").dataset.pace ?? 0.8);
  send({ do: "pace", seconds: table.pace === null ? before : null });
}
