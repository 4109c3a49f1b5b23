// Events of a run for a page. They come from a worker shared by all pages of the browser, or if
// there is none, from the page's own stream. A hidden page uses neither.

import { EventStream, later } from "./events.js";

const BEAT_MS = 5000;
/** After this number of unanswered messages, the worker counts as gone. */
const UNANSWERED_MAX = 3;
/** Lock of the one page that may open its own stream while a worker is silent. */
const TURN = "pgmeter stream";
/** Change the number with the message format: pages of an earlier version may still use their
 * worker. */
const WORKER = "pgmeter events 1";

/** Calls `tell` once with each event after a place; `state` gets errors of the connection. */
export function stream(id, place, tell, state, signal) {
  new PageStream(id, place, tell, state).follow(signal);
}

class PageStream {
  constructor(id, place, tell, state) {
    Object.assign(this, { id, place, tell, state, said: "", isOver: false });
    Object.assign(this, { port: null, own: null, release: null, timer: null, unanswered: 0 });
  }

  follow(signal) {
    const seen = () => (document.hidden ? this.leave() : this.look());
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pagehide", () => this.leave(), { signal });
    addEventListener("pageshow", seen, { signal });
    signal.addEventListener("abort", () => this.end());
    if (!signal.aborted) seen();
  }

  look() {
    if (this.timer || this.isOver) return;
    this.timer = setInterval(() => this.beat(), BEAT_MS);
    this.connect();
  }

  leave() {
    clearInterval(this.timer);
    this.timer = null;
    this.port?.postMessage({});
    this.port?.close();
    this.port = null;
    this.endOwn();
  }

  endOwn() {
    this.own?.close();
    this.release?.();
    this.own = this.release = null;
  }

  end() {
    this.isOver = true;
    this.leave();
  }

  connect() {
    this.unanswered = 0;
    try {
      const worker = new SharedWorker("/assets/events-worker.js", { type: "module", name: WORKER });
      worker.onerror = () => this.alone();
      this.port = worker.port;
      this.port.onmessage = ({ data }) => this.hear(data);
    } catch {
      // This browser has no shared workers.
      this.alone();
    }
    this.say();
  }

  /** Tells the worker that the page is still open; connects again if the worker does not answer. */
  beat() {
    if (this.unanswered >= UNANSWERED_MAX) {
      this.port?.close();
      this.port = null;
      this.alone();
      this.connect();
    } else this.say();
  }

  say() {
    this.unanswered += 1;
    this.port?.postMessage({ id: this.id, place: this.place });
  }

  /**
   * Opens a stream for this page alone until a worker answers. On a busy machine, a worker may only
   * be late. So only one page at a time does this, or no connection would be left for other
   * requests.
   */
  alone() {
    if (!this.timer || this.own) return;
    if (!globalThis.SharedWorker || !navigator.locks) {
      this.openOwn();
      return;
    }
    navigator.locks.request(TURN, { ifAvailable: true }, (turn) => {
      if (!turn || !this.timer || this.own || this.unanswered === 0) return null;
      this.openOwn();
      return new Promise((release) => (this.release = release));
    });
  }

  openOwn() {
    const took = (...event) => this.took(...event);
    this.own = new EventStream(this.id, this.place, took, (text) => this.told(text));
  }

  hear({ name, text, place, state }) {
    if (name) {
      this.took(name, text, place);
      return;
    }
    this.unanswered = 0;
    this.endOwn();
    this.told(state);
  }

  told(text) {
    if (this.isOver || text === this.said) return;
    this.said = text;
    this.state(text);
  }

  /** Skips events that this page has already processed, from the worker or from its own stream. */
  took(name, text, place) {
    const whole = later(this.place, place);
    const isTwice = whole === this.place && !["hello", "gap", "run-end"].includes(name);
    if (this.isOver || isTwice) return;
    this.place = whole;
    if (name === "run-end") this.end();
    this.tell(name, JSON.parse(text));
  }
}
