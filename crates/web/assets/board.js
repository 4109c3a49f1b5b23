// The board that the server shows, if it was given one.

import { get, ofRun } from "./api.js";
import { sentence } from "./charts.js";
import { failure, h } from "./dom.js";

/** Resolves to `true` if there is a board. */
const isGiven = get("/api").then(({ board }) => board !== null, () => false);

/** Adds the link to the board. */
export async function linkBoard(nav) {
  if (await isGiven) nav.append(h("a", { href: "/board/index.html" }, "Board"));
}

/** Shows in `section` where a run stands on the board; nothing without a board. */
export async function showStandings(section, id, signal) {
  if (!(await isGiven) || signal.aborted) return;
  try {
    const { standings, is_refused: isRefused } = await get(ofRun(id, "/standings"), signal);
    if (standings.length === 0) {
      section.replaceChildren(h("p", { class: "remark" }, "No table of the board ranks the work of this run."));
      return;
    }
    const items = standings.map(({ table, standing }) =>
      h("li", {}, h("a", { href: `/board/tables/${encodeURIComponent(table)}.html` }, table), `: ${standing}`));
    const refusal = isRefused ? sentence("p", "a rule refuses this run: `pgmeter board lint RUN` shows why") : null;
    section.replaceChildren(h("h2", {}, "On the board"), h("ul", {}, items), ...[refusal].filter(Boolean));
  } catch (error) {
    if (!signal.aborted) section.replaceChildren(failure(error));
  }
}
