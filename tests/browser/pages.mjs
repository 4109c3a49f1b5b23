// What holds for every page: it opens alone, fits, and can be read by everyone.

import assert from "node:assert/strict";
import { join } from "node:path";

import { DESKTOP, PHONE, openAll, settled, violations } from "./bed.mjs";

const NAMES = [
  "single",
  "sweep",
  "postmark",
  "repeated",
  "compared",
  "doubtful",
  "steady",
  "curve",
  "empty",
  "hostile",
];
const THEMES = ["light", "dark"];
/** Pages of which pictures are left for people. */
const PICTURES = ["single", "sweep", "compared"];

const MEGABYTES_MAX = 5;
const SECONDS_MAX = 2;

/** How wide the page's content is beyond the window. */
const overhang = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

const ofEach = NAMES.flatMap((name) => [
  [
    `${name}_opens_alone_and_fits_a_phone`,
    (bed) =>
      bed.visit(name, { viewport: PHONE }, async (page) => {
        await openAll(page);
        assert.ok((await overhang(page)) <= 0, "the page scrolls sideways");
      }),
  ],
  ...THEMES.map((theme) => [
    `${name}_can_be_read_by_everyone_in_the_${theme}`,
    (bed) =>
      bed.visit(name, { theme }, async (page) => {
        await openAll(page);
        assert.deepEqual(await violations(page), []);
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

async function aThousandCellsOpenSoon(bed) {
  const megabytes = bed.size("thousand") / 1e6;
  assert.ok(megabytes < MEGABYTES_MAX, `${megabytes} MB`);
  await bed.visit("thousand", {}, async (page) => {
    // Work of the page's thread, not time on the wall: other programs may be busy beside it.
    const client = await page.context().newCDPSession(page);
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.reload();
    await settled(page);
    const { metrics } = await client.send("Performance.getMetrics");
    const value = (name) => metrics.find((metric) => metric.name === name).value;
    const seconds = value("TaskDuration");
    console.log(`${megabytes.toFixed(2)} MB, open after ${seconds.toFixed(2)} s of work`);
    assert.ok(seconds > 0 && seconds < SECONDS_MAX, `${seconds} s`);
    await page.evaluate(() => (document.getElementById("cell-700").open = true));
    await settled(page);
    assert.equal(await page.locator("#cell-700 canvas").count(), 4);
    assert.equal(await page.locator("#cell-700 .operations tbody tr").count(), 3);
  });
}

async function picturesAreLeftForPeople(bed) {
  for (const name of PICTURES) {
    for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      for (const theme of THEMES) {
        await bed.visit(name, { viewport, theme }, (page) =>
          page.screenshot({
            path: join(bed.screens, `${name}-${size}-${theme}.png`),
            fullPage: true,
          }),
        );
      }
    }
  }
}

export const pageTests = [
  ...ofEach,
  ["paper_is_white", paperIsWhite],
  ["a_thousand_cells_open_soon", aThousandCellsOpenSoon],
  ["pictures_are_left_for_people", picturesAreLeftForPeople],
];
