// A browser with nothing in it, and pages in it.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The browser and where its pages and pictures are. */
export class Bed {
  static async open(pages, screens) {
    const bed = new Bed();
    // A directory of its own that is removed at the end is what `launch` takes.
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    bed.browser = await chromium.launch({ executablePath, args: FLAGS });
    Object.assign(bed, { pages, screens });
    return bed;
  }

  async close() {
    await this.browser.close();
  }

  /** The file of a page. */
  path(name) {
    return join(this.pages, `${name}.html`);
  }

  size(name) {
    return statSync(this.path(name)).size;
  }

  /** Opens a page, lets `look` at it, and holds that it asked for nothing and complained of nothing. */
  async visit(name, options, look) {
    const { viewport = DESKTOP, theme = "light", script } = options;
    const context = await this.browser.newContext({ viewport, colorScheme: theme });
    const page = await context.newPage();
    if (script) await page.addInitScript(script);
    const complaints = [];
    const url = pathToFileURL(this.path(name)).href;
    page.on("console", (message) => {
      const isComplaint = ["error", "warning"].includes(message.type());
      // Only the checks read back what was drawn.
      const isOurs = message.text().includes("willReadFrequently");
      if (isComplaint && !isOurs) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    context.on("request", (request) => {
      if (request.url().split("#")[0] !== url && !request.url().startsWith("data:")) {
        complaints.push(`asked for ${request.url()}`);
      }
    });
    try {
      await page.goto(url);
      await settled(page);
      await look(page);
      assert.deepEqual(complaints, [], `complaints of ${name}`);
    } finally {
      await context.close();
    }
  }
}

/** Waits until everything that waits in an open part of the page is made. */
export async function settled(page) {
  await page.waitForFunction(() => {
    const waiting = [...document.querySelectorAll("script[type='text/plain']")];
    const made = [...document.querySelectorAll("[aria-busy='true']")];
    const open = [...waiting, ...made].filter((one) => !one.closest("details:not([open])"));
    const plots = [...document.querySelectorAll(".plot")];
    return open.length === 0 && plots.every((plot) => plot.querySelector("canvas"));
  });
}

/** Opens every part of the page that can be opened. */
export async function openAll(page) {
  for (let closed = 1; closed > 0; ) {
    closed = await page.evaluate(() => {
      const all = [...document.querySelectorAll("details:not([open])")];
      all.forEach((one) => (one.open = true));
      return all.length;
    });
    await settled(page);
  }
}

/** The serious violations of accessibility rules. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}
