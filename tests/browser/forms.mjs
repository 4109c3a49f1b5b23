// The form of Build: jobs, filesets, phases and acts are filled in, their text is that of a workload,
// and what is in the text is in the form.

import assert from "node:assert/strict";
import { join } from "node:path";

import { violations } from "./bed.mjs";
import { WAIT, ask, go, served, tooWide } from "./site.mjs";

const startable = (page) => page.waitForSelector("button.primary:not([disabled])", WAIT);
const text = (page) => page.inputValue(".editor textarea");
const named = (name) => `[name='${name}']`;
const removed = (page, selector) => page.waitForSelector(selector, { state: "detached", ...WAIT });

async function write(page, server, workload) {
  await go(page, server, "#/build");
  await startable(page);
  await page.fill(".editor textarea", workload);
}

/** Starts what is on the page and waits until it was measured. */
async function measure(page) {
  await startable(page);
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.textContent("header .status"), "complete");
}

/** A job from nothing to its run, and a second beside it. */
async function jobs(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  await page.click("text=Empty workload");
  await page.click("button:text-is('A job')");
  await page.fill(named("job.0.name"), "reads, and \"more\"");
  await page.selectOption(named("job.0.engine"), "null");
  await page.fill(named("job.0.block_size"), "4k:60,64k:40");
  await page.fill(named("job.0.run_time"), "1s");
  await page.click("text=Add a job");
  // Where one is added, its first field is next.
  assert.equal(await page.evaluate(() => document.activeElement.name), "job.1.name");
  await page.fill(named("job.1.name"), "log");
  await page.selectOption(named("job.1.engine"), "null");
  await page.fill(named("job.1.read"), "0");
  await page.fill(named("job.1.run_time"), "1s");
  await page.fill(named("job.1.rate"), "200/s");
  await page.click(".item >> nth=1 >> text=More settings");
  await page.selectOption(named("job.1.waits"), "true");
  await page.fill(named("job.1.cpus"), "0");
  await page.fill(named("job.1.cpus"), "");
  assert.equal(await text(page), `name = "mine"

[[job]]
name = "reads, and \\"more\\""
read = 70
random = 100
block_size = "4k:60,64k:40"
size = "64MiB"
run_time = "1s"
engine = "null"

[[job]]
name = "log"
read = 0
random = 100
block_size = "4KiB"
size = "64MiB"
run_time = "1s"
engine = "null"
rate = "200/s"
waits = true
`);
  await page.waitForSelector("text=2 cells", WAIT);
  await measure(page);
}

/** Files, a phase, its groups and acts from nothing to their run. */
async function phases(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  await page.click("text=Empty workload");
  await page.click("text=Files and a phase");
  await page.selectOption("select[name=engine]", "null");
  await page.fill(named("fileset.0.name"), "mail");
  await page.fill(named("fileset.0.size"), "{ lognormal = \"9KiB\", spread = 1.6, most = \"1MiB\" }");
  await page.fill(named("phase.0.run_time"), "1s");
  await page.fill(named("phase.0.group.0.workers"), "2");
  await page.fill(named("phase.0.group.0.body.0.open"), "mail");
  await page.click(".act-list > li >> nth=0 >> text=more");
  await page.fill(named("phase.0.group.0.body.0.pick"), "{ zipf = 0.9 }");
  await page.click(named("phase.0.group.0.body.add"));
  assert.equal(await page.evaluate(() => document.activeElement.name), "phase.0.group.0.body.3.verb");
  await page.selectOption(named("phase.0.group.0.body.3.verb"), "rename");
  await page.fill(named("phase.0.group.0.body.3.rename"), "@");
  await page.click(named("phase.0.group.0.body.add"));
  await page.selectOption(named("phase.0.group.0.body.4.verb"), "transaction");
  await page.fill(named("phase.0.group.0.body.4.transaction"), "look");
  await page.selectOption(named("phase.0.group.0.body.4.do.0.verb"), "stat");
  await page.click("text=Add a way");
  await page.click("text=Remove way");
  await removed(page, named("way.0.name"));
  assert.equal(await text(page), `name = "mine"
engine = "null"

[[fileset]]
name = "mail"
count = 100
present = "100%"
size = { lognormal = "9KiB", spread = 1.6, most = "1MiB" }

[[phase]]
name = "phase-1"
run_time = "1s"

[[phase.group]]
body = [
  { open = "mail", pick = { zipf = 0.9 } },
  { read = "rest", piece = "64KiB" },
  "close",
  { rename = "@", to = "mail" },
  { transaction = "look", do = [{ stat = "mail" }] },
]
workers = 2
`);
  // A name that is free is needed where files are renamed, and there is none.
  await page.click("[aria-label='Remove act 4']");
  await removed(page, named("phase.0.group.0.body.3.rename"));
  await measure(page);
}

/** What somebody wrote beside a value stays, whatever the form does. */
async function comments(page, server) {
  const before = `# Of mine.
name = "kept" # short
engine = "null"

# What is there.
[[fileset]]
name = "a"
count = 10 # few
present = 100

# What was there.
[[fileset]]
name = "b"

[[phase]]
name = "p"

[[phase.group]]
rounds = 5
body = [
  # First of all.
  { open = "a" }, # as it is
  { read = "4KiB", at = { random = "uniform" } },
  "close",
]
`;
  await write(page, server, before);
  await page.click("summary >> text=Fileset 1: a");
  await page.fill(named("fileset.0.count"), "20");
  await page.click("[aria-label='Move fileset 1 down']");
  await page.waitForSelector("text=Fileset 2: a", WAIT);
  assert.match(await text(page), /^# Of mine.*# What was there.\n\[\[fileset\]\]\nname = "b"\n\n# What is there.\n\[\[fileset\]\]\nname = "a"\ncount = 20 # few\npresent = 100\n\n\[\[phase/s);
  await page.click("[aria-label='Move fileset 2 up']");
  await page.click("summary >> text=Fileset 2: b");
  await page.click("[aria-label='Remove fileset 2']");
  await page.fill(named("phase.0.group.0.body.1.read"), "8KiB");
  await page.click("[aria-label='Move act 3 up']");
  await page.click("[aria-label='Move act 2 down']");
  await page.selectOption(named("phase.0.group.0.body.1.verb"), "write");
  await page.selectOption(named("phase.0.group.0.body.1.verb"), "read");
  await page.fill(named("phase.0.group.0.rounds"), "");
  await page.fill(named("phase.0.group.0.rounds"), "5");
  const after = before.replace("count = 10", "count = 20").replace("# What was there.\n[[fileset]]\nname = \"b\"\n\n", "")
    .replace("4KiB", "8KiB").replace("rounds = 5\n", "").replace(/\n$/, "\nrounds = 5\n");
  assert.equal(await text(page), after);
  await startable(page);
}

/** What is wrong is told at the field that it is in, wherever that is. */
async function wrongFields(page, server) {
  await write(page, server, `[[job]]\nname = "a"\nread = 200\n\n[[job]]\nname = "b"\n`);
  // The group is opened for it.
  const wrong = `${named("job.0.read")}[aria-invalid=true]`;
  await page.waitForSelector(wrong, WAIT);
  const note = await page.getAttribute(wrong, "aria-errormessage");
  assert.match(await page.textContent(`[id='${note}']`), /200 is outside 0 % to 100 %/);
  await page.fill(named("job.0.read"), "20");
  await startable(page);
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  await page.fill(".editor textarea", `[[fileset]]\nname = "f"\n[[phase]]\nname = "p"\n[[phase.group]]\nbody = [\n  { create = "g" },\n]\n`);
  await page.waitForSelector(`${named("phase.0.group.0.body.0.create")}[aria-invalid=true]`, WAIT);
  // What is not a key has no field, and is told at the group that it is in.
  await page.fill(".editor textarea", `[[job]]\nname = "a"\nraed = 20\n`);
  await page.waitForSelector("[id='wrong-job.0'] >> text=unknown key raed", WAIT);
  // The form waits while the text cannot be read.
  await page.fill(".editor textarea", `[[job]\nname = "a"\n`);
  await page.waitForSelector("text=The form is available again once the text is valid TOML.", WAIT);
  await page.fill(".editor textarea", `[[job]]\nname = "b"\n`);
  await page.waitForFunction(() => document.querySelector("[name='job.0.name']")?.value === "b", null, WAIT);
  await startable(page);
}

/** Groups and acts are reached, added, moved and removed without a mouse. */
async function keyboard(page, server) {
  await write(page, server, `engine = "null"\n\n[[fileset]]\nname = "f"\npresent = 100\n\n[[phase]]\nname = "p"\nrun_time = "1s"\n\n[[phase.group]]\nbody = [\n  { stat = "f" },\n]\n`);
  const add = named("phase.0.group.0.body.add");
  await page.waitForSelector(add, WAIT);
  await page.focus(add);
  await page.keyboard.press("Enter");
  const at = () => page.evaluate(() => document.activeElement.name);
  assert.equal(await at(), "phase.0.group.0.body.1.verb");
  await page.keyboard.type("fst");
  await page.waitForFunction(() => document.querySelector("[name='phase.0.group.0.body.1.verb']").value === "fstat");
  for (let steps = 0; steps < 9 && (await at()) !== "phase.0.group.0.body.1.up"; steps += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await at(), "phase.0.group.0.body.0.down");
  assert.match(await page.textContent("#announce"), /act 2 is now number 1/);
  await page.keyboard.press("Enter");
  assert.match(await text(page), /\{ stat = "f" \},\n  "fstat",\n\]/);
  await page.focus("[aria-label='Remove act 2']");
  await page.keyboard.press("Enter");
  assert.equal(await at(), "phase.0.group.0.body.add");
  await startable(page);
}

/** A file of another format is run with settings beside it, which are still there once it is TOML. */
async function besideFiles(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  const buffer = Buffer.from("[look]\nrw=randread\nbs=4k\nsize=4m\n");
  await page.setInputFiles("input[type=file]", { name: "job.fio", mimeType: "text/plain", buffer });
  await page.waitForSelector("text=This file runs as it is", WAIT);
  await page.selectOption("select[name=engine]", "null");
  await page.fill(named("run_time"), "1s");
  await page.fill(named("iodepth"), "1, 2");
  await page.waitForSelector("text=2 cells.", WAIT);
  await measure(page);
  await page.click("text=Change and run");
  await page.waitForFunction(() => document.querySelector("input[name=iodepth]")?.value === "1, 2", null, WAIT);
  await startable(page);
  await page.click("button:text-is('Convert to TOML')");
  await page.waitForSelector(named("job.0.name"), WAIT);
  assert.match(await text(page), /engine = "null".*run_time = "1s".*\n\[\[job\]\]/s);
  await page.waitForSelector("text=2 cells.", WAIT);
}

/** Every workload that is built in is read as the server reads it, and forms fit and can be read. */
async function everyWorkload(page, server, screens) {
  const { workloads } = await ask(page, "GET", "/api/workloads");
  const lists = ["access_spec", "job", "fileset", "way", "tokens", "phase", "rounds"];
  for (const { name } of workloads) {
    const shown = await ask(page, "POST", "/api/show", { builtin: name });
    const counts = await page.evaluate(async ([text, lists]) => {
      const { TomlText } = await import("/assets/toml.js");
      const doc = TomlText.read(text);
      return { parts: doc.count(["part"]), lists: lists.map((list) => doc.count([list])) };
    }, [shown.toml, lists]);
    if (counts.parts > 0) assert.equal(counts.parts, shown.workloads.length, name);
    else assert.deepEqual(counts.lists, lists.map((list) => shown.workloads[0][list]?.length ?? 0), name);
  }
  for (const name of ["maildir", "compile", "fs-mark"]) {
    for (const [width, colorScheme] of [[360, "light"], [1400, "dark"]]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await go(page, server, `#/build?workload=${name}`);
      await startable(page);
      // Of what is within each other, what is around it comes first.
      for (let closed = 1; closed > 0; ) {
        closed = await page.$$eval(".item > details:not([open])", (all) => all.map((one) => (one.open = true)).length);
        await page.waitForTimeout(100);
      }
      await page.screenshot({ path: join(screens, `form-${name}-${width}-${colorScheme}.png`), fullPage: true });
      assert.deepEqual(await tooWide(page), [], `${name} at ${width} px`);
      assert.deepEqual(await violations(page), [], `${name} at ${width} px`);
    }
  }
}

export const formTests = [
  ["jobs_are_built_in_the_form_and_measured", (bed) => served(bed, jobs)],
  ["files_phases_and_acts_are_built_in_the_form_and_measured", (bed) => served(bed, phases)],
  ["the_form_keeps_comments_and_all_that_it_does_not_change", (bed) => served(bed, comments)],
  ["what_is_wrong_is_told_at_its_field", (bed) => served(bed, wrongFields)],
  ["files_of_others_are_run_with_settings_beside_them", (bed) => served(bed, besideFiles)],
  ["acts_need_no_mouse", (bed) => served(bed, keyboard)],
  ["every_workload_has_a_form_that_fits", (bed) => served(bed, (page, server) => everyWorkload(page, server, bed.screens))],
];
