import type { MediaSigner } from "@reelkeep/aws/media-signer";
import type { ObjectStore } from "@reelkeep/aws/object-store";
import type { Presigner } from "@reelkeep/aws/presign";
import type { JobPolicy } from "@reelkeep/core/job/policy";
import type { UploadLimits } from "@reelkeep/core/upload/policy";
import type { Database } from "@reelkeep/db/client";

/**
 * What use cases stand on. Each takes just the parts that it names, so its signature tells what it can touch.
 * `newId` makes UUIDs; tests give their own.
 */
export interface ServiceContext {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly presigner: Presigner;
  readonly mediaSigner: MediaSigner;
  readonly uploadLimits: UploadLimits;
  readonly jobPolicy: JobPolicy;
  /** The encoding profile of new jobs. */
  readonly profile: string;
  /** Bytes of sources that one person may keep. */
  readonly quotaBytes: number;
  /** How long a playback grant lasts before the player must renew it. */
  readonly playbackSeconds: number;
  /** The dashboard's own address, without a final slash; links in invitations begin with it. */
  readonly appUrl: string;
  /** The file of `probe-process.ts`, or of its bundle: a process of its own looks into what people send. */
  readonly probeScript: string;
  newId(): string;
}
