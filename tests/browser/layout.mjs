// What a reader sees at a glance, narrow and wide, by day and by night: nothing is cut, nothing lies
// over anything else, no link is dead, and everything has enough contrast.

import assert from "node:assert/strict";
import { join } from "node:path";

import { openAll, violations } from "./bed.mjs";
import { noteTexts, unreadable } from "./charts.mjs";

const NAMES = [
  "quick",
  "sweep",
  "repeated",
  "compared",
  "lab",
  "recover",
  "paper",
  "iozone",
  "curve",
  "search",
];
const WIDTHS = [400, 1400];
const THEMES = ["light", "dark"];

/** Texts that are cut, stick out of what they stand in, or lie over each other. */
const misplaced = (page) =>
  page.evaluate(() => {
    // Glyphs may be a little higher than their line.
    const [ASIDE, ABOVE] = [1.5, 5];
    const found = [];
    const say = (what, text) => found.push(`${what}: ${text.trim().slice(0, 60)}`);
    const isAside = (element) => {
      for (let one = element; one; one = one.parentElement) {
        const style = getComputedStyle(one);
        // For readers of screens only, or drawn on a canvas with checks of its own.
        if (style.clipPath === "inset(50%)" || one.matches(".skip, .plot, noscript")) return true;
      }
      return false;
    };
    const clips = (style) => style.overflowX !== "visible" || style.overflowY !== "visible";
    /** What is seen of a text's box, after all that scrolls or hides; says what is hidden for good. */
    const seen = (element, box, text) => {
      let { left, right, top, bottom } = box;
      let isFirstBlock = true;
      for (let one = element; one && one !== document.body; one = one.parentElement) {
        const style = getComputedStyle(one);
        if (style.display === "inline" || style.display === "contents") continue;
        const own = one.getBoundingClientRect();
        const scrolls = ["auto", "scroll"].includes(style.overflowX);
        if (isFirstBlock && !scrolls) {
          const sticksOut =
            left < own.left - ASIDE ||
            right > own.right + ASIDE ||
            top < own.top - ABOVE ||
            bottom > own.bottom + ABOVE;
          if (sticksOut) say(`out of <${one.localName} class="${one.className}">`, text);
        }
        isFirstBlock = false;
        if (!clips(style)) continue;
        const isCut = left < own.left - ASIDE || right > own.right + ASIDE;
        if (isCut && !scrolls) say("cut", text);
        left = Math.max(left, own.left);
        right = Math.min(right, own.right);
        top = Math.max(top, own.top);
        bottom = Math.min(bottom, own.bottom);
      }
      return { left, right, top, bottom, text };
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const boxes = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      const isText = node.data.trim() && !element.matches("script, style");
      if (!isText || !element.checkVisibility({ visibilityProperty: true }) || isAside(element)) {
        continue;
      }
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        if (box.width < 1) continue;
        const shown = seen(element, box, node.data);
        if (shown.right - shown.left > 1 && shown.bottom - shown.top > 1) boxes.push(shown);
      }
    }
    // A word that would fit a line of its own is not broken.
    for (const cell of document.querySelectorAll("th, td, dt, dd, h1, h2, h3, button")) {
      if (!cell.checkVisibility() || isAside(cell)) continue;
      const inner = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = inner.nextNode(); node; node = inner.nextNode()) {
        for (const { 0: word, index } of node.data.matchAll(/[^\s\-/:+,.]{2,20}/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
          if (lines.size > 1) say("broken", word);
        }
      }
    }
    boxes.sort((one, other) => one.top - other.top);
    boxes.forEach((one, index) => {
      for (const other of boxes.slice(index + 1)) {
        if (other.top > one.bottom) break;
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (width > 1 && height > 5) say(`over "${one.text.trim().slice(0, 30)}"`, other.text);
      }
    });
    return [...new Set(found)];
  });

/** Links that lead out of the page, or to nothing. */
const dead = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("a[href]")]
      .map((link) => link.getAttribute("href"))
      .filter((href) => !href.startsWith("#") || !document.getElementById(href.slice(1))),
  );

/** Colors of the style sheet that are too near to the paper: below 4.5 for text, 3 for lines. */
const faint = (page) =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("span"));
    const light = (name) => {
      probe.style.color = `var(--${name})`;
      const parts = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3);
      const [red, green, blue] = parts.map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
      const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const lines = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => [`color-${index}`, 3]);
    const texts = ["ink", "muted", "link", "doubt", "severe", "good"].map((name) => [name, 4.5]);
    const poor = [...lines, ...texts].filter(([name, least]) => contrast(name, "paper") < least);
    probe.remove();
    return poor.map(([name]) => name);
  });

/** Holds that all of the page as it is now can be read. */
async function holds(page, state) {
  const overhang = await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
  assert.ok(overhang <= 0, `${state}: the page scrolls sideways by ${overhang}`);
  assert.deepEqual(await misplaced(page), [], state);
  assert.deepEqual(await unreadable(page), [], `${state}: charts`);
}

const ofEach = NAMES.flatMap((name) =>
  WIDTHS.flatMap((width) =>
    THEMES.map((theme) => [
      `${name}_is_laid_out_${width}_wide_in_the_${theme}`,
      (bed) => {
        const viewport = { width, height: 900 };
        return bed.visit(name, { viewport, theme, script: noteTexts }, async (page) => {
          await holds(page, "as it opens");
          await page.screenshot({
            path: join(bed.screens, `${name}-${width}-${theme}.png`),
            fullPage: true,
          });
          assert.deepEqual(await faint(page), [], "colors near that of the paper");
          assert.deepEqual(await violations(page), []);
          await openAll(page);
          await holds(page, "all opened");
          assert.deepEqual(await dead(page), [], "links");
        });
      },
    ]),
  ),
);

async function aFigureOfALabOpensItsRuns(bed) {
  await bed.visit("lab", {}, async (page) => {
    const group = page.locator("#runs-0-1");
    assert.equal(await group.getAttribute("open"), null);
    await page.locator("table.side-by-side tbody tr").first().locator("td").nth(1).locator("a").click();
    await page.waitForFunction(() => document.getElementById("runs-0-1").open);
    const runs = group.locator("details.inner");
    assert.equal(await runs.count(), 3, "one for each repetition");
    await runs.first().locator("> summary").click();
    await runs.first().locator("canvas").first().waitFor();
    assert.ok((await runs.first().locator(".command").count()) > 0, "the run has its command");
    // The address leads there already; the link opens it again all the same.
    await group.locator("> summary").click();
    await page.waitForFunction(() => !document.getElementById("runs-0-1").open);
    await page.locator("table.side-by-side tbody tr").first().locator("td").nth(1).locator("a").click();
    await page.waitForFunction(() => document.getElementById("runs-0-1").open);
  });
}

async function whatIsWrongIsFound(bed) {
  const wrongs = {
    "out of": "h1 { width: 4rem; white-space: nowrap; }",
    cut: ".top { width: 9rem; overflow: hidden; }",
    over: ".facts div { margin-bottom: -1.5rem; }",
    broken: "tbody th { width: 1.5rem; max-width: 1.5rem; overflow-wrap: anywhere; }",
  };
  for (const [what, style] of Object.entries(wrongs)) {
    await bed.visit("lab", { viewport: { width: 1400, height: 900 } }, async (page) => {
      await page.evaluate((style) => {
        document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
      }, style);
      const found = await misplaced(page);
      assert.ok(found.some((one) => one.startsWith(what)), `${what}: ${JSON.stringify(found)}`);
    });
  }
}

async function theTrialsOfASearchHaveALimitAndAKnee(bed) {
  await bed.visit("search", {}, async (page) => {
    const series = page.locator("#curves .series button");
    const labels = await series.allInnerTexts();
    assert.equal(labels[0], "p99");
    assert.equal(labels[1], "limit, 2.00 ms");
    assert.match(labels[2], /^highest within limit, [\d.]+k per second$/);
  });
}

export const layoutTests = [
  ["what_is_wrong_with_a_layout_is_found", whatIsWrongIsFound],
  ...ofEach,
  ["a_figure_of_a_lab_opens_its_runs", aFigureOfALabOpensItsRuns],
  ["the_trials_of_a_search_have_a_limit_and_a_knee", theTrialsOfASearchHaveALimitAndAKnee],
];
