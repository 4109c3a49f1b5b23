// A chart with its texts: title, summary, views, series, and its numbers in a table.

const figures = new Set();

/** Builds the figure of a chart into `parent` and draws it. */
function figure(chart, parent) {
  const body = element("figure", { className: "chart" });
  const target = element("div", { className: "plot" });
  target.setAttribute("role", "img");
  const views = element("div", { className: "choices views" });
  const series = element("div", { className: "choices series" });
  const controls = element("div", { className: "controls" });
  controls.append(views, series);
  const caption = element("figcaption");
  caption.append(sentence("h4", chart.title), sentence("p", chart.summary));
  const state = { chart, target, views, series, view: 0, hidden: new Set(), drawn: null };
  body.append(caption, controls, target, numbers(chart));
  parent.append(body);
  figures.add(state);
  choose(state, 0);
  new ResizeObserver(() => fit(state)).observe(target);
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

/** Creates an element with a sentence. Text in backticks becomes code, as in the page itself. */
function sentence(name, text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return element(name, { textContent: text });
  const made = element(name);
  made.append(
    ...parts.map((part, index) =>
      index % 2 === 1 ? element("code", { textContent: part }) : part,
    ),
  );
  return made;
}

/** Shows one of the views. */
function choose(state, index) {
  state.view = index;
  state.hidden.clear();
  const { views } = state.chart;
  buttons(state.views, views.length > 1 ? views : [], (one, place) => ({
    label: one.label,
    isPressed: place === index,
    press: () => choose(state, place),
  }));
  redraw(state);
}

/** Redraws the selected view in the current colors. */
function redraw(state) {
  const { chart, target, hidden } = state;
  const view = chart.views[state.view];
  state.drawn?.destroy();
  state.drawn = plot(chart, view, hidden, target);
  target.setAttribute("aria-label", `${chart.title}, ${view.label}. ${chart.summary}`);
  const all = view.series;
  buttons(state.series, all.length > 1 ? all : [], (series, index) => ({
    label: series.label,
    mark: series,
    isPressed: !hidden.has(index),
    press: () => toggle(state, index),
  }));
}

/** Shows or hides a series. */
function toggle(state, index) {
  const { hidden, drawn } = state;
  const isShown = hidden.delete(index);
  if (!isShown) hidden.add(index);
  drawn.setSeries(index + 1, { show: isShown });
  state.series.children[index].setAttribute("aria-pressed", String(isShown));
}

function buttons(parent, items, describe) {
  const made = items.map((item, index) => {
    const { label, mark, isPressed, press } = describe(item, index);
    const button = element("button", { type: "button" });
    if (mark) {
      const swatch = element("i", { className: `mark ${mark.line}` });
      swatch.style.color = `var(--color-${mark.color % 8})`;
      button.append(swatch);
    }
    button.append(...sentence("span", label).childNodes);
    button.setAttribute("aria-pressed", String(isPressed));
    button.addEventListener("click", press);
    return button;
  });
  // The pressed button must keep the focus when the row is replaced.
  const focused = [...parent.children].indexOf(document.activeElement);
  parent.replaceChildren(...made);
  parent.hidden = made.length === 0;
  made[focused]?.focus();
}

function fit({ drawn, target }) {
  const width = target.clientWidth;
  if (drawn && width > 0 && Math.abs(width - drawn.width) > 1) {
    drawn.setSize({ width, height: height(width) });
  }
}

/** The numbers of the chart, created when opened. */
function numbers(chart) {
  const details = element("details", { className: "numbers" });
  details.append(element("summary", { textContent: "Data as a table" }));
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector("table")) details.append(table(chart));
  });
  return details;
}

function table(chart) {
  const frame = element("div", { className: "frame long", tabIndex: 0 });
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", `${chart.title}, data`);
  const body = element("table");
  body.createCaption().append(sentence("span", chart.title));
  const columns = chart.views.flatMap((view) => view.series.map((series) => ({ view, series })));
  const heads = columns.map(({ view, series }) =>
    chart.views.length > 1 ? `${view.label}: ${series.label}` : series.label,
  );
  const head = body.createTHead().insertRow();
  for (const text of [chart.x.label, ...heads]) {
    head.append(Object.assign(sentence("th", text), { scope: "col" }));
  }
  const rows = body.createTBody();
  chart.at.forEach((at, index) => {
    const row = rows.insertRow();
    const place = chart.places?.names[index] ?? show(chart.x.unit, at);
    row.append(element("th", { textContent: place, scope: "row" }));
    for (const { view, series } of columns) {
      row.insertCell().textContent = withEnds(view.y.unit, series, index);
    }
  });
  frame.append(body);
  return frame;
}

/** A value, with the ends of its confidence interval if known. */
function withEnds(unit, series, index) {
  const value = show(unit, series.values[index]);
  const low = series.ends?.low[index] ?? null;
  if (low === null) return value;
  return `${value} (${show(unit, low)} to ${show(unit, series.ends.high[index])})`;
}
