import type { UploadLimits } from "@reelkeep/core/upload/policy";
import type { Refusal } from "./early-refusal.ts";
import type { Look } from "./look-worker.ts";

/** An honest file on a disk takes some tens of milliseconds; what takes longer than this is left to the server. */
const limitMs = 5_000;

let looking: Promise<unknown> = Promise.resolve();

/**
 * What `lookInside` says, from a thread of its own that is ended after five seconds: a few bytes can make a reader of
 * containers loop, or fill its memory, and the page must go on. One file after the other. Null, so that the file is
 * sent, also where no thread can be had.
 */
export function lookInWorker(file: File, limits: UploadLimits, signal: AbortSignal): Promise<Refusal | null> {
  const look = looking
    .then(() => (signal.aborted ? null : lookNow({ file, limits }, signal)))
    .catch(() => null);
  looking = look;
  return look;
}

/** @throws whatever the browser, or a rule of the site, says against a thread. */
async function lookNow(look: Look, signal: AbortSignal): Promise<Refusal | null> {
  const worker = new Worker(new URL("./look-worker.ts", import.meta.url), { type: "module" });
  let timer: number | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const goOn = () => resolve(null);
      worker.addEventListener("message", ({ data }: MessageEvent<Refusal | null>) => resolve(data));
      worker.addEventListener("error", reject);
      signal.addEventListener("abort", goOn, { once: true });
      timer = window.setTimeout(goOn, limitMs);
      worker.postMessage(look);
    });
  } finally {
    window.clearTimeout(timer);
    worker.terminate();
  }
}
