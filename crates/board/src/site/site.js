"use strict";
{
  const number = (cell) => parseFloat(cell.dataset.value ?? cell.textContent);
  const text = (cell) => cell.textContent.trim();
  for (const table of document.querySelectorAll("table.sorted")) {
    const body = table.tBodies[0];
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const at = head.cellIndex;
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [a.cells[at], b.cells[at]];
          const order = number(x) - number(y);
          return Number.isNaN(order) ? text(x).localeCompare(text(y)) : order;
        });
        body.replaceChildren(...(down ? rows.reverse() : rows));
      });
    }
  }
  const filters = document.querySelector(".filters");
  if (filters) {
    filters.hidden = false;
    const selects = [...filters.querySelectorAll("select")];
    const show = () => {
      for (const row of document.querySelectorAll("tr[data-kind]")) {
        row.hidden = selects.some((it) => it.value !== "" && row.dataset[it.name] !== it.value);
      }
    };
    for (const select of selects) select.addEventListener("change", show);
  }
  const pair = document.querySelector(".pair");
  if (pair) {
    const all = JSON.parse(document.getElementById("values").textContent);
    const [a, b] = pair.querySelectorAll("select");
    const output = document.getElementById("compared");
    pair.hidden = false;
    for (const select of [a, b]) {
      all.forEach((it, index) => select.add(new Option(it.title, String(index))));
    }
    b.selectedIndex = Math.min(1, all.length - 1);
    const row = (cells, kind) => {
      const line = document.createElement("tr");
      for (const value of cells) {
        const cell = document.createElement(kind);
        cell.textContent = value;
        line.append(cell);
      }
      return line;
    };
    const show = () => {
      const [one, other] = [all[a.value], all[b.value]];
      const rows = [];
      for (const [name, value] of Object.entries(one?.values ?? {})) {
        const second = other?.values[name];
        if (second === undefined) continue;
        const ratio = value[0] === 0 ? "" : (second[0] / value[0]).toFixed(3);
        rows.push(row([name, value[1], second[1], ratio], "td"));
      }
      const head = row(["value", one?.title ?? "", other?.title ?? "", "ratio"], "th");
      output.tHead.replaceChildren(head);
      output.tBodies[0].replaceChildren(...rows);
      document.getElementById("nothing-common").hidden = rows.length > 0;
    };
    a.addEventListener("change", show);
    b.addEventListener("change", show);
    show();
  }
}
