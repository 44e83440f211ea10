import { readFileSync } from "node:fs";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { sendFile, uploadRequest } from "@reelkeep/services/testing/context";
import { makeVideo } from "../../media.ts";
import type { FaultStack } from "./stack.ts";

/** Two seconds of a moving picture with sound, 320x180: one attempt takes about two seconds. */
export const tinyClip = (): Uint8Array => readFileSync(makeVideo("tiny.mp4", 2));

/** Four segments of 640x360 with sound: FFmpeg works on it for long enough to be met. To keep it there, freeze it. */
export const longClip = (): Uint8Array => readFileSync(makeVideo("long.mp4", 22, { size: "640x360" }));

/** An upload that has arrived. */
export interface BroughtVideo {
  readonly actionKey: string;
  readonly assetId: string;
  readonly key: string;
}

/**
 * Brings a video as a browser does: authorise, sign, PUT, complete. Storage's event arrives by itself.
 *
 * @param options `assetId`: the video whose file it replaces. `complete: false`: storage's event alone admits it.
 */
export async function bringVideo(
  { site }: FaultStack,
  options: { clip?: Uint8Array; assetId?: string; complete?: boolean } = {},
): Promise<BroughtVideo> {
  const clip = options.clip ?? tinyClip();
  const request = uploadRequest(clip);
  const asset = options.assetId ? { id: options.assetId } : request.asset;
  const { actionKey, assetId, key } = await sendFile(site, site.creator, clip, { ...request, asset });
  if (options.complete ?? true) await completeUpload(site, site.creator, actionKey);
  return { actionKey, assetId, key };
}
