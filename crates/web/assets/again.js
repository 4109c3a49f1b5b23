// What a stored run was started with, so that it can be started again or changed.

import { get, ofRun, post } from "./api.js";

/**
 * The request behind a run: that of the queue where it was started from here, or else what its
 * command line says, or where that names a file the workload that the run kept. Null where it kept
 * none.
 */
export async function requestOf(run) {
  const { entries } = await get("/api/queue");
  const entry = entries.find((one) => one.run_id === run.id);
  if (entry && !entry.lab) return entry.request;
  const { workloads } = await get("/api/workloads");
  return ofCommand(run.command, new Set(workloads.map(({ name }) => name))) ?? kept(run);
}

/** What was measured, as the run kept it: with all options in place. */
async function kept(run) {
  try {
    const { name, text } = await get(ofRun(run.id, "/workload"));
    // What a lab had mounted is gone with it; another target is to be chosen.
    const isGone = run.tags.includes("lab") && !/^targets\s*=/m.test(text);
    return { workload: { text, name }, targets: isGone ? [] : run.targets, settings: {} };
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** What a command line `pgmeter run` says, where it has only what can be asked for here. */
export function ofCommand(command, builtin) {
  const request = { workload: null, targets: [], settings: {} };
  const words = command.slice(2);
  while (words.length > 0) {
    const [option, value] = halves(words.shift());
    const next = () => value ?? words.shift();
    if (["--quiet", "--no-html"].includes(option)) continue;
    if (["--target", "-t"].includes(option)) request.targets.push(next());
    else if (["--db", "--report-dir", "--tag", "--note"].includes(option)) next();
    else if (option === "--set") {
      const [key, ...rest] = next().split("=");
      request.settings[key] = rest.join("=");
    } else if (["--iodepth", "--run-time", "--ramp-time", "--size", "--workers", "--repetitions"].includes(option)) {
      request.settings[option.slice(2).replace("-", "_")] = next();
    } else if (!option.startsWith("-") && builtin.has(option) && !request.workload) {
      request.workload = { builtin: option };
    } else return null;
  }
  return command[1] === "run" && request.workload ? request : null;
}

function halves(word) {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}

/** Starts the same once more; resolves to the address of where it can be seen. */
export async function startAgain(request) {
  const { workload, targets, settings, overwrite_devices: devices } = request;
  const entry = await post("/api/runs", {
    workload: bare(workload), targets, settings, overwrite_devices: devices ?? [],
  });
  return `#/live/${encodeURIComponent(entry.id)}`;
}

/** Without what is not said. */
export const bare = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== false));
