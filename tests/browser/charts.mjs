// What the charts do: draw, tell, hide, change, and give their numbers.

import assert from "node:assert/strict";

import { DESKTOP, PHONE, openAll, settled } from "./bed.mjs";

/** How many of a canvas's dots have something drawn on them, by color. */
const dots = (page, index) =>
  page
    .locator("canvas")
    .nth(index)
    .evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const counts = {};
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] < 200) continue;
        const color = `${data[at]},${data[at + 1]},${data[at + 2]}`;
        counts[color] = (counts[color] ?? 0) + 1;
      }
      return counts;
    });

const BLUE = "11,107,176";
const ORANGE = "196,81,12";

async function hover(page, index, share = 0.6) {
  const over = page.locator(".u-over").nth(index);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  const tip = over.locator(".tip");
  await tip.waitFor({ state: "visible" });
  return tip.innerText();
}

async function allAreDrawn(bed) {
  const names = ["single", "sweep", "postmark", "repeated", "compared", "steady", "curve", "processes", "many-processes"];
  for (const name of names) {
    await bed.visit(name, {}, async (page) => {
      const count = await page.locator("canvas").count();
      assert.ok(count >= 2, `${count} charts on ${name}`);
      for (let index = 0; index < count; index += 1) {
        const box = await page.locator("canvas").nth(index).boundingBox();
        assert.ok(box.width > 250 && box.height > 150, `chart ${index} of ${name} is too small`);
        // Grid, ticks and text are gray; what was measured has a color.
        const drawn = Object.entries(await dots(page, index)).filter(([color, dots]) => {
          const parts = color.split(",").map(Number);
          return Math.max(...parts) - Math.min(...parts) > 60 && dots > 20;
        });
        assert.ok(drawn.length > 0, `chart ${index} of ${name} is empty`);
      }
    });
  }
}

async function everyChartSaysWhatItShows(bed) {
  await bed.visit("sweep", {}, async (page) => {
    const labels = await page
      .locator(".plot")
      .evaluateAll((plots) => plots.map((plot) => [plot.role, plot.ariaLabel]));
    for (const [role, label] of labels) {
      assert.equal(role, "img");
      assert.match(label, /\w+.*\d/);
    }
  });
}

async function aTipTellsTheValues(bed) {
  await bed.visit("sweep", {}, async (page) => {
    assert.match(await hover(page, 0), /depth \d+\s+File Server\s+[\d.]+k\s+Web Server\s+[\d.]+k/);
    assert.match(await hover(page, 1), /depth \d+\s+File Server\s+[\d.]+ µs/);
  });
  await bed.visit("single", {}, async (page) => {
    assert.match(await hover(page, 0), /[\d.]+ s\s+read\s+[\d.]+k\s+write\s+[\d.]+k/);
    assert.match(await hover(page, 2, 0.2), /[\d.]+ µs to [\d.]+ µs\s+read\s+[\d.]+ %/);
    assert.match(await hover(page, 3), /[\d.]+ %\s+read\s+[\d.]+ [µm]s/);
  });
  await bed.visit("processes", {}, async (page) => {
    const tip = await hover(page, 0, 0.6);
    assert.match(tip, /^rank 2 on node2.example.org\s+node2.example.org\s+[\d.]+k\s+median\s+[\d.]+k$/);
  });
}

async function aSeriesCanBeHidden(bed) {
  await bed.visit("single", {}, async (page) => {
    const button = page.locator(".series button").first();
    assert.equal(await button.innerText(), "read");
    const before = await dots(page, 0);
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    await page.waitForTimeout(100);
    const hidden = await dots(page, 0);
    assert.ok(before[BLUE] > 100 && !(hidden[BLUE] > 10), "the series is still there");
    assert.ok(hidden[ORANGE] > 100, "the other one is gone");
    await button.press("Enter");
    await page.waitForTimeout(100);
    assert.ok((await dots(page, 0))[BLUE] > 100, "the series does not come back");
  });
}

async function aViewCanBeChosen(bed) {
  await bed.visit("single", {}, async (page) => {
    const button = page.getByRole("button", { name: "bandwidth" }).first();
    await button.click();
    await settled(page);
    assert.match(await hover(page, 0), /MiB\/s/);
    const plot = page.locator(".plot").first();
    assert.match(await plot.getAttribute("aria-label"), /Throughput over time, bandwidth/);
    assert.equal(await button.getAttribute("aria-pressed"), "true");
  });
}

async function theThemeCanBeChanged(bed) {
  await bed.visit("single", { theme: "light" }, async (page) => {
    const background = () =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    assert.ok((await dots(page, 0))[BLUE] > 100);
    const button = page.locator("button.theme");
    await button.click();
    assert.notEqual(await background(), light);
    assert.equal(await button.innerText(), "Light");
    assert.ok(!((await dots(page, 0))[BLUE] > 10), "charts keep the colors of the other theme");
    await button.click();
    assert.equal(await background(), light);
  });
}

async function theNumbersAreATable(bed) {
  await bed.visit("repeated", {}, async (page) => {
    const figure = page.locator("figure").first();
    await figure.locator("summary").click();
    // The table is made when the event comes, which may be later.
    await figure.locator("tbody tr").first().waitFor();
    const rows = await figure.locator("tbody tr").allInnerTexts();
    assert.equal(rows.length, 3, "one for each depth");
    // Behind each figure is the knee's column, empty where it does not lie.
    assert.match(rows[0], /^1\s+[\d.]+k \([\d.]+k to [\d.]+k\)\s+–\s+[\d.]+ MiB\/s/);
  });
}

async function aLinkOpensItsCell(bed) {
  await bed.visit("sweep", {}, async (page) => {
    const cell = page.locator("#cell-9");
    assert.equal(await cell.getAttribute("open"), null);
    assert.equal(await cell.locator("canvas").count(), 0, "drawn before anyone looked");
    await page.locator("#results tbody tr").nth(8).locator("a").click();
    // The page hears of the link a moment after the click.
    await page.locator("#cell-9[open]").waitFor({ state: "attached" });
    await settled(page);
    assert.equal(await cell.locator("canvas").count(), 4);
  });
}

async function chartsFollowTheWindow(bed) {
  await bed.visit("single", {}, async (page) => {
    const width = () => page.locator(".plot canvas").first().evaluate((one) => one.clientWidth);
    const wide = await width();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForFunction((wide) => {
      return document.querySelector(".plot canvas").clientWidth < wide;
    }, wide);
    assert.ok((await width()) <= 358, "wider than the telephone");
  });
}

async function aTipStaysWithinItsChart(bed) {
  for (const [name, viewport] of [["wide", PHONE], ["mixed", PHONE], ["mixed", DESKTOP]]) {
    await bed.visit(name, { viewport }, async (page) => {
      const count = await page.locator(".u-over").count();
      for (let index = 0; index < count; index += 1) {
        for (const share of [0.02, 0.45, 0.55, 0.98]) {
          await hover(page, index, share);
          const plot = await page.locator(".plot").nth(index).boundingBox();
          const tip = await page.locator(".tip").nth(index).boundingBox();
          const isWithin = tip.x >= plot.x && tip.x + tip.width <= plot.x + plot.width;
          assert.ok(isWithin, `chart ${index} of ${name} at ${share}: ${JSON.stringify(tip)}`);
        }
      }
    });
  }
}

/** Takes note of every text that is written level into a canvas, with its ends. */
export function noteTexts() {
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...rest) {
    // A chart is cleared before it is drawn anew.
    this.canvas.texts = [];
    return clearRect.apply(this, rest);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const at = this.getTransform().transformPoint(new DOMPoint(x, y));
    const isLevel = Math.abs(this.getTransform().b) < 0.01;
    const { width } = this.measureText(text);
    const share = { center: 0.5, right: 1, end: 1 }[this.textAlign] ?? 0;
    const left = at.x - width * share;
    this.canvas.texts ??= [];
    if (isLevel && text) this.canvas.texts.push({ text, y: at.y, left, right: left + width });
    return fillText.call(this, text, x, y, ...rest);
  };
}

/** Texts of one chart that lie over each other or end beyond it. */
export const unreadable = (page) =>
  page.locator("canvas").evaluateAll((all) =>
    all.flatMap((canvas) => {
      const texts = (canvas.texts ?? []).toSorted((a, b) => a.y - b.y || a.left - b.left);
      const known = new Set();
      const once = texts.filter(({ text, y, left }) => {
        const key = `${text} ${y} ${left}`;
        return !known.has(key) && known.add(key);
      });
      const cut = once.filter(({ left, right }) => left < -1 || right > canvas.width + 1);
      // Letters are about so high on each side of where they are written.
      const height = 6 * devicePixelRatio;
      const over = once.filter((one, index) =>
        once
          .slice(index + 1)
          .some(
            (next) =>
              next.y - one.y < height && next.left < one.right && one.left < next.right,
          ),
      );
      return [...cut.map(({ text }) => `cut: ${text}`), ...over.map(({ text }) => `over: ${text}`)];
    }),
  );

async function textsOfChartsCanBeRead(bed) {
  for (const viewport of [DESKTOP, PHONE]) {
    for (const name of ["wide", "postmark", "single", "sweep", "mixed", "steady", "curve"]) {
      await bed.visit(name, { viewport, script: noteTexts }, async (page) => {
        await openAll(page);
        const count = await page.locator("canvas").evaluateAll(
          (all) => all.filter((one) => one.texts?.length > 3).length,
        );
        assert.ok(count >= 2, `${count} charts with texts on ${name}`);
        assert.deepEqual(await unreadable(page), [], `${name}, ${viewport.width} wide`);
      });
    }
  }
}

export const chartTests = [
  ["every_chart_is_drawn", allAreDrawn],
  ["every_chart_says_what_it_shows", everyChartSaysWhatItShows],
  ["a_tip_tells_the_values", aTipTellsTheValues],
  ["a_series_can_be_hidden", aSeriesCanBeHidden],
  ["a_view_can_be_chosen", aViewCanBeChosen],
  ["the_theme_can_be_changed", theThemeCanBeChanged],
  ["the_numbers_are_a_table", theNumbersAreATable],
  ["a_link_opens_its_cell", aLinkOpensItsCell],
  ["charts_follow_the_window", chartsFollowTheWindow],
  ["a_tip_stays_within_its_chart", aTipStaysWithinItsChart],
  ["texts_of_charts_can_be_read", textsOfChartsCanBeRead],
];
