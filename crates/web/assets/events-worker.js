// Browsers open at most six connections to a server, shared by all pages. With one stream per page,
// several pages would leave no connection for other requests. So one shared worker keeps one stream
// per watched run and passes its events on.
//
// Every few seconds, a page sends the run that it watches and its place: `{ id, place }`. The
// answer is the state of the stream. `{}` means that the page stops watching. A page that sends
// nothing for a while counts as closed.

import { EventStream, earlier, later } from "./events.js";

/** Pages report every 5 s. */
const GONE_MS = 20000;
/** With more runs than this, the streams take turns; each resumes at its place. */
const STREAMS_MAX = 3;
const TURN_MS = 2000;
const LOOK_MS = 1000;

/** By run id; the next run to get a stream is first. */
const runs = new Map();
let timer = null;

/** A run that pages watch. */
class WatchedRun {
  constructor(id, place) {
    Object.assign(this, { id, place, state: "", stream: null, since: 0, pages: new Map() });
  }

  /** Registers a page. If the stream is past the page's place, it starts again from there. */
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

/** Opens streams up to the limit. */
function fill() {
  const all = [...runs.values()];
  const room = STREAMS_MAX - all.filter(({ stream }) => stream).length;
  for (const run of all.filter(({ stream }) => !stream).slice(0, room)) run.open();
  // The timer stops while no page watches a run.
  if (runs.size === 0) {
    clearInterval(timer);
    timer = null;
  } else timer ??= setInterval(look, LOOK_MS);
}

/** Removes pages that are closed, and gives a waiting run its turn. */
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
