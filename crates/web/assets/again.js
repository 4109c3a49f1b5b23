// Finds the request that started a stored run, so that the run can be repeated or changed.

import { get, ofRun, post } from "./api.js";

/**
 * The request that started a run. It comes from the queue if the run was started from this page, or
 * else from the command line. If the command line names a file, the stored workload is used
 * instead. Returns null if the run stored none.
 */
export async function requestOf(run) {
  const { entries } = await get("/api/queue");
  const entry = entries.find((one) => one.run_id === run.id);
  if (entry && !entry.lab) return entry.request;
  const { workloads } = await get("/api/workloads");
  return ofCommand(run.command, new Set(workloads.map(({ name }) => name))) ?? kept(run);
}

/** The workload that the run stored, with all options applied. */
async function kept(run) {
  try {
    const { name, text } = await get(ofRun(run.id, "/workload"));
    // A lab unmounts its file systems, so the user has to choose another target.
    const isGone = run.tags.includes("lab") && !/^targets\s*=/m.test(text);
    return { workload: { text, name }, targets: isGone ? [] : run.targets, settings: {} };
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** The request of a `pgmeter run` command line; null if the page lacks one of its options. */
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

/** Starts a run with the same request; resolves to the address of its page. */
export async function startAgain(request) {
  const { workload, targets, settings, overwrite_devices: devices } = request;
  const entry = await post("/api/runs", {
    workload: bare(workload), targets, settings, overwrite_devices: devices ?? [],
  });
  return `#/live/${encodeURIComponent(entry.id)}`;
}

/** Without fields that are null or false. */
export const bare = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== false));
