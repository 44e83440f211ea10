import { getMediaStatus, toProblemError } from "../api-client.ts";
import type { RememberedUpload, RememberedUploads } from "./remembered-uploads.ts";
import { heldElsewhere } from "./upload-lock.ts";

/**
 * The uploads that were interrupted when the page went: no other tab goes on with them, and the server still
 * waits for their file. What has ended otherwise is forgotten; a server that doesn't answer changes nothing.
 */
export async function findInterrupted(remembered: RememberedUploads): Promise<RememberedUpload[]> {
  const uploads = remembered.all();
  const elsewhere = await heldElsewhere(uploads.map(({ actionKey }) => actionKey));
  const here = uploads.filter(({ actionKey }) => !elsewhere.has(actionKey));
  const waiting = await Promise.all(here.map(({ actionKey }) => isAwaited(actionKey)));
  return here.filter(({ actionKey }, index) => {
    if (!waiting[index]) remembered.forget(actionKey);
    return waiting[index];
  });
}

const isAwaited = (actionKey: string): Promise<boolean> =>
  getMediaStatus(actionKey).then(
    ({ status }) => status === "url-created",
    (error: unknown) => toProblemError(error).code !== "not-found",
  );
