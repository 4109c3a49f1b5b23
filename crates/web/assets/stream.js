// Events of a run, resumed where they were left: one stream for a page, closed while nobody looks,
// since browsers open only a few connections to a server over all their tabs.

import { get, ofRun, query } from "./api.js";

const AGAIN_MS = 3000;
const NAMES = ["hello", "cell-start", "interval", "cell-end", "warning", "gap", "run-end"];

/** Calls `tell` with each event from a place on; `state` hears whether the stream is open. */
export function stream(id, place, tell, state, signal) {
  let source = null;
  let timer = null;
  let isOver = false;

  const open = () => {
    if (source || isOver || document.hidden || signal.aborted) return;
    source = new EventSource(query(ofRun(id, "/events"), { from: place }));
    source.onopen = () => state("");
    for (const name of NAMES) source.addEventListener(name, (event) => took(name, event));
    source.onerror = lost;
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const took = (name, event) => {
    // `RUN:PLACE`; the first event has none.
    if (event.lastEventId) place = event.lastEventId.slice(id.length + 1);
    if (name === "run-end") {
      isOver = true;
      close();
    }
    tell(name, JSON.parse(event.data));
  };
  const lost = () => {
    state("The server does not answer; trying again.");
    // Otherwise the browser tries by itself.
    if (source?.readyState === EventSource.CLOSED) again();
  };
  /** The browser has given up: what is wrong is asked for, and the stream opened again. */
  const again = () => {
    close();
    timer = setTimeout(async () => {
      try {
        await get("/api", signal);
        open();
      } catch (error) {
        if (signal.aborted) return;
        state(`${error.message}; ${error.help}`);
        again();
      }
    }, AGAIN_MS);
  };
  const seen = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", seen);
  signal.addEventListener("abort", () => {
    document.removeEventListener("visibilitychange", seen);
    close();
  });
  open();
}
