import { touchAttempt } from "@reelkeep/db/job-attempts";
import { heartbeatJob } from "@reelkeep/db/job-moves";
import type { Progress } from "@reelkeep/db/jobs";
import type { ServiceContext } from "./context.ts";

/** What a worker is told: go on, or stop everything because of… */
export type HeartbeatAnswer = "continue" | "cancel" | "superseded";

/** J3: extends the lease and carries progress. `superseded`: the lease is lost, whatever took it. */
export async function heartbeat(
  { db, jobPolicy }: Pick<ServiceContext, "db" | "jobPolicy">,
  beat: { actionKey: string; attemptId: string; progress: Progress },
): Promise<HeartbeatAnswer> {
  const job = await heartbeatJob(db, { ...beat, leaseSeconds: jobPolicy.leaseSeconds });
  if (!job) return "superseded";
  await touchAttempt(db, beat.attemptId, {
    stage: beat.progress.stage,
    completedRenditions: Object.keys(beat.progress.processByResolution),
  });
  return job.cancelRequestedAt ? "cancel" : "continue";
}
