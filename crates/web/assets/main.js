// Selects the view by the part of the address after `#/`.

import { figures, redraw } from "./charts.js";
import { announce, failure, h } from "./dom.js";
import { linkBoard } from "./board.js";
import { showBuild } from "./build.js";
import { showCompare } from "./compare.js";
import { showLabs, showPapers } from "./labs.js";
import { showLive } from "./live.js";
import { showPair } from "./pair.js";
import { showQueue } from "./queue.js";
import { showRun } from "./run.js";
import { showRuns } from "./runs.js";
import { showTrend } from "./trend.js";

const VIEWS = {
  runs: { title: "Runs", show: showRuns },
  run: { title: "Run", show: showRun, within: "live" },
  live: { title: "Live", show: showLive },
  build: { title: "Build", show: showBuild },
  queue: { title: "Queue", show: showQueue },
  pair: { title: "Compare two targets", show: showPair, within: "runs" },
  compare: { title: "Compare", show: showCompare, within: "runs" },
  labs: { title: "Labs", show: showLabs },
  papers: { title: "Papers", show: showPapers },
  trend: { title: "Trend", show: showTrend },
};

const main = document.getElementById("content");
const root = document.documentElement;
let current = null;

/** Leaves the current view and shows the view of the address. */
async function route() {
  // A link within the page, such as the skip link, does not change the view.
  if (location.hash && !location.hash.startsWith("#/")) return;
  const [path, search = ""] = (location.hash.slice(2) || "runs").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  const view = VIEWS[name] ?? VIEWS.runs;
  const isFirst = current === null;
  current?.abort();
  current = new AbortController();
  figures.clear();
  main.replaceChildren();
  document.title = `${view.title} – pgmeter`;
  mark(view.within ?? name);
  const { signal } = current;
  try {
    await view.show({ main, rest, params: new URLSearchParams(search), signal });
  } catch (error) {
    if (signal.aborted) return;
    if (!main.querySelector("h1")) main.prepend(h("h1", {}, view.title));
    main.append(failure(error));
  }
  if (signal.aborted || isFirst) return;
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
  announce(document.title);
}

function mark(name) {
  for (const link of document.querySelectorAll(".top nav a")) {
    const isHere = link.hash === `#/${name}`;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

const system = matchMedia("(prefers-color-scheme: dark)");
const theme = document.querySelector("button.theme");

function isDark() {
  const { colorScheme } = root.style;
  return colorScheme ? colorScheme === "dark" : system.matches;
}

/** Sets a theme; an empty string selects the system's theme. */
function setTheme(wanted) {
  root.style.colorScheme = wanted;
  // The button is labeled with its effect: the other theme.
  theme.textContent = isDark() ? "Light" : "Dark";
  figures.forEach(redraw);
  dispatchEvent(new Event("theme"));
}

theme.hidden = false;
theme.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
system.addEventListener("change", () => setTheme(root.style.colorScheme));
addEventListener("hashchange", route);
setTheme("");
linkBoard(document.querySelector(".top nav"));
route();
