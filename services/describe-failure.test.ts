import type { JobState, WaitingReason } from "@reelkeep/core/job/machine";
import { describe, expect, it } from "vitest";
import { describeFailure } from "./describe-failure.ts";

const sound = { state: "file-uploaded", errorCode: null, errorMessage: null } as const;
const refused = { errorCode: "not-a-video", errorMessage: "This is a picture." };
const job = (state: JobState, waitingReason: WaitingReason | null = null) => ({
  state,
  waitingReason,
  errorCode: "encoder-failed",
  errorMessage: "The encoder stopped.",
});

describe("describeFailure", () => {
  it.each(["rejected", "expired"] as const)("U6 an upload that is %s says why and what to do", (state) => {
    expect(describeFailure({ state, ...refused }, null)).toEqual({
      code: "not-a-video",
      message: "This is a picture.",
      next: expect.stringMatching(/./),
    });
  });

  it("U8 a job that failed, or waits to be tried again, says why", () => {
    const failure = { code: "encoder-failed", message: "The encoder stopped." };
    expect(describeFailure(sound, job("failed"))).toMatchObject(failure);
    expect(describeFailure(sound, job("file-processing-ready", "retry-backoff"))).toMatchObject(failure);
    expect(describeFailure(sound, { ...job("failed"), errorMessage: null })?.message).toMatch(/./);
  });

  it.each([
    ["file-processing-ready", "queued"],
    ["file-processing-ready", "waiting-for-slot"],
    ["job-received", null],
    ["processing-completed", null],
    ["cancelled", null],
  ] as const)("U8 an earlier attempt's failure isn't told of a job in %s (%s)", (state, waitingReason) => {
    expect(describeFailure(sound, job(state, waitingReason))).toBeNull();
  });
});
