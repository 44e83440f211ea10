/** The thread that looks into one file, and is ended with it. It brings the reader of containers, which pages lack. */
import type { UploadLimits } from "@reelkeep/core/upload/policy";
import { lookInside } from "./look-inside.ts";

/** What the thread is asked; it answers a `Refusal` or null. */
export interface Look {
  readonly file: File;
  readonly limits: UploadLimits;
}

addEventListener("message", async ({ data: { file, limits } }: MessageEvent<Look>) => {
  postMessage(await lookInside(file, limits));
});
