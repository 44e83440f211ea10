import { join } from "node:path";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { findProfile } from "@reelkeep/core/media/profile";
import { masterName } from "@reelkeep/core/object-keys";
import { type JobAttempt, listAttempts, recordProcessor } from "@reelkeep/db/job-attempts";
import type { Job } from "@reelkeep/db/jobs";
import { claimJob } from "@reelkeep/services/claim-job";
import type { ServiceContext } from "@reelkeep/services/context";
import { endCancelledAttempt, failAttempt, handBackAttempt } from "@reelkeep/services/fail-attempt";
import { publishVersion } from "@reelkeep/services/publish-version";
import type { Logger } from "pino";
import { askAgain } from "./ask-again.ts";
import { bucketOutput, earlierOutput } from "./bucket-output.ts";
import type { EncoderEngine } from "./ffmpeg/engines.ts";
import type { MediaTools } from "./ffmpeg/tools.ts";
import { keepLease, type Lease } from "./lease.ts";
import { monotonicMs } from "./lease-protocol.ts";
import { rejectWhenAborted } from "./reject-when-aborted.ts";
import { type ProgressReport, reportProgress } from "./report-progress.ts";
import { openScratch } from "./scratch.ts";
import { withRetries } from "./stages/retries.ts";
import { watchSize } from "./stages/watch-size.ts";
import { type TranscodeResult, transcodeFile } from "./transcode-file.ts";

/** What one run stands on. */
export interface WorkerContext extends Pick<ServiceContext, "db" | "store" | "jobPolicy" | "newId"> {
  /** For the lease thread's own connection. */
  readonly databaseUrl: string;
  readonly tools: MediaTools;
  readonly engine: EncoderEngine;
  readonly scratchFolder: string;
  readonly workerId: string;
  readonly machineId: string | null;
  readonly log: Logger;
  /**
   * Aborts when this process has to go, with an AppError as its reason: `worker-leaving` (spot notice, deployment,
   * the end of the local stack) hands the lease back; anything else is recorded as the failure that it is.
   */
  readonly leaving: AbortSignal;
}

/** How a run ended: `published`, why nothing was claimed, or what became of the job. */
export type RunOutcome =
  | "published"
  | "held"
  | "finished"
  | "failed"
  | "cancelled"
  | "missing"
  | "stale-generation"
  | "leaving"
  | "out-of-attempts"
  | "attempt-ended"
  | "retry-later"
  | "handed-back"
  | "lease-lost";

/**
 * One job from claim to publication (J1–J5). Whatever happens is written to the job before this answers, unless the
 * lease is lost: then somebody else decides, and nothing is written.
 */
export async function runJob(
  context: WorkerContext,
  { actionKey, generation }: { actionKey: string; generation: number },
): Promise<RunOutcome> {
  const { workerId, machineId, newId } = context;
  if (context.leaving.aborted) return "leaving";
  const attemptId = newId();
  const claimAskedAtMs = monotonicMs();
  const claim = await askAgain(() =>
    claimJob(context, { actionKey, generation, attemptId, workerId, machineId }),
  );
  if (claim.outcome === "missing") context.log.error("started for a job that doesn't exist");
  if (claim.outcome !== "claimed") return claim.outcome;
  const { job, attempt } = claim;
  const log = context.log.child({ attempt: attempt.attemptNumber, attemptId });
  log.info("claimed");

  const lease = keepLease({
    databaseUrl: context.databaseUrl,
    actionKey,
    attemptId,
    policy: context.jobPolicy,
    claimAskedAtMs,
    progress: { stage: "claim", fraction: 0, renditions: [], processByResolution: {} },
  });
  const progress = reportProgress(lease.tell);
  const signal = AbortSignal.any([lease.signal, context.leaving]);
  try {
    const run = { job, attempt, lease, signal, progress };
    return await publish(context, run, await work(context, run));
  } catch (cause) {
    const error = signal.aborted ? toAppError(signal.reason) : toAppError(cause, "worker-failed");
    log.error({ err: error, code: error.code, stage: progress.current.stage }, "attempt ended");
    return await recordInTime(lease, () => recordEnd(context, { actionKey, attemptId }, error, progress));
  } finally {
    await lease.stop();
  }
}

/** One attempt under way. */
interface Run {
  readonly job: Job;
  readonly attempt: JobAttempt;
  readonly lease: Lease;
  /** Aborts, with an AppError as its reason, whatever ends the attempt from outside. */
  readonly signal: AbortSignal;
  readonly progress: ProgressReport;
}

/** Download and transcode, in a scratch folder that is gone afterwards. */
async function work(
  { db, store, tools, engine, scratchFolder, log }: WorkerContext,
  { job, attempt, lease, signal, progress }: Run,
): Promise<TranscodeResult> {
  const profile = findProfile(job.profile);
  if (!profile)
    throw new AppError("worker-failed", {
      message: `This worker doesn't know the profile ${job.profile}.`,
      retryable: false,
    });
  lease.moved();
  progress.stage("download");
  const attempts = await askAgain(() => listAttempts(db, job.actionKey), signal);
  const earlier = attempts.filter(({ attemptNumber }) => attemptNumber < attempt.attemptNumber);
  await using scratch = await openScratch(scratchFolder, job.sourceSizeBytes);
  const sourcePath = join(scratch.folder, "source");
  {
    using _ = watchSize(sourcePath, lease.moved);
    await withRetries(
      () => store.download(job.sourceKey, sourcePath, { etag: job.sourceEtag, signal }),
      signal,
    );
  }
  return await transcodeFile({
    tools,
    engine,
    onEngine: async (processor, failure) => {
      if (failure) log.warn({ err: failure }, "the card failed; the processor takes over");
      await askAgain(() => recordProcessor(db, attempt.id, processor), signal);
    },
    profile,
    sourcePath,
    workFolder: join(scratch.folder, "output"),
    store: bucketOutput(store, attempt.outputPrefix),
    earlier: earlier.map(({ outputPrefix }) => earlierOutput(store, outputPrefix, attempt.outputPrefix)),
    signal,
    onTakenOver: (passes) => log.info({ passes }, "went on from an earlier attempt"),
    onMove: lease.moved,
    onStage: (stage) => {
      log.info({ stage }, "stage");
      progress.stage(stage);
    },
    onPlan: progress.plan,
    onProgress: progress.encoded,
    onRenditionComplete: (rendition) =>
      progress.complete(rendition, attempt.outputPrefix + rendition.playlist),
  });
}

/** @throws AppError where publication is refused; the reason says what is to be recorded. */
async function publish(
  context: WorkerContext,
  { job, attempt, lease, signal, progress }: Run,
  result: TranscodeResult,
): Promise<RunOutcome> {
  lease.moved();
  context.log.info({ stage: "publish" }, "stage");
  progress.stage("publish");
  lease.requireTime();
  signal.throwIfAborted();
  const largest = result.renditions[0]!;
  const publication = {
    processor: result.processor,
    masterName,
    posterName: result.posterSuggestions[0] ?? null,
    posterSuggestions: [...result.posterSuggestions],
    storyboardName: result.storyboardName,
    durationSeconds: result.durationSeconds,
    width: largest.width,
    height: largest.height,
    hasAudio: result.hasAudio,
    renditions: result.renditions.map(({ isCopied: _, ...rendition }) => rendition),
    inventory: [...result.inventory],
    sizeBytes: result.inventory.reduce((sum, object) => sum + object.sizeBytes, 0),
    progress: progress.current,
  };
  const held = { actionKey: job.actionKey, attemptId: attempt.id };
  const publishing = askAgain(() => publishVersion(context, held, publication), signal);
  const outcome = await Promise.race([publishing, rejectWhenAborted(lease.over)]);
  switch (outcome.outcome) {
    case "published":
      return "published";
    case "lease-lost":
      throw new AppError("lease-lost");
    case "cancelled":
      throw new AppError("job-cancelled");
    case "superseded":
      throw new AppError("job-superseded");
    case "asset-blocked":
    case "asset-deleted":
      throw new AppError(outcome.outcome);
  }
}

/** Nobody waits for an answer that comes after the lease. */
async function recordInTime(lease: Lease, record: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await Promise.race([record(), rejectWhenAborted(lease.over)]);
  } catch (cause) {
    if (lease.over.aborted) return "lease-lost";
    throw cause;
  }
}

/** J5: the reason is written before the worker goes. */
async function recordEnd(
  context: WorkerContext,
  lease: { actionKey: string; attemptId: string },
  error: AppError,
  progress: ProgressReport,
): Promise<RunOutcome> {
  if (error.code === "lease-lost") return "lease-lost";
  if (error.code === "job-cancelled")
    return (await askAgain(() => endCancelledAttempt(context, lease))) ? "cancelled" : "lease-lost";
  if (error.code === "worker-leaving")
    return (await askAgain(() => handBackAttempt(context, lease))) ? "handed-back" : "lease-lost";
  return askAgain(() =>
    failAttempt(context, lease, {
      error,
      stage: progress.current.stage,
      completedRenditions: Object.keys(progress.current.processByResolution),
    }),
  );
}
