// Browsers open six connections to a server over all their pages, and pages with a stream each
// would leave none to load anything by. So one worker, shared by all of them, has one stream for
// each run that any page looks at, and passes its events on.
//
// A page says every few seconds which run it looks at, and what it has: `{ id, place }`. The answer
// is the stream's state. `{}` says that it looks away; one that is not heard of has gone without a
// word.

import { EventStream, earlier, later } from "./events.js";

/** Pages say so every 5 s. */
const GONE_MS = 20000;
/** With more runs than that, streams take turns: each goes on where it was. */
const STREAMS_MAX = 3;
const TURN_MS = 2000;
const LOOK_MS = 1000;

/** By their ids, those whose turn is next in front. */
const runs = new Map();
let timer = null;

/** A run that pages look at. */
class WatchedRun {
  constructor(id, place) {
    Object.assign(this, { id, place, state: "", stream: null, since: 0, pages: new Map() });
  }

  /** Hears of a page; events behind its place come again where the stream is further. */
  hear(port, place) {
    const isNew = !this.pages.has(port);
    this.pages.set(port, performance.now());
    const first = isNew ? earlier(place, this.place) : this.place;
    if (first !== this.place) {
      this.place = first;
      this.close();
    }
  }

  open() {
    this.since = performance.now();
    const tell = (name, text, place) => this.tell(name, text, place);
    this.stream = new EventStream(this.id, this.place, tell, (state) => this.say(state));
  }

  close() {
    this.stream?.close();
    this.stream = null;
  }

  tell(name, text, place) {
    this.place = later(this.place, place);
    this.post({ name, text, place });
    if (name === "run-end") forget(this);
  }

  say(state) {
    this.state = state;
    this.post({ state });
  }

  post(message) {
    for (const port of this.pages.keys()) port.postMessage(message);
  }
}

function forget(run) {
  run.close();
  runs.delete(run.id);
  fill();
}

/** Opens streams as long as there is room. */
function fill() {
  const all = [...runs.values()];
  const room = STREAMS_MAX - all.filter(({ stream }) => stream).length;
  for (const run of all.filter(({ stream }) => !stream).slice(0, room)) run.open();
  // Nothing is done while nobody looks.
  if (runs.size === 0) {
    clearInterval(timer);
    timer = null;
  } else timer ??= setInterval(look, LOOK_MS);
}

/** Forgets pages that have gone, and lets a stream that waits have its turn. */
function look() {
  const now = performance.now();
  for (const run of runs.values()) {
    for (const [port, heard] of run.pages) {
      if (now - heard > GONE_MS) leave(port);
    }
  }
  const isWaiting = [...runs.values()].some(({ stream }) => !stream);
  const first = [...runs.values()].find(({ stream }) => stream);
  if (!isWaiting || now - first.since < TURN_MS) return;
  first.close();
  runs.delete(first.id);
  runs.set(first.id, first);
  fill();
}

function leave(port) {
  for (const run of runs.values()) {
    if (run.pages.delete(port) && run.pages.size === 0) forget(run);
  }
}

function take(port, { id, place }) {
  if (!id) {
    leave(port);
    return;
  }
  if (!runs.has(id)) runs.set(id, new WatchedRun(id, place));
  const run = runs.get(id);
  run.hear(port, place);
  fill();
  port.postMessage({ state: run.state });
}

addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => take(port, data);
});
