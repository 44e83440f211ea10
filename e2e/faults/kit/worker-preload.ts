/** Loaded before the worker's own code, in each of its threads: does there what its test's folder says. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = process.env.WORKER_FAULTS_DIR!;
const lookMs = 50;

function setClockOff(): void {
  const file = path.join(folder, "clock-off-ms");
  if (!existsSync(file)) return;
  const offMs = Number(readFileSync(file, "utf8"));
  globalThis.Date = new Proxy(Date, {
    construct: (real, words, target) =>
      Reflect.construct(real, words.length > 0 ? words : [real.now() + offMs], target),
    get: (real, name) => (name === "now" ? () => real.now() + offMs : Reflect.get(real, name)),
  });
}

function blockWhenTold(): void {
  const file = path.join(folder, `block-${isMainThread ? "main" : "lease"}-ms`);
  const timer = setInterval(() => {
    if (!existsSync(file)) return;
    const ms = Number(readFileSync(file, "utf8"));
    rmSync(file);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }, lookMs);
  timer.unref();
}

setClockOff();
blockWhenTold();
