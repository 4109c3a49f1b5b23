// One value over the whole screen, as on a dial, to be read from the other end of a room.

import { show, tick } from "./charts.js";
import { button, dialog, h, svg } from "./dom.js";

const ARC = "M 20 105 A 80 80 0 0 1 180 105";
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** A point on the dial: `share` of the scale, at a distance from its center. */
function place(share, radius) {
  const angle = Math.PI * (1 - share);
  return [100 + radius * Math.cos(angle), 105 - radius * Math.sin(angle)];
}

export class Gauge {
  constructor() {
    this.title = h("p", { class: "gauge-title" });
    this.value = h("p", { class: "gauge-value" });
    this.remark = h("p", { class: "remark" });
    this.filled = svg("path", { d: ARC, pathLength: 100, class: "filled" });
    this.needle = svg("line", { x1: 100, y1: 105, class: "needle" });
    this.most = svg("line", { class: "most" });
    this.ticks = TICKS.map((share) => {
      const [x, y] = place(share, 91);
      return svg("text", { x, y, "text-anchor": share < 0.4 ? "end" : share > 0.6 ? "start" : "middle" });
    });
    this.dial = svg("svg", { viewBox: "-25 0 250 115", role: "img" }, svg("path", { d: ARC, class: "scale" }), this.filled, this.most, this.ticks, this.needle);
    this.isOpen = false;
  }

  /** Opens the gauge until the user closes it. */
  async open() {
    this.isOpen = true;
    // Without permission for the whole screen, the gauge fills the window.
    document.documentElement.requestFullscreen?.().catch(() => {});
    await dialog("Gauge", (end) => [h("div", { class: "gauge" }, this.title, this.dial, this.value, this.remark), button("Close", () => end(null))]);
    this.isOpen = false;
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
  }

  /** Shows a value on a scale from 0 to `top`; `most` is the largest value so far. */
  draw({ label, unit, value, most, top, remark }) {
    const share = (one) => Math.min(1, Math.max(0, (one ?? 0) / (top || 1)));
    const text = show(unit, value);
    this.title.textContent = label;
    this.value.textContent = text;
    this.remark.textContent = [remark, most > 0 ? `largest so far: ${show(unit, most)}` : ""].filter(Boolean).join("; ");
    this.dial.setAttribute("aria-label", `${label}: ${text} of ${show(unit, top)}`);
    this.filled.setAttribute("stroke-dasharray", `${100 * share(value)} 100`);
    const [x2, y2] = place(share(value), 68);
    for (const [key, to] of Object.entries({ x2, y2 })) this.needle.setAttribute(key, to);
    const [inner, outer] = [place(share(most), 72), place(share(most), 88)];
    for (const [key, to] of Object.entries({ x1: inner[0], y1: inner[1], x2: outer[0], y2: outer[1] })) this.most.setAttribute(key, to);
    this.ticks.forEach((mark, index) => (mark.textContent = top > 0 ? tick(unit, TICKS[index] * top) : ""));
  }
}
