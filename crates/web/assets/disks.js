// The disk list: what the server offers, what may be written there, and the other disks of its
// machine.

import { show } from "./charts.js";
import { h, table } from "./dom.js";

const KINDS = { directory: "directory", file: "file", device: "device", peer: "TCP peer" };
const WRITES = { nothing: "nothing", files: "new files, removed afterwards", everything: "everything: its data is lost", messages: "messages" };

/**
 * Tables of the disks. `more` are further paths within the offered ones. `isChosen` returns whether a
 * path is a target; `choose` receives a path and whether to measure it.
 */
export function diskTables(disks, more, isChosen, choose) {
  const others = more.filter((path) => !disks.some((disk) => disk.path === path)).map(unknown);
  const offered = [...disks.filter((disk) => disk.is_offered), ...others];
  const rest = disks.filter((disk) => !disk.is_offered);
  const pick = (disk) => h("td", { class: "pick" }, h("input", { type: "checkbox", checked: isChosen(disk.path), "aria-label": `Measure ${disk.path}`,
    onchange: (event) => choose(disk.path, event.target.checked) }));
  const first = table("Disks", ["", "Target", "Kind", "Size", "Device", "Runs write"],
    h("tbody", {}, offered.map((disk) => h("tr", {}, pick(disk), cells(disk), h("td", { class: "name" }, writes(disk))))), { class: "stack disks" });
  if (rest.length === 0) return [first];
  const second = table("Disks that are not offered", ["Target", "Kind", "Size", "Device", "In use"],
    h("tbody", {}, rest.map((disk) => h("tr", {}, cells(disk), h("td", { class: "name" }, disk.usage ?? "")))), { class: "stack disks" });
  return [first, h("details", { class: "more" }, h("summary", {}, `Other disks of this machine (${rest.length})`),
    h("p", { class: "remark" }, "Offer a directory on one with ", h("code", {}, "pgmeter serve --target DIR"), ", or a disk to be overwritten with ",
      h("code", {}, "--overwrite-device"), "."), second)];
}

/** A path of which only the server's permission is known. */
const unknown = (path) => ({
  path, kind: path.startsWith("tcp://") ? "peer" : "directory", size_bytes: null, free_bytes: null, file_system: null, device: null, model: null,
  is_rotational: null, is_read_only: false, usage: null, is_offered: true, may_write: path.startsWith("tcp://") ? "messages" : "files",
});

function cells(disk) {
  const bytes = (value) => (value === null ? "" : show("bytes", value));
  const size = disk.free_bytes === null ? bytes(disk.size_bytes) : `${bytes(disk.free_bytes)} free of ${bytes(disk.size_bytes)}`;
  const device = [disk.device === disk.path ? "" : disk.device, disk.model, disk.is_rotational ? "rotating" : ""].filter(Boolean).join(", ");
  return [h("th", { scope: "row", class: "path" }, disk.path),
    h("td", { class: "name" }, [KINDS[disk.kind], disk.file_system, disk.is_read_only ? "read-only" : ""].filter(Boolean).join(", ")),
    h("td", {}, size), h("td", { class: "name" }, device)];
}

const writes = ({ may_write: what, usage }) => (what === "everything" && usage ? `nothing: ${usage}` : WRITES[what]);
