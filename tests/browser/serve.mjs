// The page of `pgmeter serve`, against a real server that measures: the whole way of a user, and what
// is easily lost beside it.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { violations } from "./bed.mjs";
import { SMALL, TALL, WAIT, again, ask, go, measured, served, tooWide } from "./site.mjs";
import { columns, hide, streaming } from "./together.mjs";

const startable = (page) => page.waitForSelector("button.primary:not([disabled])", WAIT);

async function tagged(page) {
  await page.click("text=Tags and note");
  await page.fill("dialog input", "before, page");
  await page.fill("dialog textarea", "as it was");
  await page.click("dialog button.primary");
  await page.waitForSelector("header .tag >> text=before", WAIT);
}

/** From the list to the report and back, as a user goes. */
async function wholeWay(page, server) {
  await page.waitForSelector("text=No run is stored yet", WAIT);
  // A machine may be so slow that any short run would be over before it is looked at.
  await built(page, "30m");
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  await moves(page);
  await page.click("button:text-is('Stop')");
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.textContent("header .status"), "interrupted");
  await tagged(page);
  await page.click("text=Open the report");
  await page.waitForURL(/\/api\/runs\/.*\/page$/, WAIT);
  await page.waitForSelector("h1", WAIT);
  assert.match(await page.textContent("h1"), /File server/);
  await page.goBack();
  // What is repeated and compared is measured to its end.
  await built(page, "2s");
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  await page.waitForSelector("text=Open the report", WAIT);
  await again(page);
  await page.waitForSelector("text=Open the report", WAIT);
  assert.equal(await page.textContent("header .status"), "complete");
  await likeTheTable(page);
  await page.reload();
  await likeTheTable(page);
  await go(page, server, "#/runs");
  await page.waitForSelector("td.pick input >> nth=2", WAIT);
  // The newest are above.
  for (const index of [0, 1]) await page.check(`td.pick input >> nth=${index}`);
  await page.click("text=Compare 2 runs");
  await page.waitForSelector("#verdict", WAIT);
  assert.match(await page.textContent("#verdict"), /\d+ values compared: \d+ (better|worse|no difference shown|cannot tell)/);
  await page.click("text=Open the full comparison");
  await page.waitForURL(/\/api\/compare\/page/, WAIT);
  await page.waitForSelector("h1", WAIT);
}

/** Builds a workload of two cells on the page, and waits until it can be started. */
async function built(page, runTime) {
  await page.click(".top nav >> text=Build");
  await page.waitForSelector("[aria-label='Size, line 4']", WAIT);
  await page.fill("input[name=iodepth]", "1, 8");
  await page.fill("input[name=run_time]", runTime);
  await page.fill("input[name=ramp_time]", "0s");
  await page.fill("input[name=size]", "16MiB");
  await page.selectOption("select[name=cache]", "buffered");
  await page.fill("[aria-label='Size, line 4']", "16KiB");
  const text = await page.inputValue(".editor textarea");
  assert.match(text, /iodepth = \[1, 8\]/);
  assert.match(text, /size = "16KiB"\nof_size = 60/);
  await startable(page);
  await page.waitForSelector("text=2 cells, about", WAIT);
}

/** The tiles of a run that is over show what its table says of the last cell. */
async function likeTheTable(page) {
  await page.waitForSelector("text=Results of cell 2, as in its record", WAIT);
  const cells = await page.locator("[aria-label='Cells'] tbody tr >> nth=-1").locator("td").allTextContents();
  const tiles = await page.locator(".tiles.live .value").allTextContents();
  const [rate, bandwidth] = cells.slice(4, 6);
  assert.deepEqual(tiles.slice(0, 2), [rate, bandwidth]);
}

/** Tiles, charts and the heat map get more while the run goes on. */
async function moves(page) {
  const points = () => page.getAttribute(".spark polyline >> nth=0", "points");
  await page.waitForSelector(".heat canvas[data-columns]", WAIT);
  const [before, columns] = [await points(), await page.getAttribute(".heat canvas", "data-columns")];
  await page.waitForFunction((before) =>
    document.querySelector(".spark polyline").getAttribute("points") !== before, before, WAIT);
  await page.waitForFunction((columns) =>
    Number(document.querySelector(".heat canvas").dataset.columns) > Number(columns), columns, WAIT);
  assert.equal(await page.locator(".tiles.live .tile").count(), 6);
  assert.match(await page.textContent(".tiles.live .value >> nth=0"), /\d/);
  await drawn(page, ".heat canvas", 500);
  await drawn(page, ".plot canvas", 200);
  assert.match(await page.textContent(".progress"), /Cell \d of 2/);
  await page.hover(".heat canvas");
  await page.waitForSelector(".heat .tip:not([hidden])", WAIT);
}

/** Waits until more than so many pixels of a canvas are drawn, which happens with a later frame than the figures. */
const drawn = (page, selector, pixels) =>
  page.waitForFunction(([selector, pixels]) => {
    const canvas = document.querySelector(selector);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 3; at < data.length; at += 4) count += data[at] > 0 ? 1 : 0;
    return count > pixels;
  }, [selector, pixels], WAIT);

/** Every view at a width, by day and by night: nothing sticks out, nothing is hard to read. */
async function everyView(page, server, screens) {
  const run = await measured(page, server, "workers = 3\n");
  const other = await measured(page, server, "workers = 3\n");
  const views = {
    runs: ["#/runs", "td.pick"],
    run: [`#/run/${run}`, ".heat canvas[data-columns]"],
    build: ["#/build", "button.primary:not([disabled])"],
    queue: ["#/queue", "table"],
    compare: [`#/compare?runs=${run},${other}`, "#verdict"],
    trend: ["#/trend?workload=small", "table, .nothing"],
    labs: ["#/labs", "form button.primary"],
    papers: ["#/papers", "form button.primary"],
    options: ["#/build?workload=postmark", "[name='postmark.number']"],
  };
  for (const width of [320, 1400, 3840]) {
    await page.setViewportSize({ width, height: Math.round(Math.max(900, width * 0.6)) });
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      for (const [name, [hash, ready]] of Object.entries(views)) {
        await go(page, server, hash);
        await page.waitForSelector(ready, WAIT);
        await page.waitForTimeout(200);
        const where = `${name} at ${width} px, ${theme}`;
        await page.screenshot({ path: join(screens, `serve-${name}-${width}-${theme}.png`), fullPage: true });
        assert.deepEqual(await tooWide(page), [], where);
        assert.deepEqual(await violations(page), [], where);
      }
    }
  }
}

/** What is wrong is told with its line while one types, and leads to it. */
async function wrongLines(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  await page.fill(".editor textarea", "iodepht = 3\n\n[[access_spec]]\nname = \"a\"\n[[access_spec.line]]\nsize = \"4k\"\n");
  await page.waitForSelector(".verdicts .error", WAIT);
  assert.match(await page.textContent(".verdicts"), /line 1:1.*unknown key iodepht.*iodepth/s);
  assert.ok(await page.isDisabled("button.primary"));
  await page.click(".verdicts .place");
  assert.equal(await page.evaluate(() => getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), "iodepht = 3");
  // The form follows the text once it is right.
  await page.fill(".editor textarea", SMALL.replace("4MiB", "8MiB"));
  await startable(page);
  await page.waitForFunction(() => document.querySelector("input[name=size]").value === "8MiB", null, WAIT);
  await page.waitForFunction(() => document.querySelector("[aria-label='Read %, line 1']").value === "50", null, WAIT);
  await page.fill("[aria-label='Delay, line 1']", "1ms");
  await page.click("text=Add a line");
  const text = await page.inputValue(".editor textarea");
  assert.match(text, /delay = "1ms"/);
  assert.equal(text.match(/\[\[access_spec\.line\]\]/g).length, 2);
}

/** A job file of another program is judged by its lines, turned into TOML, saved and taken away. */
async function otherFormats(page, server) {
  await go(page, server, "#/build");
  await startable(page);
  const drop = (name, text) => page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await drop("job.fio", "[read]\nrw=randread\nbs=4k\nsize=4m\nnonsense=1\n");
  await page.waitForSelector(".verdicts .error", WAIT);
  assert.match(await page.textContent(".verdicts"), /line 5/);
  await drop("job.fio", "[read]\nrw=randread\nbs=4k\nsize=4m\nruntime=1\ntime_based=1\n");
  await startable(page);
  const { text } = await ask(page, "POST", "/api/convert", { workload: { builtin: "file-server" }, to: "icf" });
  const { text: jobs } = await ask(page, "POST", "/api/convert", { workload: { builtin: "file-server" }, to: "fio" });
  assert.match(jobs, /^; converted by pgmeter from file-server\n/);
  await drop("server.fio", jobs);
  await startable(page);
  await drop("server.icf", text);
  await page.waitForSelector("text=Convert to TOML", WAIT);
  await startable(page);
  await page.click("button:text-is('Convert to TOML')");
  await page.waitForFunction(() => document.querySelector(".editor textarea").value.includes("[["), null, WAIT);
  await page.waitForSelector("[aria-label='Size, line 8']", WAIT);
  await startable(page);
  await page.fill("input[placeholder='mine.toml']", "kept.toml");
  await page.click("button:text-is('Save')");
  await page.waitForFunction(() => [...document.querySelectorAll("option")].some(({ value }) => value === "kept.toml"), null, WAIT);
  const loaded = async (kind) => {
    const [file] = await Promise.all([page.waitForEvent("download", WAIT), page.click(`text=Download as ${kind}`)]);
    return file.suggestedFilename();
  };
  assert.equal(await loaded("TOML"), "kept.toml");
  assert.equal(await loaded(".icf"), "kept.icf");
}

/** Runs that wait can be put into another order and taken out. */
async function queue(page, server) {
  await ask(page, "PUT", "/api/queue/pause", { is_paused: true });
  for (const name of ["first", "second", "third"]) {
    const workload = { text: `name = "${name}"\n${SMALL}`, name: `${name}.toml` };
    await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  }
  await go(page, server, "#/queue");
  await page.waitForSelector("tbody tr >> nth=2", WAIT);
  const order = () => page.$$eval("tbody th", (all) => all.map((one) => one.textContent.replace(/\.toml$/, "")));
  assert.deepEqual(await order(), ["first", "second", "third"]);
  await page.click("[aria-label^='Run third'][aria-label$=' earlier']");
  await page.waitForFunction(() => document.querySelectorAll("tbody th")[1].textContent.startsWith("third"), null, WAIT);
  await page.click("[aria-label^='Remove first']");
  await page.waitForFunction(() => document.querySelectorAll("tbody th").length === 2, null, WAIT);
  assert.deepEqual(await order(), ["third", "second"]);
  await page.click("text=Clear");
  await page.click("dialog .danger");
  await page.waitForSelector("text=The queue is empty", WAIT);
}

/** A page that nobody sees reads no events; seen again it goes on, and has what others have. */
async function hiddenAndLate(page, server, context) {
  const workload = { text: SMALL.replace("1s", "8s"), name: "small.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  await go(page, server, `#/live/${id}`);
  await page.waitForSelector(".heat canvas[data-columns]", WAIT);
  await hide(page, true);
  await streaming(page, 0);
  // What had come before it fell asleep may still be drawn.
  await page.waitForTimeout(1000);
  const before = await columns(page);
  await page.waitForTimeout(2500);
  assert.equal(await columns(page), before, "nothing is drawn that nobody sees");
  await hide(page, false);
  await page.waitForFunction((before) => Number(document.querySelector(".heat canvas").dataset.columns) >= before + 2, before, WAIT);
  await page.waitForSelector("text=Open the report", WAIT);
  await page.waitForTimeout(1000);
  const late = await context.newPage();
  await late.goto(page.url());
  await late.waitForSelector(".heat canvas[data-columns]", WAIT);
  assert.equal(await late.getAttribute(".heat canvas", "data-columns"), String(await columns(page)));
  // Every chart has its numbers.
  for (const details of await late.locator("details.numbers > summary").all()) await details.click();
  await late.waitForTimeout(200);
  const tables = await late.$$eval("details.numbers", (all) => all.map((one) => one.querySelectorAll("tbody tr").length));
  assert.ok(tables.length >= 3 && tables.every((rows) => rows > 1), String(tables));
}

/** Two tabs look on while the server is killed and begins again, and then the run is. */
async function killed(page, server, context) {
  const workload = { text: `workers = 4\n${SMALL.replace("1s", "60s")}`, name: "small.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  await go(page, server, `#/live/${id}`);
  await page.waitForSelector(".heat canvas[data-columns]", WAIT);
  const second = await context.newPage();
  await second.goto(page.url());
  await second.waitForSelector(".heat canvas[data-columns]", WAIT);
  // Each worker by itself, with its numbers.
  assert.equal(await page.locator(".multiples >> nth=0 >> li").count(), 4);
  assert.match(await page.textContent(".multiples >> nth=0"), /\d/);
  await page.click("[aria-label='Workers and targets'] details.numbers > summary >> nth=0");
  await page.waitForSelector("[aria-label='Workers in the whole cell'] tbody tr >> nth=3", WAIT);
  const { entries } = await ask(page, "GET", "/api/queue");
  const before = await columns(page);
  await server.killAndBegin();
  for (const tab of [page, second]) {
    await tab.bringToFront();
    await tab.waitForFunction((before) =>
      Number(document.querySelector(".heat canvas").dataset.columns) >= before + 2, before, WAIT);
  }
  process.kill(entries[0].pid, "SIGKILL");
  for (const tab of [page, second]) {
    await tab.bringToFront();
    await tab.waitForSelector("header .status.interrupted", WAIT);
  }
  await page.waitForTimeout(500);
  assert.equal(await columns(page), await columns(second));
}

/** An experiment is repeated in the target and stands beside its figures, which another page has, too. */
async function publication(page, server) {
  await go(page, server, "#/papers");
  await page.click("[aria-label='Repeat lfs-postmark']");
  await page.waitForFunction(() => document.querySelector("select[name=paper]")?.value === "lfs-postmark", null, WAIT);
  await page.fill("input[name=scale]", "0.0001");
  await page.click("form button.primary");
  await page.waitForURL(/#\/(live|run)\//, WAIT);
  await go(page, server, "#/queue");
  await page.click("text=Compare with published results", WAIT);
  await page.waitForSelector("table.published tbody tr", WAIT);
  assert.match(await page.textContent("table.published thead"), /LFS, published/);
  assert.equal(await page.inputValue("select[name=published]"), "lfs-postmark");
  await go(page, server, "#/labs");
  await page.waitForSelector("text=No lab is stored yet", WAIT);
  await page.click("form button.primary");
  await page.waitForSelector("text=no file system was chosen", WAIT);
}

/** A program's options are fields, which are those of the text. */
async function options(page, server) {
  await go(page, server, "#/build?workload=postmark");
  await page.waitForSelector("[name='postmark.transactions']", WAIT);
  await page.fill("[name='postmark.transactions']", "700");
  await page.selectOption("[name='postmark.compat']", "1.54");
  await page.selectOption("[name='postmark.buffering']", "false");
  await page.fill("[name='postmark.read_block']", "4KiB");
  const text = await page.inputValue(".editor textarea");
  assert.match(text, /\[postmark\][^[]*transactions = 700\n[^[]*compat = "1.54"\nbuffering = false\nread_block = "4KiB"/);
  await startable(page);
  await page.click("button.primary");
  await page.waitForURL(/#\/run\//, WAIT);
  await page.waitForSelector("text=Open the report", WAIT);
  // What it was is changed and run again.
  await page.click("text=Change and run");
  await page.waitForFunction(() => document.querySelector("[name='postmark.transactions']")?.value === "700", null, WAIT);
}

/** A run is found, ticked and deleted without a mouse. */
async function keyboard(page, server) {
  const run = await measured(page, server);
  await go(page, server, "#/runs");
  await page.reload();
  await page.waitForSelector("td.pick", WAIT);
  const seen = [];
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const { activeElement: one } = document;
      const { outlineStyle } = getComputedStyle(one);
      return { text: one.textContent.trim() || one.getAttribute("aria-label"), tag: one.tagName, isSeen: outlineStyle !== "none" };
    });
    seen.push(at.text);
    assert.ok(at.isSeen || ["BODY", "INPUT", "SELECT"].includes(at.tag), `focus is seen at ${at.text}`);
    if (at.text === "More") break;
  }
  assert.equal(seen[0], "Skip to the content");
  assert.equal(seen.at(-1), "More", seen.join(", "));
  await page.keyboard.press("Enter");
  for (let steps = 0; steps < 5; steps += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]", WAIT);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  const { runs } = await ask(page, "GET", "/api/runs");
  assert.equal(runs[0].id, run, "nothing is deleted that was not confirmed");
}

/** What a new user sees first leads to every task. */
async function tasks(page, server) {
  await page.waitForSelector("ul.tasks", WAIT);
  const titles = await page.locator("ul.tasks strong").allInnerTexts();
  assert.deepEqual(titles, ["Quick test", "Test a workload", "Compare two targets", "File systems side by side", "Import"]);
  await page.click("text=Quick test");
  await page.waitForSelector("button.primary:not([disabled])", WAIT);
  assert.equal(await page.textContent(".where"), "quick.toml");
  await go(page, server, "#/runs");
  await page.click("ul.tasks >> text=Import");
  await page.waitForFunction(() => document.activeElement.type === "file", null, WAIT);
}

/** Two targets are measured one after the other and compared. */
async function pair(page, server) {
  const [a, b] = ["a", "b"].map((name) => join(server.target, name));
  for (const path of [a, b]) mkdirSync(path);
  for (let run = 0; run < 2; run += 1) await measured(page, server);
  const before = await ask(page, "GET", "/api/queue");
  // What waits can be taken out again: both runs would take minutes.
  await ask(page, "PUT", "/api/queue/pause", { is_paused: true });
  await go(page, server, "#/runs");
  await page.click("ul.tasks >> text=Compare two targets");
  await page.selectOption("[name=workload]", "randread-4k");
  await page.fill("[name=a]", a);
  await page.fill("[name=b]", a);
  await page.fill("[name=repetitions]", "2");
  await page.click("button.primary");
  await page.waitForSelector("text=both targets are the same", WAIT);
  assert.deepEqual(await violations(page), []);
  await page.fill("[name=b]", b);
  await page.click("button.primary");
  await page.waitForURL(/#\/pair\/.+\/.+/, WAIT);
  await page.waitForSelector("main ol li >> nth=1", WAIT);
  const text = await page.textContent("main ol");
  assert.ok(text.includes(a) && text.includes(b), text);
  const { entries } = await ask(page, "GET", "/api/queue");
  const waiting = entries.filter(({ state }) => state === "waiting");
  assert.deepEqual(waiting.map(({ request }) => request.settings.repetitions), ["2", "2"]);
  for (const { id } of waiting) await ask(page, "DELETE", `/api/queue/${id}`);
  await page.waitForSelector("text=no longer in the queue", WAIT);
  // Runs that have ended lead to their comparison.
  const ended = before.entries.map(({ id }) => id).sort();
  await go(page, server, `#/pair/${ended.join("/")}`);
  await page.click("text=Open the comparison");
  await page.waitForURL(/#\/compare\?/, WAIT);
  await page.waitForSelector("#verdict", WAIT);
}

async function withoutScript(page) {
  assert.match(await page.textContent("noscript, body"), /pgmeter run NAME --target DIR/);
}

/** A run is called what somebody called it, whatever that is. */
async function hostileNames(page, server) {
  const name = "<img src=x onerror=alert(1)>";
  const run = await measured(page, server, `name = "${name}"\n`);
  await ask(page, "PUT", `/api/runs/${run}/notes`, { note: `</td><script>alert(2)</script>` });
  await go(page, server, "#/runs");
  await page.waitForSelector("td.pick", WAIT);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.match(await page.textContent("tbody"), /<img src=x/);
  assert.match(await page.textContent("tbody"), /<script>alert/);
}

/** A run says where it stands on the board, and the board's site has its own scripts. */
async function board(page, server) {
  const run = await measured(page, server);
  await go(page, server, `#/run/${run}`);
  await page.waitForSelector("[aria-label=Board] >> text=No table of the board ranks", WAIT);
  const texts = ["--title", "Mine", "--submitter", "Ann", "--license", "CC0-1.0", "--new-table", "small"];
  server.command("board", "add", run, "--board", server.board, ...texts);
  const other = await measured(page, server);
  await go(page, server, `#/run/${other}`);
  await page.waitForSelector("[aria-label=Board] li >> text=/small: (1st|2nd) of 2 by IOPS .*Mine/", WAIT);
  for (const width of [320, 1400]) {
    await page.setViewportSize({ width, height: 1000 });
    assert.deepEqual(await tooWide(page), [], `${width} px`);
    assert.deepEqual(await violations(page), [], `${width} px`);
  }
  await page.click("[aria-label=Board] a");
  await page.waitForURL(/\/board\/tables\/small\.html$/, WAIT);
  // The script of the site makes the headings buttons, so the policy of the server admits it.
  await page.waitForSelector("th button", WAIT);
  await page.click("tbody >> text=Mine");
  await page.click("a[href$='-report.html']");
  await page.waitForSelector(".plot canvas", WAIT);
  await go(page, server, "#/runs");
  await page.click(".top nav >> text=Board");
  await page.waitForURL(/\/board\/index\.html$/, WAIT);
  await page.waitForSelector("h1", WAIT);
}

/** Who leaves a page while the server is slow hears no complaint of it. */
async function leftEarly(page, server) {
  const run = await measured(page, server);
  await page.route("**/api", async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    // It may have been given up meanwhile.
    await route.continue().catch(() => {});
  });
  await go(page, server, `#/run/${run}`);
  await page.waitForSelector("text=Open the report", WAIT);
  await go(page, server, "#/runs");
  await page.waitForSelector("td.pick", WAIT);
  await page.waitForTimeout(2000);
}

export const serveTests = [
  ["a_user_builds_starts_watches_stops_tags_repeats_and_compares", (bed) => served(bed, wholeWay, { viewport: TALL })],
  ["every_view_of_the_server_fits_and_can_be_read", (bed) => served(bed, (page, server) => everyView(page, server, bed.screens))],
  ["what_is_typed_wrongly_is_told_with_its_line", (bed) => served(bed, wrongLines)],
  ["job_files_of_others_are_judged_converted_and_kept", (bed) => served(bed, otherFormats)],
  ["runs_that_wait_are_ordered_and_taken_out", (bed) => served(bed, queue)],
  ["a_hidden_page_goes_on_where_it_was_and_a_late_one_has_the_same", (bed) => served(bed, hiddenAndLate, { viewport: TALL })],
  ["a_page_goes_on_with_its_server_and_tells_that_a_run_was_killed", (bed) =>
    served(bed, killed, { viewport: TALL, expected: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/ })],
  ["an_experiment_is_repeated_and_stands_beside_its_figures", (bed) => served(bed, publication)],
  ["a_program_is_built_by_its_options_and_changed_again", (bed) => served(bed, options)],
  ["the_list_of_runs_needs_no_mouse", (bed) => served(bed, keyboard)],
  ["the_first_page_leads_to_every_task", (bed) => served(bed, tasks)],
  ["two_targets_are_measured_one_after_the_other", (bed) => served(bed, pair)],
  ["without_a_script_the_page_tells_of_the_command_line", (bed) => served(bed, withoutScript, { javaScriptEnabled: false })],
  ["a_page_that_is_left_early_complains_of_nothing", (bed) => served(bed, leftEarly)],
  ["a_run_says_where_it_stands_on_the_board_of_the_server", (bed) => served(bed, board, { viewport: TALL, hasBoard: true })],
  ["names_and_notes_are_text", (bed) => served(bed, hostileNames)],
];
