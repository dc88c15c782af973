// The websocket to the table: joins with the secret of the link, and comes back when it breaks.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 8000;

export class Connection {
  constructor(token, { hear, tell }) {
    this.token = token;
    this.hear = hear;
    this.tell = tell;
    this.pause = FIRST_PAUSE;
    this.isWelcome = true;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/ws`);
    this.socket.addEventListener("open", () => this.send({ do: "join", token: this.token }));
    this.socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => this.close());
  }

  receive(message) {
    if (message.type === "welcome") {
      this.pause = FIRST_PAUSE;
      this.tell("");
    }
    if (message.type === "refused" && message.do === "join") this.isWelcome = false;
    this.hear(message);
  }

  close() {
    if (!this.isWelcome) return;
    this.tell("No connection; trying again …");
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
