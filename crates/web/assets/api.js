// Requests to the server.

/** The server refused a request or could not be reached. */
export class Refused extends Error {
  constructor(message, help, status) {
    super(message);
    Object.assign(this, { help, status });
  }
}

const AWAY = "the server does not answer";
const STALE = "open the URL that `pgmeter serve` printed last: each start has a new token";

/** Sends a request; resolves to the JSON document of the answer. */
async function ask(method, path, body, signal) {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json" };
  const text = body === undefined ? undefined : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: text, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(AWAY, "start `pgmeter serve` again and open the URL that it prints", 0);
  }
  const document = await answer.json().catch(() => null);
  if (answer.ok) return document;
  const help = answer.status === 401 ? STALE : document?.help;
  throw new Refused(document?.error ?? `the server answers ${answer.status}`, help, answer.status);
}

export const get = (path, signal) => ask("GET", path, undefined, signal);
export const post = (path, body = {}, signal) => ask("POST", path, body, signal);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** A path with a query of all fields that are neither empty nor missing. */
export function query(path, fields) {
  const kept = Object.entries(fields).filter(([, value]) => value !== "" && value != null);
  const text = new URLSearchParams(kept).toString();
  return text ? `${path}?${text}` : path;
}

/** The roots of the server and the directories below them, as paths. */
export const targetPaths = (roots) => roots.flatMap(({ path, directories }) =>
  [path, ...directories.map((name) => (name.startsWith("/") ? name : `${path}/${name}`))]);

/** The path of a run in the API. */
export const ofRun = (id, what = "") => `/api/runs/${encodeURIComponent(id)}${what}`;
