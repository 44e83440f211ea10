import { defineMachine } from "../machine.ts";

/** An attempt is one worker's hold on a job. Its id is made by the worker and is the lease token. */
export const attemptStates = [
  "running",
  "succeeded",
  "failed",
  "lease-expired",
  "cancelled",
  "superseded",
  "handed-back",
] as const;

/** Attempts end once, each with the job's move that ended them; there is no way back. */
export const attemptMachine = defineMachine({
  states: attemptStates,
  initial: "running",
  transitions: {
    succeed: { from: ["running"], to: "succeeded", guard: "none", when: "its version was published" },
    fail: { from: ["running"], to: "failed", guard: "none", when: "the worker recorded a failure" },
    expire: { from: ["running"], to: "lease-expired", guard: "none", when: "its lease ran out" },
    cancel: { from: ["running"], to: "cancelled", guard: "none", when: "its job was cancelled" },
    supersede: { from: ["running"], to: "superseded", guard: "none", when: "a newer revision was admitted" },
    "hand-back": { from: ["running"], to: "handed-back", guard: "none", when: "the worker had to leave" },
  },
});
export type AttemptMove = keyof typeof attemptMachine.transitions;

/** What a worker does, in order; the attempt's row says where it is or where it ended. */
export const stages = ["claim", "download", "probe", "plan", "encode", "verify", "publish"] as const;
export type Stage = (typeof stages)[number];
