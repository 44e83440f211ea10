import { defineMachine } from "../machine.ts";

/** An upload is permission to bring one source file, and what became of it. */
export const uploadStates = ["url-created", "file-uploaded", "rejected", "expired"] as const;

export const uploadMachine = defineMachine({
  states: uploadStates,
  initial: "url-created",
  transitions: {
    admit: {
      from: ["url-created"],
      to: "file-uploaded",
      guard: "none",
      when: "the object was verified; its job is admitted in the same transaction",
    },
    reject: {
      from: ["url-created"],
      to: "rejected",
      guard: "none",
      when: "the object failed admission; no job, and the object is deleted",
    },
    expire: {
      from: ["url-created"],
      to: "expired",
      guard: "none",
      when: "it was abandoned or cancelled; its parts and object are removed",
    },
  },
});
export type UploadMove = keyof typeof uploadMachine.transitions;

/** How the bytes travel: one PUT, or parts. */
export const uploadMethods = ["put", "multipart"] as const;
export type UploadMethod = (typeof uploadMethods)[number];
