import { defineMachine } from "../machine.ts";

/** An intent, written in the same transaction as the state that causes it. */
export const outboxStates = ["pending", "sent", "failed"] as const;

export const outboxMachine = defineMachine({
  states: outboxStates,
  initial: "pending",
  transitions: {
    send: { from: ["pending"], to: "sent", guard: "none", when: "it was carried out" },
    "give-up": { from: ["pending"], to: "failed", guard: "none", when: "its attempts are used up" },
  },
});

export const outboxKinds = ["launch-worker", "job-ended"] as const;
export type OutboxKind = (typeof outboxKinds)[number];
