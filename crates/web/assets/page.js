"use strict";
// The newest runs, each with its report.
(async () => {
  const status = document.getElementById("status");
  try {
    const answer = await fetch("/api/runs?limit=50");
    if (!answer.ok) throw new Error((await answer.json()).error);
    const page = await answer.json();
    const rows = page.runs.map((run) => {
      const row = document.createElement("tr");
      const link = document.createElement("a");
      link.href = `/api/runs/${encodeURIComponent(run.id)}/page`;
      link.textContent = run.short_id;
      const texts = [run.workloads, run.targets, [run.status], run.tags];
      const cells = texts.map((words) => {
        const cell = document.createElement("td");
        cell.textContent = words.join(", ");
        return cell;
      });
      const first = document.createElement("td");
      first.append(link);
      row.append(first, ...cells);
      return row;
    });
    document.getElementById("runs").replaceChildren(...rows);
    status.textContent = `${page.total_count} runs are stored`;
  } catch (error) {
    status.textContent = `The list cannot be read: ${error.message}`;
  }
})();
