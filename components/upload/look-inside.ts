import { checkVideoFacts, requireVideo } from "@reelkeep/core/upload/admission";
import type { UploadLimits } from "@reelkeep/core/upload/policy";
import { readContainer } from "@reelkeep/core/upload/read-container";
import { readSignature, signatureBytes } from "@reelkeep/core/upload/signature";
import { type Refusal, refusalOf } from "./early-refusal.ts";

/**
 * U4: the refusal that admission would give for what the file holds, by the same functions; null where it would take
 * the file, or where the file can't be read. It may work for as long as a hostile file wants: see look-in-worker.ts.
 */
export async function lookInside(file: Blob, limits: UploadLimits): Promise<Refusal | null> {
  const read = async (start: number, end: number) =>
    new Uint8Array(await file.slice(start, end).arrayBuffer());
  try {
    const container = requireVideo(readSignature(await read(0, signatureBytes)));
    checkVideoFacts(await readContainer({ sizeBytes: file.size, container, read }), limits);
    return null;
  } catch (error) {
    return refusalOf(error);
  }
}
