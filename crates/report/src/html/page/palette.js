// Colors of the style sheet for use on the canvas.

const probe = document.createElement("span");
probe.hidden = true;

/** Resolves a color of the style sheet in the current theme. */
function color(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** Returns the color with this opacity, in percent. */
function faded(css, percent) {
  const parts = css.match(/[\d.]+/g).slice(0, 3);
  return `rgba(${parts.join(",")},${percent / 100})`;
}

/** Returns the color of a series, by its palette index. */
function seriesColor(index) {
  return color(`color-${index % 8}`);
}
