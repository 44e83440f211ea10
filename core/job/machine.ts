import { defineMachine } from "../machine.ts";

/** A job is the work for one source revision with one profile. */
export const jobStates = [
  "file-processing-ready",
  "job-received",
  "processing-completed",
  "failed",
  "cancelled",
] as const;
export type JobState = (typeof jobStates)[number];

export const jobMachine = defineMachine({
  states: jobStates,
  initial: "file-processing-ready",
  transitions: {
    claim: {
      from: ["file-processing-ready"],
      to: "job-received",
      guard: "none",
      when: "a worker takes the job; this alone raises attemptCount",
    },
    heartbeat: {
      from: ["job-received"],
      to: "job-received",
      guard: "lease-held",
      when: "the lease thread extends the lease and writes progress",
    },
    publish: {
      from: ["job-received"],
      to: "processing-completed",
      guard: "lease-held",
      when: "the verified version becomes the active one, in the same transaction",
    },
    "retry-later": {
      from: ["job-received"],
      to: "file-processing-ready",
      guard: "lease-held",
      when: "the worker records a failure worth another try, and attempts are left",
    },
    fail: {
      from: ["job-received"],
      to: "failed",
      guard: "lease-held",
      when: "the worker records a permanent failure, or the last attempt fails",
    },
    "hand-back": {
      from: ["job-received"],
      to: "file-processing-ready",
      guard: "lease-held",
      when: "a worker must leave (spot notice, deployment); it costs no attempt",
    },
    "obey-cancel": {
      from: ["job-received"],
      to: "cancelled",
      guard: "lease-held",
      when: "the worker learns that cancelling was requested, and stops",
    },
    recover: {
      from: ["job-received"],
      to: "file-processing-ready",
      guard: "lease-expired",
      when: "the sweep finds a lease that ran out, and attempts are left",
    },
    "recover-as-failed": {
      from: ["job-received"],
      to: "failed",
      guard: "lease-expired",
      when: "the sweep finds a lease that ran out on the last attempt",
    },
    "recover-as-cancelled": {
      from: ["job-received"],
      to: "cancelled",
      guard: "lease-expired",
      when: "the sweep finds a lease that ran out after cancelling was requested",
    },
    "give-up-launching": {
      from: ["file-processing-ready"],
      to: "failed",
      guard: "none",
      when: "no worker could be started",
    },
    cancel: {
      from: ["file-processing-ready"],
      to: "cancelled",
      guard: "none",
      when: "someone cancels a waiting job",
    },
    "request-cancel": {
      from: ["job-received"],
      to: "job-received",
      guard: "none",
      when: "someone cancels a job that is being worked on; its worker learns of it at the next heartbeat",
    },
    supersede: {
      from: ["file-processing-ready", "job-received"],
      to: "cancelled",
      guard: "none",
      when: "a newer source revision of the asset is admitted, or the asset is blocked or deleted",
    },
    reopen: {
      from: ["failed", "cancelled"],
      to: "file-processing-ready",
      guard: "none",
      when: "an admin retries; the generation rises",
    },
  },
});

/** Names of the job's moves. */
export type JobMove = keyof typeof jobMachine.transitions;

/** Jobs in these states still want or have a worker. */
export const unfinishedJobStates = ["file-processing-ready", "job-received"] as const satisfies JobState[];

/** Why a job in `file-processing-ready` has no worker yet; always shown to its owner. */
export const waitingReasons = [
  "queued",
  "waiting-for-slot",
  "waiting-for-budget",
  "launching",
  "waiting-for-capacity",
  "retry-backoff",
] as const;
export type WaitingReason = (typeof waitingReasons)[number];
