// Iometer's window in Build: managers and workers with their targets and specifications, the test
// setup, the disk list, and the display of results.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { violations } from "./bed.mjs";
import { TALL, WAIT, ask, go, served, tooWide } from "./site.mjs";

const startable = (page) => page.waitForSelector("button.primary:not([disabled])", WAIT);
const text = (page) => page.inputValue(".editor textarea");
const named = (name) => `[name='${name}']`;
const at = (page) => page.evaluate(() => document.activeElement.name);

/** Begins an empty workload with one specification. */
async function begun(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  await page.click("text=Empty workload");
  await page.click("button:text-is('An access specification')");
  await page.fill(named("access_spec.0.name"), "Scan");
}

/** Adds a specification of Iometer's list. */
async function fromLibrary(page, words) {
  await page.click(named("access_spec.library"));
  // Iometer 1.1.0 has 31 of them.
  await page.waitForSelector("dialog .library label >> nth=30", WAIT);
  assert.equal(await page.locator("dialog .library label").count(), 31);
  await page.fill("dialog input[type=search]", words);
  assert.equal(await page.locator("dialog .library label:not([hidden])").count(), 1);
  await page.check("dialog .library label:not([hidden]) input");
  await page.click("dialog button.primary");
}

/** Two managers with two workers each, of different targets and specifications. */
async function built(page, server) {
  await begun(page, server);
  await fromLibrary(page, "4 KiB aligned 50%");
  await page.click(named("worker.add"));
  assert.equal(await at(page), "worker.0.name");
  await page.fill(named("worker.0.name"), "Scanner");
  await page.check(`.topology label:has-text("${server.target}/one") input`);
  await page.selectOption(named("worker.0.access_specs.assign"), "Scan");
  await page.fill(named("worker.0.iodepth"), "4");
  await page.click("button:text-is('Add a worker')");
  await page.fill(named("worker.1.name"), "Mixer");
  await page.check(`.item:has(> .folded ${named("worker.1.name")}) label:has-text("${server.target}/two") input`);
  for (const name of ["4 KiB aligned; 50% Read; 100% random", "Scan"]) await page.selectOption(named("worker.1.access_specs.assign"), name);
  await page.fill(named("worker.1.content"), "full-random");
  await page.fill(named("worker.1.seed"), "7");
  await page.fill(named("worker.1.start"), "1MiB");
  await page.fill(named("worker.1.size"), "4MiB");
  await page.click("button:text-is('Duplicate manager')");
  assert.equal(await at(page), "manager.1.name");
  await page.fill(named("manager.1.name"), "node-b");
  await page.keyboard.press("Tab");
  await page.fill(named("run_time"), "1s");
  await page.fill(named("ramp_time"), "0s");
}

const TOPOLOGY = (target) => `[[worker]]
name = "Scanner"
targets = ["${target}/one"]
access_specs = ["Scan"]
iodepth = 4
group = "Manager 1"
`;

export async function managersAndWorkers(page, server) {
  for (const name of ["one", "two"]) mkdirSync(join(server.target, name), { recursive: true });
  await built(page, server);
  const before = await text(page);
  assert.ok(before.includes(TOPOLOGY(server.target)), before);
  assert.equal((before.match(/group = "node-b"/g) ?? []).length, 2);
  assert.equal((before.match(/access_specs = \["4 KiB aligned; 50% Read; 100% random", "Scan"\]/g) ?? []).length, 2);
  // The order of a worker's specifications, without a mouse.
  await page.click("summary:has-text('Worker 4')");
  await page.focus(named("worker.3.access_specs.1.up"));
  await page.keyboard.press("Enter");
  assert.match(await text(page), /access_specs = \["Scan", "4 KiB aligned; 50% Read; 100% random"\]\n[^[]*$/s);
  // Another host has its command.
  await page.fill(named("manager.0.host"), "a");
  await page.waitForSelector("text=Name a host for node-b", WAIT);
  await page.fill(named("manager.1.host"), "b");
  assert.match(await page.textContent(".topology pre"), /--host 'Manager 1=a' --host node-b=b$/);
  await startable(page);
  await page.selectOption(named("test_type"), "cycle-workers");
  await page.waitForSelector("text=Steps: 1, 2, 3", WAIT);
  // Of the first worker of each manager there are two specifications at most.
  await page.waitForSelector(".actions.start >> text=/cells, about/", WAIT);
  await exported(page);
}

/** As `.icf` it is read back as it was. */
async function exported(page) {
  const here = await text(page);
  const [download] = await Promise.all([page.waitForEvent("download", WAIT), page.click("button:text-is('Download as .icf')")]);
  const path = await download.path();
  const file = readFileSync(path, "latin1");
  assert.match(file, /'Manager ID, manager name\s+1,Manager 1/);
  assert.match(file, /2,node-b/);
  await page.setInputFiles("input[type=file]", { name: "back.icf", mimeType: "text/plain", buffer: readFileSync(path) });
  await page.waitForSelector("text=This file runs as it is", WAIT);
  await page.click("button:text-is('Convert to TOML')");
  await page.waitForSelector(named("manager.1.name"), WAIT);
  const back = await text(page);
  const facts = async (toml) => {
    const { workloads } = await ask(page, "POST", "/api/show", { text: toml });
    const [{ worker, access_spec: specs, test_type: type }] = workloads;
    const plain = worker.map((one) => ({ ...one, iodepth: one.iodepth ?? 1, content: one.content ?? "repeating", targets: [].concat(one.targets) }));
    return { plain, specs: specs.map(({ name }) => name), type };
  };
  const [first, second] = [await facts(here), await facts(back)];
  // Iometer knows no other content, and its default is its own.
  first.plain.forEach((worker) => (worker.content = worker.content === "repeating" ? "full-random" : worker.content));
  assert.deepEqual(second, first);
}

/** Workers change their manager, managers their order, and both go. */
async function moved(page, server) {
  await begun(page, server);
  for (let count = 0; count < 2; count += 1) await page.click(count === 0 ? named("worker.add") : named("manager.0.add"));
  await page.click(named("manager.add"));
  await page.fill(named("manager.1.name"), "B");
  await page.keyboard.press("Tab");
  await page.selectOption(named("worker.1.group"), "B");
  assert.deepEqual((await text(page)).match(/group = .*/g), ['group = "Manager 1"', 'group = "B"', 'group = "B"']);
  await page.focus(named("manager.1.up"));
  await page.keyboard.press("Enter");
  assert.deepEqual((await text(page)).match(/name = "Worker.*/g), ['name = "Worker 2"', 'name = "Worker 3"', 'name = "Worker 1"']);
  assert.equal(await at(page), "manager.0.down");
  await page.dragAndDrop("summary:has-text('Access specification 1: Scan')", ".manager >> nth=0 >> .item >> nth=0");
  assert.match(await text(page), /name = "Worker 2"\n[^[]*access_specs = \["Scan", "Scan"\]/);
  await page.click("[aria-label='Remove manager B']");
  assert.deepEqual((await text(page)).match(/name = "Worker.*/g), ['name = "Worker 1"']);
  await page.click("[aria-label='Duplicate access specification 1']");
  assert.deepEqual((await text(page)).match(/^name = "Scan.*/gm), ['name = "Scan"', 'name = "Scan 2"']);
}

/** Sliders change the line that was edited last. */
async function sliders(page, server) {
  await begun(page, server);
  await page.click(named("access_spec.0.line.add"));
  await page.focus(named("access_spec.0.line.1.read"));
  await page.focus("[aria-label='Reads of line 2']");
  await page.keyboard.press("Home");
  for (let steps = 0; steps < 3; steps += 1) await page.keyboard.press("ArrowRight");
  assert.equal(await page.inputValue(named("access_spec.0.line.1.read")), "3");
  assert.match(await text(page), /read = 3\n/);
}

/** The disk list tells what may be written, and a cycling test is measured on what was chosen. */
export async function cycled(page, server, screens) {
  mkdirSync(join(server.target, "one"), { recursive: true });
  await begun(page, server);
  await page.waitForSelector(`.disks tr:has-text("${server.target}") >> text=new files, removed afterwards`, WAIT);
  await page.selectOption("select[name=engine]", "psync");
  await page.selectOption("select[name=cache]", "buffered");
  await page.fill(named("size"), "1MiB");
  await page.fill(named("run_time"), "1s");
  await page.fill(named("ramp_time"), "0s");
  await page.selectOption(named("test_type"), "cycle-outstanding-ios");
  await page.fill(named("cycling.iodepth.end"), "2");
  await page.waitForSelector("text=Steps: 1, 2.", WAIT);
  await page.waitForSelector(".actions.start >> text=2 cells, about 2 s", WAIT);
  await startable(page);
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.textContent("header .status"), "complete");
  await page.click("[aria-label='Full screen'] >> nth=0");
  await page.waitForSelector("dialog .gauge", WAIT);
  assert.equal(await page.textContent(".gauge-value"), await page.textContent(".tiles.live .value >> nth=0"));
  await page.screenshot({ path: join(screens, "gauge.png") });
  await page.click("dialog >> text=Close");
  await page.waitForSelector("dialog", { state: "detached", ...WAIT });
}

/** It fits, and can be used by everyone. */
async function fits(page, server, screens) {
  for (const name of ["one", "two"]) mkdirSync(join(server.target, name), { recursive: true });
  await built(page, server);
  await page.selectOption(named("test_type"), "cycle-outstanding-ios-and-targets");
  await startable(page);
  for (const [width, colorScheme] of [[320, "light"], [400, "dark"], [1400, "light"], [3840, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    for (let closed = 1; closed > 0; ) {
      closed = await page.$$eval(".item > details:not([open])", (all) => all.map((one) => (one.open = true)).length);
      await page.waitForTimeout(100);
    }
    await page.screenshot({ path: join(screens, `topology-${width}-${colorScheme}.png`), fullPage: true });
    assert.deepEqual(await tooWide(page), [], `at ${width} px`);
    assert.deepEqual(await violations(page), [], `at ${width} px`);
  }
}

export const topologyTests = [
  ["managers_and_workers_are_built_and_exported", (bed) => served(bed, managersAndWorkers)],
  ["workers_and_managers_are_moved_and_removed", (bed) => served(bed, moved, { viewport: TALL })],
  ["sliders_change_the_line_edited_last", (bed) => served(bed, sliders)],
  ["a_cycling_test_is_built_measured_and_shown_on_a_gauge", (bed) => served(bed, (page, server) => cycled(page, server, bed.screens))],
  ["the_topology_fits_every_screen", (bed) => served(bed, (page, server) => fits(page, server, bed.screens))],
];
