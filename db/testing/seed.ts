import { randomUUID } from "node:crypto";
import type { Role } from "@reelkeep/core/access/policy";
import type { JobState } from "@reelkeep/core/job/machine";
import { sourceKey } from "@reelkeep/core/object-keys";
import { eq, sql } from "drizzle-orm";
import { insertAsset } from "../assets.ts";
import type { Database } from "../client.ts";
import { now, secondsFromNow } from "../clock.ts";
import { insertAttempt, type JobAttempt } from "../job-attempts.ts";
import { insertJob, type Job } from "../jobs.ts";
import { assets } from "../schema/assets.ts";
import { jobs } from "../schema/jobs.ts";
import { users } from "../schema/users.ts";
import { admit, insertUpload } from "../uploads.ts";

/** A person; creators may upload. */
export async function seedUser(db: Database, role: Role = "creator"): Promise<string> {
  const id = randomUUID();
  await db.insert(users).values({ id, name: `Person ${id.slice(0, 4)}`, email: `${id}@example.test`, role });
  return id;
}

export interface SeededJob {
  readonly userId: string;
  readonly assetId: string;
  readonly job: Job;
  /** The attempt that holds the lease, where the state is `job-received`. */
  readonly attempt: JobAttempt | null;
}

/** A job in any state, with all the rows that it stands on. `leaseSeconds` below zero: the lease has run out. */
export async function seedJob(
  db: Database,
  state: JobState = "file-processing-ready",
  options: { leaseSeconds?: number; assetId?: string; userId?: string; sourceRevision?: number } = {},
): Promise<SeededJob> {
  const actionKey = randomUUID();
  const userId = options.userId ?? (await seedUser(db));
  const sourceRevision = options.sourceRevision ?? 1;
  const key = sourceKey({ userId, actionKey, extension: "mp4" });
  return db.transaction(async (tx) => {
    const assetId =
      options.assetId ??
      (await insertAsset(tx, { id: randomUUID(), ownerId: userId, title: "A film", description: "" })).id;
    await tx
      .update(assets)
      .set({ sourceRevision: sql`greatest(${assets.sourceRevision}, ${sourceRevision})` })
      .where(eq(assets.id, assetId));
    await insertUpload(tx, {
      actionKey,
      assetId,
      userId,
      key,
      filename: "film.mp4",
      contentType: "video/mp4",
      sizeBytes: 1000,
      checksumSha256: null,
      method: "put",
      partSizeBytes: null,
    });
    await admit(tx, actionKey, { etag: "etag", sourceRevision });
    const waiting = await insertJob(tx, {
      actionKey,
      assetId,
      sourceRevision,
      profile: "hls-ts-v1",
      sourceKey: key,
      sourceEtag: "etag",
      sourceSizeBytes: 1000,
      sourceDurationSeconds: 10,
    });
    if (state === "file-processing-ready") return { userId, assetId, job: waiting!, attempt: null };
    const received = state === "job-received";
    const attemptId = randomUUID();
    const [job] = await tx
      .update(jobs)
      .set({
        state,
        waitingReason: null,
        attemptCount: 1,
        ...(received
          ? { beingProcessedBy: attemptId, leaseExpiryTime: secondsFromNow(options.leaseSeconds ?? 60) }
          : { endedAt: now }),
      })
      .where(eq(jobs.actionKey, actionKey))
      .returning();
    const attempt = received
      ? await insertAttempt(tx, {
          id: attemptId,
          actionKey,
          attemptNumber: 1,
          generation: 1,
          workerId: randomUUID(),
          machineId: null,
          outputPrefix: `processed/${userId}/${actionKey}/attempt-1/`,
        })
      : null;
    return { userId, assetId, job: job!, attempt };
  });
}
