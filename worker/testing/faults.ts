/** Faults within a worker process that its own code knows nothing of: a module loaded before it, in each thread. */
import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Looks for its orders in files beside one another: `main` and `thread` hold milliseconds to block for, -1 for ever. */
const preload = (folder: string) => `
import { existsSync, readFileSync, rmSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
const folder = ${JSON.stringify(folder)};
const blocking = folder + "/block-" + (isMainThread ? "main" : "thread");
setInterval(() => {
  if (existsSync(blocking)) {
    const ms = Number(readFileSync(blocking, "utf8"));
    rmSync(blocking);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms < 0 ? Infinity : ms);
  }
  if (isMainThread && existsSync(folder + "/throw")) {
    rmSync(folder + "/throw");
    throw new Error("nobody expects this");
  }
  if (isMainThread && existsSync(folder + "/reject")) {
    rmSync(folder + "/reject");
    Promise.reject(new Error("nobody handles this"));
  }
}, 50).unref();
`;

/** `env` goes to a worker; then its threads can be made to fail. Orders are files in `folder`. */
export function faultsIn(folder: string) {
  const order = (name: string, text = "") => {
    // Written aside first, so that nobody reads half an order.
    writeFileSync(path.join(folder, `${name}.new`), text);
    renameSync(path.join(folder, `${name}.new`), path.join(folder, name));
  };
  return {
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload(folder))}` },
    /** A thread that neither computes nor answers, for so long; for ever without a time. */
    block: (thread: "main" | "thread", ms = -1) => order(`block-${thread}`, String(ms)),
    throwUncaught: () => order("throw"),
    rejectUnhandled: () => order("reject"),
  };
}
