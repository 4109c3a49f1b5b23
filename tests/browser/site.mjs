// A server of its own for each check, which measures, and a browser that looks at it.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const DESKTOP = { width: 1400, height: 1000 };
/** Charts out of sight are not drawn. */
export const TALL = { width: 1400, height: 3000 };
export const WAIT = { timeout: 120000 };
/** A workload that is measured quickly on any machine. */
export const SMALL = "size = \"4MiB\"\nramp_time = \"0s\"\nrun_time = \"1s\"\ncache = \"buffered\"\n" +
  "[[access_spec]]\nname = \"Small\"\n[[access_spec.line]]\nsize = \"4KiB\"\nread = 50\nrandom = 100\n";

/** A server with a store and a target of its own. */
class Server {
  static async start(hasBoard) {
    const program = process.env.PGMETER;
    assert.ok(program, "PGMETER names the program to serve with");
    const server = new Server();
    server.directory = mkdtempSync(join(tmpdir(), "pgmeter-page-"));
    if (hasBoard) {
      server.board = join(server.directory, "board");
      server.command("board", "init", server.board);
    }
    server.target = join(server.directory, "target");
    mkdirSync(server.target);
    // The same after it was killed, as somebody has it who pins it.
    server.token = join(server.directory, "token");
    writeFileSync(server.token, "0123456789abcdef".repeat(3), { mode: 0o600 });
    await server.begin("127.0.0.1:0");
    return server;
  }

  /** Runs another command on the same store. */
  command(...words) {
    execFileSync(process.env.PGMETER, [...words, "--db", join(this.directory, "runs.db")], { stdio: "pipe" });
  }

  /** Serves at an address. */
  async begin(address) {
    const options = ["--listen", address, "--db", join(this.directory, "runs.db"), "--target", this.target];
    if (this.board) options.push("--board", this.board);
    // What it leaves goes with the directory.
    const env = { ...process.env, TMPDIR: this.directory, PGMETER_TOKEN_FILE: this.token };
    this.child = spawn(process.env.PGMETER, ["serve", ...options], { env, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.child.stdout });
    this.url = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      this.child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    this.origin = new URL(this.url).origin;
  }

  /** Ends it at once, without a word, and begins again at the same address. */
  async killAndBegin() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await ended;
    await this.begin(new URL(this.url).host);
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Serves while `look` looks at a page in which the browser is known; nothing may complain. */
export async function served(bed, look, { viewport = DESKTOP, javaScriptEnabled = true, expected = null, hasBoard = false } = {}) {
  const server = await Server.start(hasBoard);
  const context = await bed.browser.newContext({ viewport, javaScriptEnabled, acceptDownloads: true });
  context.setDefaultTimeout(WAIT.timeout);
  const complaints = [];
  const listen = (page) => {
    page.on("console", (message) => {
      const isOurs = message.text().includes("willReadFrequently") || expected?.test(message.text());
      const where = message.location().url;
      if (["error", "warning"].includes(message.type()) && !isOurs) complaints.push(`${message.text()} ${where}`);
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
  };
  context.on("page", listen);
  context.on("request", (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !url.startsWith(server.origin)) complaints.push(`asked for ${url}`);
  });
  try {
    const page = await context.newPage();
    await page.goto(server.url);
    await page.waitForURL(`${server.origin}/`, WAIT);
    try {
      await look(page, server, context);
    } catch (error) {
      await page.screenshot({ path: join(bed.screens, "serve-failed.png"), fullPage: true });
      throw error;
    }
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    await server.stop();
  }
}

export const go = (page, server, hash) => page.goto(`${server.origin}/${hash}`);
/** Asks the API as the page does. */
export const ask = (page, method, path, body) =>
  page.evaluate(async ([method, path, body]) => {
    const headers = method === "GET" ? {} : { "Content-Type": "application/json" };
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    return answer.json();
  }, [method, path, body]);

/** Measures the small workload and gives the run's id. */
export async function measured(page, server, more = "") {
  const workload = { text: more + SMALL, name: "small.toml" };
  const { id } = await ask(page, "POST", "/api/runs", { workload, targets: [server.target] });
  for (let tries = 0; tries < 300; tries += 1) {
    const { entries } = await ask(page, "GET", "/api/queue");
    const entry = entries.find((one) => one.id === id);
    if (entry.state === "ended") {
      assert.equal(entry.exit_code, 0, entry.remarks);
      return entry.run_id;
    }
    await page.waitForTimeout(200);
  }
  throw new Error("the run does not end");
}

/** Repeats the run that the page shows, and waits until the page shows the repetition. */
export async function again(page) {
  const first = await page.evaluate(() => location.hash);
  await page.click("text=Run again");
  // The address of the queue entry may be replaced before anybody sees it.
  await page.waitForFunction((hash) => location.hash.startsWith("#/run/") && location.hash !== hash, first, WAIT);
}

/** What is wider than the window. */
export const tooWide = (page) =>
  page.evaluate(() => {
    const { clientWidth } = document.documentElement;
    if (document.documentElement.scrollWidth <= clientWidth) return [];
    const isOut = (one) => one.getBoundingClientRect().right > clientWidth + 1 && !one.closest(".frame");
    return [...document.querySelectorAll("main *, header *")].filter(isOut).slice(0, 5).map((one) => one.outerHTML.slice(0, 120));
  });
