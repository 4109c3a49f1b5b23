// Events of a run, resumed at the last place. This module uses no DOM, so that workers can use it,
// too.

import { get, ofRun, query } from "./api.js";

const AGAIN_MS = 3000;
const NAMES = ["hello", "cell-start", "interval", "cell-end", "warning", "gap", "run-end"];

/** A stream from the server that is reopened when it breaks. */
export class EventStream {
  /** `tell` gets each event's name, text and place; `state` gets an error, or "" once open. */
  constructor(id, place, tell, state) {
    Object.assign(this, { id, place, tell, state, source: null, timer: null, isClosed: false });
    this.open();
  }

  open() {
    this.source = new EventSource(query(ofRun(this.id, "/events"), { from: this.place }));
    this.source.onopen = () => this.state("");
    this.source.onerror = () => this.lost();
    for (const name of NAMES) {
      const took = ({ data, lastEventId }) => this.took(name, data, lastEventId);
      this.source.addEventListener(name, took);
    }
  }

  close() {
    this.isClosed = true;
    this.leave();
  }

  leave() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  took(name, text, id) {
    // `RUN:PLACE`; the first event has no id.
    if (id) this.place = id.slice(this.id.length + 1);
    if (name === "run-end") this.close();
    this.tell(name, text, this.place);
  }

  lost() {
    this.state("The server does not answer; trying again.");
    // In the other states, the browser reconnects automatically.
    if (this.source?.readyState === EventSource.CLOSED) this.again();
  }

  /** The browser has given up: find out why, then open a new stream. */
  again() {
    this.leave();
    this.timer = setTimeout(async () => {
      try {
        await get(query(ofRun(this.id, "/intervals"), { from: this.place, points: 2 }));
        if (!this.isClosed) this.open();
      } catch (error) {
        if (this.isClosed) return;
        if (error.status === 404) {
          // An aborted run was removed, which also ends the stream.
          this.took("run-end", "{}");
          return;
        }
        this.state([error.message, error.help].filter(Boolean).join("; "));
        this.again();
      }
    }, AGAIN_MS);
  }
}

/** The later of two places, `CELL.STEP.WARNINGS`, in each part. */
export const later = (one, other) => both(one, other, Math.max);

/** The earlier of two places, in each part. */
export const earlier = (one, other) => both(one, other, Math.min);

function both(one, other, most) {
  const [a, b] = [one, other].map((place) => place.split(".").map(Number));
  // Steps are counted per cell, warnings over the whole run.
  const way = a[0] - b[0] || a[1] - b[1];
  const [cell, step] = most(way, 0) === way ? a : b;
  return [cell, step, most(a[2], b[2])].join(".");
}
