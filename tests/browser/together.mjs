// Many pages of one browser look at one run: browsers open six connections to a server over all of
// them, so that they have one stream of events together.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { SMALL, TALL, WAIT, ask, measured, served } from "./site.mjs";

/** Ended by whoever is done with it, not by time. */
const LONG = SMALL.replace("\"1s\"", "\"900s\"");
const READY = ".heat canvas[data-columns]";

export const columns = (page) => page.getAttribute(".heat canvas", "data-columns").then(Number);
const streams = (page) => ask(page, "GET", "/api").then(({ stream_count: count }) => count);

/** Waits until as many intervals are drawn. */
const drawn = (page, count) => page.waitForFunction((count) =>
  Number(document.querySelector(".heat canvas")?.dataset.columns) >= count, count, WAIT);

/** Waits until so many streams are open. */
export async function streaming(page, count) {
  let seen = null;
  for (let tries = 0; tries < 300 && seen !== count; tries += 1) {
    if (tries > 0) await page.waitForTimeout(200);
    seen = await streams(page);
  }
  assert.equal(seen, count, "streams that are open");
}

/** Starts a run and gives the address of its page, once that can be drawn. */
async function started(page, server) {
  const workload = { text: LONG, name: "long.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  await page.goto(`${server.origin}/#/live/${id}`);
  await page.waitForSelector(READY, WAIT);
  return page.url();
}

async function opened(context, url, script = "") {
  const page = await context.newPage();
  await page.addInitScript(script);
  await page.goto(url);
  await page.waitForSelector(READY, WAIT);
  return page;
}

async function stopped(page, pages) {
  await page.click("button:text-is('Stop')");
  for (const one of pages) await one.waitForSelector("text=Open the report", WAIT);
}

/** A page as if it were behind others, or before them again. */
export const hide = (page, hidden) => page.evaluate((hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}, hidden);

/** The numbers of all charts. */
async function numbers(page) {
  // A chart that was drawn anew meanwhile has its numbers closed again.
  const areFilled = () => {
    const all = [...document.querySelectorAll("details.numbers")];
    all.forEach((one) => (one.open = true));
    return all.every((one) => one.querySelector("tbody tr"));
  };
  await page.waitForFunction(areFilled, null, WAIT);
  return page.$$eval("details.numbers table", (all) => all.map((one) => one.innerText));
}

/** Waits until what is stored in place of what was live has come to all pages: the same numbers. */
async function alike(pages) {
  let seen = [];
  for (let tries = 0; tries < 100; tries += 1) {
    seen = await Promise.all(pages.map(numbers));
    if (seen.every((one) => isDeepStrictEqual(one, seen[0]))) break;
    await pages[0].waitForTimeout(300);
  }
  assert.ok(seen[0].length >= 3);
  seen.forEach((one, index) => assert.deepEqual(one, seen[0], `page ${index}`));
}

/** Ten pages, of which one is loaded again, one sleeps, one is closed; an eleventh comes late. */
async function ten(page, server, context) {
  const url = await started(page, server);
  const pages = [page];
  while (pages.length < 10) pages.push(await opened(context, url));
  await streaming(page, 1);
  await hide(pages[3], true);
  await pages[4].reload();
  await pages[4].waitForSelector(READY, WAIT);
  await pages.pop().close();
  const late = await opened(context, url);
  // What had come before it fell asleep may still have been drawn, here before it was elsewhere.
  const before = Math.max(await columns(page), await columns(pages[3]));
  for (const one of pages.filter((_, index) => index !== 3).concat(late)) await drawn(one, before + 3);
  const asleep = await columns(pages[3]);
  assert.ok(asleep <= before, `nothing is drawn that nobody sees: ${asleep} of ${before}`);
  await hide(pages[3], false);
  await drawn(pages[3], before + 3);
  // For who was behind it begins anew further back; the server may see late that the other has ended.
  await streaming(page, 1);
  pages.push(late);
  await stopped(page, pages);
  await streaming(page, 0);
  await alike(pages);
}

/** The server ends and begins again under all pages. */
async function beginsAgain(page, server, context) {
  const url = await started(page, server);
  const pages = [page];
  while (pages.length < 8) pages.push(await opened(context, url));
  const before = await columns(page);
  await server.killAndBegin();
  for (const one of pages) await drawn(one, before + 3);
  await streaming(page, 1);
  for (const one of pages) assert.equal(await one.textContent("p.remark[role=status]"), "");
  // A page that goes away without a word is forgotten with the last of them.
  for (const one of pages.slice(1)) await one.close();
  await streaming(page, 1);
  await hide(page, true);
  await streaming(page, 0);
  await hide(page, false);
  await streaming(page, 1);
  await stopped(page, [page]);
}

const NO_WORKER = "delete globalThis.SharedWorker";
const DEAF_WORKER = "globalThis.SharedWorker = class { port = new MessageChannel().port1 }";

/** Another page with a silent worker has the stream only once the first is not seen any more. */
async function takesOver(page, first, url, context) {
  const next = await opened(context, url, DEAF_WORKER);
  // Three words without an answer, 5 s apart, and some more.
  for (let second = 0; second < 18; second += 1) {
    assert.ok((await streams(page)) <= 2, "the worker's and the first page's");
    await page.waitForTimeout(1000);
  }
  const before = await columns(next);
  await hide(first, true);
  await drawn(next, before + 2);
  await next.close();
}

/** Without shared workers each page has a stream; of those whose worker is silent, one has. */
async function without(page, server, context) {
  const url = await started(page, server);
  await streaming(page, 1);
  for (const stub of [NO_WORKER, DEAF_WORKER]) {
    const alone = await opened(context, url, stub);
    await streaming(page, 2);
    await drawn(alone, (await columns(alone)) + 2);
    if (stub === DEAF_WORKER) await takesOver(page, alone, url, context);
    await hide(alone, true);
    await streaming(page, 1);
    await alone.close();
  }
  await stopped(page, [page]);
}

/** Runs in a page, where the worker has ports and streams that are made up. */
async function workerWithPorts() {
  const open = [];
  globalThis.EventSource = class extends EventTarget {
    constructor(url) {
      super();
      Object.assign(this, { url: url.replace("/api/runs/", ""), readyState: 1 });
      open.push(this);
    }

    close() {
      open.splice(open.indexOf(this), 1);
    }
  };
  await import("/assets/events-worker.js");
  const urls = () => open.map(({ url }) => url);
  const settled = () => new Promise((done) => setTimeout(done, 50));
  const visitor = () => {
    const { port1, port2 } = new MessageChannel();
    const heard = [];
    port1.onmessage = ({ data }) => data.name && heard.push(`${data.name} ${data.place}`);
    dispatchEvent(Object.assign(new Event("connect"), { ports: [port2] }));
    return { heard, say: async (said) => (port1.postMessage(said), settled()) };
  };
  const happens = async (name, lastEventId) => {
    open[0].dispatchEvent(new MessageEvent(name, { data: "{}", lastEventId }));
    await settled();
  };
  const seen = [];
  const [first, second] = [visitor(), visitor()];
  await first.say({ id: "a", place: "0.4.0" });
  await happens("interval", "a:0.5.0");
  await second.say({ id: "a", place: "0.6.0" });
  seen.push(urls());
  await happens("gap", "a:0.5.0");
  await happens("interval", "a:0.9.0");
  seen.push(first.heard.splice(0), second.heard.splice(0));
  // Who lacks something gets it, and who says again where it is changes nothing.
  const third = visitor();
  await third.say({ id: "a", place: "0.7.0" });
  await first.say({ id: "a", place: "0.5.0" });
  seen.push(urls());
  // More runs than streams: all have their turns.
  const others = ["b", "c", "d"].map((id) => [visitor(), id]);
  for (const [one, id] of others) await one.say({ id, place: "0.0.0" });
  seen.push(urls());
  await new Promise((done) => setTimeout(done, 4500));
  seen.push(urls());
  // Pages that are not heard of have gone; who was asleep says so and goes on.
  const now = performance.now();
  performance.now = () => now + 30000;
  await new Promise((done) => setTimeout(done, 1500));
  seen.push(urls());
  await third.say({ id: "a", place: "0.8.0" });
  await happens("run-end", "a:0.9.1");
  seen.push(third.heard, urls());
  return seen;
}

async function oneStream(page) {
  const [joined, first, second, behind, full, turned, gone, third, ended] = await page.evaluate(workerWithPorts);
  assert.deepEqual(joined, ["a/events?from=0.4.0"]);
  assert.deepEqual(first, ["interval 0.5.0", "gap 0.5.0", "interval 0.9.0"]);
  assert.deepEqual(second, ["gap 0.5.0", "interval 0.9.0"]);
  assert.deepEqual(behind, ["a/events?from=0.7.0"]);
  assert.deepEqual(full, ["a/events?from=0.7.0", "b/events?from=0.0.0", "c/events?from=0.0.0"]);
  assert.ok(turned.length === 3 && turned.some((url) => url.startsWith("d/")), String(turned));
  assert.deepEqual(gone, []);
  assert.deepEqual(third, ["run-end 0.9.1"]);
  assert.deepEqual(ended, []);
}

/** What was lost is put where it belongs, and what is told twice is there once. */
async function gap(page, server) {
  const run = await measured(page, server);
  const seen = await page.evaluate(async (run) => {
    const { Course } = await import("/assets/course.js");
    const { later, earlier } = await import("/assets/events.js");
    const course = new Course();
    const second = (at) => ({ at_ns: at * 1e9, length_ns: 1e9, operations: {} });
    const tell = (at) => course.interval({ position: 0, index: 0, interval: second(at) });
    [0, 1, 5, 5, 1].forEach(tell);
    course.takeIntervals([{ position: 0, index: 0, intervals: [1, 2, 3, 4, 5, 6].map(second) }]);
    tell(7);
    const whole = course.points().map(({ from }) => from);
    course.takeIntervals([{ position: 0, index: 0, is_complete: true, intervals: [second(0)] }]);
    tell(7);
    const places = [later("0.5.2", "0.10.1"), earlier("0.5.2", "0.10.1"), later("1.1.0", "0.9.0")];
    const answer = await fetch(`/api/runs/${run}/intervals`).then((answer) => answer.json());
    return { whole, count: course.points().length, places, isPlace: later(answer.next, answer.next) === answer.next };
  }, run);
  assert.deepEqual(seen.whole, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(seen.count, 1);
  assert.deepEqual(seen.places, ["0.10.2", "0.5.1", "1.1.0"]);
  assert.ok(seen.isPlace);
}

const LOST = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;

export const togetherTests = [
  ["ten_pages_of_a_browser_draw_the_same_and_leave_room_to_load", (bed) => served(bed, ten, { viewport: TALL })],
  ["all_pages_go_on_with_their_server", (bed) => served(bed, beginsAgain, { viewport: TALL, expected: LOST })],
  ["a_page_that_has_no_worker_has_a_stream_of_its_own", (bed) => served(bed, without, { viewport: TALL })],
  ["one_stream_of_a_run_serves_all_pages_and_many_runs_take_turns", (bed) => served(bed, oneStream)],
  ["a_gap_is_filled_and_nothing_is_there_twice", (bed) => served(bed, gap)],
];
