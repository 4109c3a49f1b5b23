// The lists of runs, labs and trends, and what leads from them to a comparison.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { violations } from "./bed.mjs";
import { SMALL, TALL, WAIT, ask, go, measured, served, tooWide } from "./site.mjs";

const LAB = "lab-20261121-045905-123456789-a";

const tag = (page, run, ...tags) => ask(page, "PUT", `/api/runs/${run}/notes`, { tags });

/** Nothing sticks out on a telephone, and everyone can read it. */
async function fits(page) {
  for (const width of [320, 1400]) {
    await page.setViewportSize({ width, height: 1000 });
    assert.deepEqual(await tooWide(page), [], `${width} px`);
    assert.deepEqual(await violations(page), [], `${width} px`);
  }
}

/** Starts a run that only ends when it is stopped. */
async function started(page, server, text, tags = []) {
  const workload = { text: text.replace('"1s"', '"900s"'), name: "small.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target], tags });
  await go(page, server, `#/live/${id}`);
  await page.waitForURL(/#\/run\//, WAIT);
  return page.url().match(/#\/run\/(.*)/)[1];
}

/** A lab is one row with its progress, from which its runs are reached. */
async function labs(page, server) {
  for (let run = 0; run < 2; run += 1) await tag(page, await measured(page, server), "lab", LAB);
  await tag(page, await measured(page, server), "other");
  const running = await started(page, server, SMALL, [LAB]);
  await page.waitForSelector(".lab-line >> text=2 runs complete", WAIT);
  await go(page, server, "#/runs");
  const lab = page.locator("tbody tr", { hasText: LAB.slice(0, 19) });
  await lab.locator("text=2 runs complete").waitFor(WAIT);
  assert.equal(await page.locator("tbody tr").count(), 2, "the lab and the other run");
  assert.match(await page.textContent("main > [role=status]"), /1 to 2 of 2 runs and labs/);
  await fits(page);
  await ask(page, "POST", `/api/runs/${running}/stop`);
  await lab.locator(".status.interrupted").waitFor(WAIT);
  await lab.locator("text=3 runs").click();
  await page.waitForSelector("tbody tr >> nth=2", WAIT);
  assert.equal(await page.locator("td.pick input").count(), 3, "its runs can be compared");
  await page.click("tbody tr >> nth=1 >> th a");
  await page.waitForSelector(".lab-line >> text=This run belongs to a lab", WAIT);
  assert.equal(await page.locator("header .tag").count(), 0, "the line says it");
  await fits(page);
  const said = await page.evaluate(async () => {
    const { labProgress } = await import("/assets/labs.js");
    const lab = { tag: "lab-1", ended_count: 4, started_at: "2026-11-21T04:00:00Z", finished_at: "2026-11-21T04:05:00Z" };
    const running = { tag: "lab-1", expected_count: 12 };
    return [labProgress(lab, {}, running).textContent, labProgress(lab, { status: "complete" }, null)];
  });
  assert.deepEqual(said, ["running4 of 12 runs, about 10 min left", null]);
}

/** A lab that the page starts is followed from run to run, and its table is its result. */
async function startedLab(page, server) {
  const { file_systems: systems } = await ask(page, "GET", "/api/file-systems");
  if (!systems.find(({ name }) => name === "tmpfs").can_be_made) return;
  const { id } = await ask(page, "POST", "/api/labs", { workloads: ["postmark"], file_systems: ["tmpfs"],
    target: server.target, image_size: "64MiB", repetitions: 3, scale: "0.1" });
  await go(page, server, "#/queue");
  await page.waitForSelector("tbody th", WAIT);
  await page.click("text=Lab table", WAIT);
  await page.waitForURL(/\/api\/labs\/.*\/page$/, WAIT);
  assert.match(await page.textContent("body"), /tmpfs/);
  await go(page, server, "#/queue");
  const { entries } = await ask(page, "GET", "/api/queue");
  const lab = entries.find((entry) => entry.id === id);
  const table = `/api/labs/${lab.lab_id}/page`;
  assert.equal(await page.getAttribute("tbody th a", "href"), table);
  await go(page, server, "#/runs");
  await page.waitForSelector("tbody tr", WAIT);
  assert.equal(await page.locator("tbody tr").count(), 1);
  assert.equal(await page.getAttribute("tbody th a", "href"), table);
  assert.match(await page.textContent("tbody tr"), /complete.*3 runs.*postmark on new file systems, 3 times each/);
}

/** All runs of a tag are compared with those of another one. */
async function byTag(page, server) {
  const runs = [];
  for (const name of ["old", "old", "new"]) {
    runs.push(await measured(page, server));
    await tag(page, runs.at(-1), name);
  }
  await go(page, server, "#/runs");
  await page.reload();
  await page.click("summary:text-is('Compare two tags')", WAIT);
  const [before, after] = await page.locator(".by-tag select").all();
  assert.deepEqual([await before.inputValue(), await after.inputValue()], ["old", "new"]);
  await fits(page);
  await after.selectOption("old");
  await page.click("button:text-is('Compare tags')");
  await page.waitForSelector("text=both tags are the same", WAIT);
  await after.selectOption("new");
  await page.click("button:text-is('Compare tags')");
  await page.waitForSelector("#verdict", WAIT);
  assert.match(await page.textContent("main h2"), /^new compared with old$/);
  assert.match(await page.textContent("#verdict"), /\d+ values compared: \d+ (better|worse|no difference shown|cannot tell)/);
  const links = await page.locator(".where a").allInnerTexts();
  assert.deepEqual(links, [runs[2], runs[0], runs[1]]);
  await fits(page);
}

/** A row that is dropped on another one is compared with it. */
async function dragged(page, server) {
  const runs = [await measured(page, server), await measured(page, server)];
  await go(page, server, "#/runs");
  await page.reload();
  await page.waitForSelector("td.pick >> nth=1", WAIT);
  await page.dragAndDrop("tbody tr >> nth=0 >> .status", "tbody tr >> nth=0 >> td.path");
  assert.match(page.url(), /#\/runs$/, "a run is not compared with itself");
  await page.dragAndDrop("tbody tr >> nth=0 >> .status", "tbody tr >> nth=1 >> .status");
  await page.waitForSelector("#verdict", WAIT);
  assert.equal(decodeURIComponent(page.url()).split("?runs=")[1], runs.join(","), "the older one is the baseline");
}

/** A trend has runs of one cell on the same targets and machine, and is chosen from a list. */
async function trend(page, server) {
  const other = join(server.target, "other");
  mkdirSync(other);
  const runs = [];
  for (let run = 0; run < 3; run += 1) runs.push(await measured(page, server));
  await measured(page, server, "iodepth = 4\n");
  const elsewhere = await measured(page, { target: other });
  await go(page, server, "#/trend");
  await page.waitForSelector("tbody tr", WAIT);
  assert.equal(await page.locator("tbody tr").count(), 1, "others have one run each");
  assert.match(await page.textContent("main"), /2 cells are not listed/);
  await fits(page);
  await page.fill("input[type=search]", "nothing like it");
  await page.waitForSelector("text=No cell matches", WAIT);
  await page.fill("input[type=search]", "small 1");
  await page.click("tbody th a");
  await page.waitForSelector("#changes", WAIT);
  assert.equal(await page.locator("[aria-label='Runs, oldest first'] tbody tr").count(), 3);
  assert.match(await page.textContent("main"), /Measured in each run: Small, queue depth 1, 1 worker/);
  assert.match(await page.textContent("#changes"), /^3 runs, .*20\d\d.* to .*20\d\d.*\. Fewer than eight runs/);
  await fits(page);
  await page.check("text=Runs of all machines");
  await page.waitForSelector("th:text-is('Machine')", WAIT);
  assert.match(page.url(), /machines=all/);
  // From a run, the cells of its workload on its target, and the cell itself if it is the only one.
  await go(page, server, `#/run/${runs[0]}`);
  await page.click(".actions >> text=Trend");
  await page.waitForSelector("tbody tr >> nth=1", WAIT);
  assert.equal(await page.locator("tbody tr").count(), 2);
  await go(page, server, `#/run/${elsewhere}`);
  await page.click(".actions >> text=Trend");
  await page.waitForSelector("#changes", WAIT);
}

/** The list of cells shows which one is measured. */
async function runningCell(page, server) {
  await started(page, server, `iodepth = [1, 8]\n${SMALL}`);
  const states = () => page.$$eval("[aria-label='Cells'] tbody tr", (rows) => rows.map((row) => row.cells[4].textContent));
  await page.waitForSelector("[aria-label='Cells'] .status.running", WAIT);
  assert.deepEqual(await states(), ["running", "planned"]);
  await page.click("text=Skip this cell");
  await page.waitForFunction(() => [...document.querySelectorAll("[aria-label='Cells'] tbody tr")]
    .at(-1)?.cells[4].textContent === "running", null, WAIT);
  await page.click("button:text-is('Stop')");
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.locator("[aria-label='Cells'] .status.running").count(), 0);
}

/** A cell of one interval has its charts, too. */
async function shortCell(page, server) {
  const workload = { text: SMALL.replace('"1s"', '"50ms"'), name: "small.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  await go(page, server, `#/live/${id}`);
  await page.waitForSelector("text=Open the report", WAIT);
  const run = page.url().match(/#\/run\/(.*)/)[1];
  const { cells } = await ask(page, "GET", `/api/runs/${run}/intervals`);
  const [{ intervals }] = cells;
  const wanted = ["Throughput by operation", "Latency over time", "CPU"];
  if (intervals.some(({ device }) => device)) wanted.push("Requested and device I/O");
  for (const title of wanted) await page.locator("figure", { hasText: title }).locator("canvas").waitFor(WAIT);
  await fits(page);
}

/** A worker that a rate limits is not behind. */
async function limitedWorker(page, server) {
  const job = (name, more = "") => `[${name}]\n${more}`;
  const text = `[global]\nrw=randread\nbs=4k\nsize=1m\nruntime=1\ntime_based=1\nioengine=psync\n` +
    job("a") + job("b") + job("c") + job("slow", "rate_iops=20\n");
  const { id } = await ask(page, "POST", "/api/runs", { workload: { text, name: "jobs.fio" }, targets: [server.target] });
  await go(page, server, `#/live/${id}`);
  await page.waitForSelector("text=Open the report", WAIT);
  const slow = page.locator(".multiples li", { hasText: "slow" });
  await slow.waitFor(WAIT);
  assert.ok(await slow.locator(".severe").isHidden());
  assert.match(await page.textContent("[aria-label='Workers and targets']"), /except workers that a rate limits/);
}

export const listTests = [
  ["a_lab_is_one_row_with_its_progress", (bed) => served(bed, labs)],
  ["the_result_of_a_lab_is_its_table", (bed) => served(bed, startedLab)],
  ["runs_are_compared_by_their_tags", (bed) => served(bed, byTag)],
  ["a_row_is_dragged_onto_another_to_compare_both", (bed) => served(bed, dragged)],
  ["a_trend_is_chosen_from_a_list_of_like_runs", (bed) => served(bed, trend)],
  ["the_running_cell_is_marked", (bed) => served(bed, runningCell, { viewport: TALL })],
  ["a_very_short_cell_has_all_charts", (bed) => served(bed, shortCell, { viewport: TALL })],
  ["a_worker_with_a_rate_is_not_behind", (bed) => served(bed, limitedWorker, { viewport: TALL })],
];
