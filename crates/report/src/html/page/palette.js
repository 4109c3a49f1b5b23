// The colors of the style sheet, as the canvas needs them.

const probe = document.createElement("span");
probe.hidden = true;

/** What a color of the style sheet is in the theme in force. */
function color(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** The same color, seen through to so many percent. */
function faded(css, percent) {
  const parts = css.match(/[\d.]+/g).slice(0, 3);
  return `rgba(${parts.join(",")},${percent / 100})`;
}

/** The color of a series, by its number. */
function seriesColor(index) {
  return color(`color-${index % 8}`);
}
