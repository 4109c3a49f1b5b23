// What holds for every page: it opens alone, fits, and can be read by everyone.

import assert from "node:assert/strict";
import { join } from "node:path";

import { DESKTOP, PHONE, openAll, settled, violations } from "./bed.mjs";

const NAMES = [
  "quick",
  "search",
  "single",
  "sweep",
  "postmark",
  "repeated",
  "compared",
  "compared-once",
  "doubtful",
  "steady",
  "curve",
  "mixed",
  "wide",
  "processes",
  "many-processes",
  "lab",
  "recover",
  "paper",
  "iozone",
  "summary",
  "summary-of-mixed",
  "empty",
  "hostile",
];
const THEMES = ["light", "dark"];
/** Pages of which pictures are left for people. */
const PICTURES = ["single", "sweep", "compared", "mixed", "processes", "many-processes", "lab"];

const MEGABYTES_MAX = 5;
/** Elements that are there before anything is opened, and charts that are drawn. */
const ELEMENTS_MAX = 40_000;
const CHARTS_MAX = 12;
/** How much more work an element may be than one of a page of a few cells. */
const GROWTH_MAX = 3;

/** How wide the page's content is beyond the window. */
const overhang = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/** Leaves a picture for people, where there is to be one. */
async function picture(bed, page, name, kind) {
  if (PICTURES.includes(name)) {
    await page.screenshot({ path: join(bed.screens, `${name}-${kind}.png`), fullPage: true });
  }
}

/** The button says which theme it leads to. */
async function themeButton(page, theme) {
  const words = theme === "light" ? ["Dark", "Light"] : ["Light", "Dark"];
  const button = page.locator("button.theme");
  assert.equal(await button.innerText(), words[0]);
  await button.click();
  assert.equal(await button.innerText(), words[1], "pressed");
}

const ofEach = NAMES.flatMap((name) => [
  [
    `${name}_opens_alone_and_fits_a_phone`,
    (bed) =>
      bed.visit(name, { viewport: PHONE }, async (page) => {
        await picture(bed, page, name, "phone");
        await openAll(page);
        assert.ok((await overhang(page)) <= 0, "the page scrolls sideways");
      }),
  ],
  ...THEMES.map((theme) => [
    `${name}_can_be_read_by_everyone_in_the_${theme}`,
    (bed) =>
      bed.visit(name, { theme }, async (page) => {
        await picture(bed, page, name, theme);
        await openAll(page);
        assert.deepEqual(await violations(page), []);
        await themeButton(page, theme);
      }),
  ]),
]);

async function paperIsWhite(bed) {
  const viewport = { width: 700, height: 1000 };
  await bed.visit("sweep", { theme: "dark", viewport }, async (page) => {
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const seen = await page.evaluate(() => ({
      background: getComputedStyle(document.body).backgroundColor,
      navigation: getComputedStyle(document.querySelector("nav")).display,
      widest: Math.max(...[...document.querySelectorAll("canvas")].map((one) => one.clientWidth)),
    }));
    assert.equal(seen.background, "rgb(251, 251, 249)");
    assert.equal(seen.navigation, "none");
    assert.ok(seen.widest <= viewport.width, `${seen.widest} pixels do not fit on paper`);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(after, "rgb(21, 24, 27)");
    const paper = await page.pdf({ format: "A4" });
    assert.equal(paper.subarray(0, 5).toString(), "%PDF-");
  });
}

async function aSummaryIsOneSheet(bed) {
  for (const name of ["summary", "summary-of-curve", "summary-of-mixed"]) {
    await bed.visit(name, { viewport: { width: 700, height: 1000 } }, async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const paper = (await page.pdf({ format: "A4", preferCSSPageSize: true })).toString("latin1");
      const [, sheets] = paper.match(/\/Count (\d+)/);
      assert.equal(sheets, "1", `sheets of ${name}`);
      assert.ok((await page.locator(".tile").count()) <= 6);
      assert.ok((await page.locator("main dl.verdict dt").count()) <= 3);
      assert.ok((await page.locator("canvas").count()) <= 2);
    });
  }
}

/** The answer of a page of one run: what to do next is the end of it. */
async function theAnswerIsOnTheFirstScreen(bed) {
  const viewport = { width: 1400, height: 900 };
  for (const name of ["quick", "search", "single", "sweep", "postmark", "repeated", "doubtful", "curve", "mixed"]) {
    await bed.visit(name, { viewport }, async (page) => {
      const next = page.locator("dl.verdict dt", { hasText: "Next" }).last();
      const { y, height } = await next.boundingBox();
      assert.ok(y + height <= viewport.height, `${name}: the answer ends at ${y + height}`);
    });
  }
}

/** Names at the beginning of rows of which something is hidden. */
const cutNames = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("tbody th")]
      .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.innerText),
  );

async function noNameIsCut(bed) {
  for (const viewport of [DESKTOP, PHONE]) {
    for (const name of ["mixed", "sweep", "lab", "compared"]) {
      await bed.visit(name, { viewport }, async (page) => {
        await openAll(page);
        assert.deepEqual(await cutNames(page), [], name);
      });
    }
  }
}

async function theHeadlineIsOnTheTelephone(bed) {
  for (const name of ["mixed", "sweep", "repeated", "postmark"]) {
    await bed.visit(name, { viewport: PHONE }, async (page) => {
      const cells = page.locator("table.headline td");
      const figures = await cells.evaluateAll((all) =>
        all.map((one) => [one.innerText, one.getBoundingClientRect().right]),
      );
      assert.ok(figures.length >= 8, `${figures.length} figures of ${name}`);
      for (const [text, right] of figures) {
        assert.ok(right <= PHONE.width, `${text} of ${name} ends at ${right}`);
      }
    });
  }
}

async function blockSizesHaveAxesOfTheirOwn(bed) {
  await bed.visit("mixed", {}, async (page) => {
    const captions = await page.locator("table.headline caption").allInnerTexts();
    assert.deepEqual(captions, [
      "Operations per second",
      "Bandwidth of transfers of 64 KiB or more",
    ]);
  });
}

async function codeIsCode(bed) {
  for (const name of ["mixed", "lab", "recover", "paper"]) {
    await bed.visit(name, {}, async (page) => {
      await openAll(page);
      const text = await page.evaluate(() => document.body.innerText);
      const found = text.split("\n").filter((line) => line.includes("`"));
      assert.deepEqual(found, [], `backticks of ${name}`);
      assert.ok((await page.locator("code").count()) > 0, `no code on ${name}`);
    });
  }
}

/** Loads the page again, and tells what there is on it and what that took. */
async function opening(page) {
  // Work of the page's thread, not time on the wall: other programs may be busy beside it.
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.reload();
  await settled(page);
  const { metrics } = await client.send("Performance.getMetrics");
  const seconds = metrics.find(({ name }) => name === "TaskDuration").value;
  const elements = await page.locator("*").count();
  return { seconds, elements, charts: await page.locator("canvas").count() };
}

async function aThousandCellsOpenSoon(bed) {
  const megabytes = bed.size("thousand") / 1e6;
  assert.ok(megabytes < MEGABYTES_MAX, `${megabytes} MB`);
  let few;
  await bed.visit("sweep", {}, async (page) => {
    few = await opening(page);
  });
  await bed.visit("thousand", {}, async (page) => {
    const { seconds, elements, charts } = await opening(page);
    console.log(`${megabytes.toFixed(2)} MB, open after ${seconds.toFixed(2)} s of work`);
    assert.ok(elements < ELEMENTS_MAX, `${elements} elements`);
    assert.ok(charts < CHARTS_MAX, `${charts} charts`);
    // How fast the machine is does not matter: only that the work grows with the page.
    const growth = seconds / elements / (few.seconds / few.elements);
    assert.ok(growth < GROWTH_MAX, `${growth} times the work for an element of a page of few cells`);
    await page.evaluate(() => (document.getElementById("cell-700").open = true));
    await settled(page);
    assert.equal(await page.locator("#cell-700 canvas").count(), 4);
    assert.equal(await page.locator("#cell-700 .operations tbody tr").count(), 3);
  });
}

export const pageTests = [
  ...ofEach,
  ["no_name_is_cut", noNameIsCut],
  ["the_headline_is_on_the_telephone", theHeadlineIsOnTheTelephone],
  ["block_sizes_have_axes_of_their_own", blockSizesHaveAxesOfTheirOwn],
  ["code_is_code", codeIsCode],
  ["paper_is_white", paperIsWhite],
  ["a_summary_is_one_sheet", aSummaryIsOneSheet],
  ["the_answer_is_on_the_first_screen", theAnswerIsOnTheFirstScreen],
  ["a_thousand_cells_open_soon", aThousandCellsOpenSoon],
];
