// Looks at every made-up page as people do: `node check.mjs PAGES SCREENS [NAME]`, of which the last
// part names checks by what is in their names. `PGMETER` in the environment is the program that serves.
//
// What it prints has the form of Rust's test programs, so that the runner counts it.

import { mkdirSync } from "node:fs";

import { Bed } from "./bed.mjs";
import { boardTests } from "./board.mjs";
import { chartTests } from "./charts.mjs";
import { formTests } from "./forms.mjs";
import { layoutTests } from "./layout.mjs";
import { listTests } from "./lists.mjs";
import { pageTests } from "./pages.mjs";
import { serveTests } from "./serve.mjs";
import { togetherTests } from "./together.mjs";
import { topologyTests } from "./topology.mjs";
import { wayTests } from "./way.mjs";

const [pages, screens, wanted = ""] = process.argv.slice(2);
mkdirSync(screens, { recursive: true });

// Those of records keep a processor busy; those of servers wait for runs most of the time.
const ofRecords = [...pageTests, ...chartTests, ...layoutTests, ...boardTests];
const ofServers = [...serveTests, ...listTests, ...formTests, ...topologyTests, ...wayTests, ...togetherTests];
const tests = [...ofRecords, ...ofServers].filter(([name]) => name.includes(wanted));
const failures = [];
const bed = await Bed.open(pages, screens);

/** Runs the checks that are left, one after another. */
async function takeTurns(next) {
  for (let test = next(); test; test = next()) {
    const [name, check] = test;
    try {
      await check(bed);
      console.log(`test ${name} ... ok`);
    } catch (error) {
      failures.push(name);
      console.log(`test ${name} ... FAILED\n${error.stack ?? error}`);
    }
  }
}

// From both ends, so that one of each runs beside the other.
const left = [...tests];
await Promise.all([takeTurns(() => left.shift()), takeTurns(() => left.pop())]);
await bed.close();

const verdict = failures.length === 0 ? "ok" : "FAILED";
const passed = tests.length - failures.length;
console.log(`test result: ${verdict}. ${passed} passed; ${failures.length} failed; 0 ignored`);
process.exitCode = failures.length === 0 ? 0 : 1;
