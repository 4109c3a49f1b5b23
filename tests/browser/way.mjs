// The whole way of a user on one server: from a fresh store to a comparison, Iometer's topology, a
// cycling test, a lab, a trend and a sheet of paper.

import assert from "node:assert/strict";

import { TALL, WAIT, again, ask, go, served } from "./site.mjs";
import { cycled, managersAndWorkers } from "./topology.mjs";

const startable = (page) => page.waitForSelector("button.primary:not([disabled])", WAIT);
const named = (name) => `[name='${name}']`;

/** Waits for the end of the run on the page, and gives it a tag. */
async function tagged(page, name) {
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.textContent("header .status"), "complete");
  await page.click("text=Tags and note");
  await page.fill("dialog input", name);
  await page.click("dialog button.primary");
  await page.waitForSelector(`header .tag >> text=${name}`, WAIT);
  return page.url().match(/#\/run\/(.*)/)[1];
}

/** The quick test with less of everything, twice, and its verdict. */
async function quickTest(page) {
  await page.waitForSelector("text=No run is stored yet", WAIT);
  await page.click(".tasks >> text=Quick test");
  await startable(page);
  await page.selectOption("select[name=cache]", "buffered");
  for (const [name, value] of [["run_time", "1s"], ["ramp_time", "0s"], ["size", "8MiB"]]) await page.fill(named(name), value);
  await startable(page);
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  const first = await tagged(page, "before");
  await page.waitForSelector("section[aria-label=Verdict] dt:text-is('Next')", WAIT);
  assert.ok((await page.locator("section[aria-label=Verdict] .tile").count()) > 0, "its main results");
  await page.click("text=Open the report");
  await page.waitForSelector("h1", WAIT);
  assert.match(await page.innerText("body"), /next/i);
  await page.goBack();
  await again(page);
  return [first, await tagged(page, "after")];
}

async function compared(page, server) {
  await go(page, server, "#/runs");
  await page.reload();
  // A second on any machine is too short to be beyond doubt.
  await page.waitForSelector("tbody td small:has-text('doubt')", WAIT);
  await page.click("summary:text-is('Compare two tags')");
  const [before, after] = await page.locator(".by-tag select").all();
  await before.selectOption("before");
  await after.selectOption("after");
  await page.click("button:text-is('Compare tags')");
  await page.waitForSelector("#verdict", WAIT);
  await page.click("text=Open the full comparison");
  await page.waitForSelector(".forest", WAIT);
}

/** A lab of two file systems, if this machine can create one at all. */
async function lab(page, server) {
  const { file_systems: systems } = await ask(page, "GET", "/api/file-systems");
  if (!systems.find(({ name }) => name === "tmpfs").can_be_made) return;
  await ask(page, "POST", "/api/labs", { workloads: ["postmark"], file_systems: ["tmpfs"], target: server.target,
    image_size: "64MiB", repetitions: 2, scale: "0.1" });
  await go(page, server, "#/queue");
  await page.click("text=Lab table", WAIT);
  await page.waitForURL(/\/api\/labs\/.*\/page$/, WAIT);
  assert.match(await page.textContent("body"), /tmpfs/);
}

async function trend(page, server) {
  await go(page, server, "#/trend");
  await page.click("tbody th a");
  await page.waitForSelector("#changes", WAIT);
  assert.equal(await page.locator("[aria-label='Runs, oldest first'] tbody tr").count(), 2);
}

/** The summary of a run is one sheet of paper. */
async function paper(page, server, run) {
  await page.goto(`${server.origin}/api/runs/${run}/summary`);
  await page.waitForSelector("h1", WAIT);
  const sheet = (await page.pdf({ format: "A4", preferCSSPageSize: true })).toString("latin1");
  assert.match(sheet, /^%PDF/);
  assert.equal(sheet.match(/\/Type\s*\/Page\b/g).length, 1);
}

async function wholeWay(page, server, screens) {
  const [first] = await quickTest(page);
  await compared(page, server);
  await managersAndWorkers(page, server);
  await cycled(page, server, screens);
  await lab(page, server);
  await trend(page, server);
  await paper(page, server, first);
}

export const wayTests = [
  ["a_user_goes_the_whole_way_on_one_server", (bed) => served(bed, (page, server) => wholeWay(page, server, bed.screens), { viewport: TALL })],
];
