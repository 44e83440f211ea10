/**
 * Looks into a container with mediabunny, in a process of its own: numbers in the file decide how long it works and
 * how much memory it takes. It has no credentials and no storage; its parent hands it byte ranges.
 */
import { Worker } from "node:worker_threads";
import { readContainer } from "@reelkeep/core/upload/read-container";
import type { FromProbe, ProbeTask, ToProbe } from "./probe-protocol.ts";

const { sizeBytes, container, lifeMs }: ProbeTask = JSON.parse(process.argv[2]!);

// A loop over four thousand million samples hears neither a timer nor that the parent is gone; a thread does.
const watchdog = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${Number(lifeMs)})`;
new Worker(watchdog, { eval: true }).unref();
process.on("disconnect", () => process.exit());

const send = (message: FromProbe) => process.send!(message);
const reads = new Map<number, (bytes: Uint8Array) => void>();
process.on("message", ({ id, bytes }: ToProbe) => {
  reads.get(id)?.(bytes);
  reads.delete(id);
});

let lastId = 0;
const read = (start: number, end: number) =>
  new Promise<Uint8Array>((resolve) => {
    const id = ++lastId;
    reads.set(id, resolve);
    send({ id, start, end });
  });

send({ facts: await readContainer({ sizeBytes, container, read }) });
