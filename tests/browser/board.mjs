// The site of a board with the published tables and a result of fio: pages without a server.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

import { openAll, violations } from "./bed.mjs";

const WIDTHS = [320, 1400, 3840];
const PAGES = [
  "index",
  "years",
  "compare",
  "compare/netapp-tmpfs--netapp-ufs",
  "tables/netapp-postmark-1",
  "tables/reads",
  "submissions/netapp-ufs",
  "submissions/fio",
];
const RESULT = {
  "fio version": "fio-3.36",
  timestamp_ms: 1700000010250,
  jobs: [
    {
      jobname: "reads",
      "job options": { rw: "randread", bs: "4k", iodepth: "1", numjobs: "1" },
      read: { io_bytes: 8192000, bw_bytes: 819200, iops: 200, runtime: 10000, total_ios: 2000 },
    },
  ],
};

let directory;

/** Makes the site once, when the first check needs it. */
function site() {
  if (directory) return directory;
  const program = process.env.PGMETER;
  assert.ok(program, "PGMETER names the program that makes the site");
  const made = mkdtempSync(join(tmpdir(), "pgmeter-board-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  const run = (...words) => execFileSync(program, ["board", ...words], { cwd: made, stdio: "ignore" });
  writeFileSync(join(made, "fio.json"), JSON.stringify(RESULT, null, 1));
  run("init", "board");
  const texts = ["--title", "fio", "--submitter", "Ann", "--license", "CC0-1.0"];
  run("add", "fio.json", "--board", "board", "--new-table", "reads", ...texts);
  appendFileSync(join(made, "board", "board.toml"), '\n[[pair]]\nfirst = "netapp-tmpfs"\nsecond = "netapp-ufs"\n');
  run("build", "board", "-o", "site");
  directory = join(made, "site");
  return directory;
}

/** Looks at a page of the site. */
const visit = (bed, name, options, look) => bed.visit(relative(bed.pages, join(site(), name)), options, look);

async function everyPageFitsAndCanBeRead(bed) {
  for (const name of PAGES) {
    for (const width of WIDTHS) {
      for (const theme of ["light", "dark"]) {
        await visit(bed, name, { viewport: { width, height: 900 }, theme }, async (page) => {
          await openAll(page);
          const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          assert.ok(wider <= 0, `${name} scrolls sideways at ${width}`);
          assert.deepEqual(await violations(page), [], `${name} at ${width}, ${theme}`);
        });
      }
    }
  }
}

/** Moves the focus to an element by the tab key alone. */
async function tabTo(page, selector) {
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((it) => document.activeElement.matches(it), selector)) return;
  }
  assert.fail(`the tab key does not reach ${selector}`);
}

async function tablesSortAndFilterByKeyboard(bed) {
  await visit(bed, "tables/netapp-postmark-1", {}, async (page) => {
    const rows = () => page.locator("table.sorted tbody tr:visible").count();
    const all = await rows();
    await tabTo(page, ".filters select[name='kind']");
    await page.keyboard.type("mem");
    const some = await rows();
    assert.ok(some > 0 && some < all, `${some} of ${all} rows`);
    await tabTo(page, "table.sorted th button");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("th[aria-sort]").getAttribute("aria-sort"), "ascending");
  });
}

async function anyTwoAreCompared(bed) {
  await visit(bed, "compare", {}, async (page) => {
    const [first, second] = [page.locator(".pair select").nth(0), page.locator(".pair select").nth(1)];
    await first.selectOption({ label: "UFS (1997)" });
    await second.selectOption({ label: "TMPFS (1997)" });
    const text = await page.locator("#compared").innerText();
    assert.match(text, /netapp-postmark-1: transactions\/s\s+36\s+2000\s+55\.556/);
  });
}

export const boardTests = [
  ["every_page_of_a_board_fits_and_can_be_read_by_everyone", everyPageFitsAndCanBeRead],
  ["tables_of_a_board_sort_and_filter_by_keyboard", tablesSortAndFilterByKeyboard],
  ["any_two_systems_of_a_board_are_compared", anyTwoAreCompared],
];
