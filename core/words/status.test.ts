import { describe, expect, it } from "vitest";
import type { AssetSummary } from "../api/assets.ts";
import { type MediaStatus, mediaStatuses } from "../api/media.ts";
import { errorCodes, errorInfo } from "../errors.ts";
import { waitingReasons } from "../job/machine.ts";
import { describeAsset, describeMedia, describeTries, isSettled } from "./status.ts";

const reader = { now: new Date("2026-11-20T14:10:00Z"), timeZone: "UTC" };

function media(change: Partial<MediaStatus>): MediaStatus {
  return {
    actionKey: "11111111-1111-4111-8111-111111111111",
    assetId: "22222222-2222-4222-8222-222222222222",
    status: "file-processing-ready",
    filename: "interview.mov",
    sizeBytes: 412_000_000,
    sourceRevision: 1,
    waitingReason: null,
    placeInLine: null,
    retryAt: null,
    attempt: null,
    stage: null,
    progress: { fraction: 0, secondsLeft: null, renditions: [] },
    processByResolution: {},
    failure: null,
    generation: 1,
    cancelRequested: false,
    cancelledBy: null,
    preview: null,
    playback: null,
    updatedAt: "2026-11-20T14:02:00Z",
    ...change,
  };
}

function read(change: Partial<MediaStatus>): string {
  const { label, detail } = describeMedia(media(change), reader);
  return `${label} | ${detail}`.replaceAll("\u00a0", " ");
}

function asset(change: Partial<AssetSummary>): AssetSummary {
  return {
    id: "22222222-2222-4222-8222-222222222222",
    title: "Interview",
    description: "",
    state: "active",
    owner: { id: "u1", name: "Ada" },
    access: "owner",
    createdAt: "2026-11-20T14:00:00Z",
    version: null,
    posterUrl: null,
    posters: [],
    latest: null,
    ...change,
  };
}

const version = {
  id: "33333333-3333-4333-8333-333333333333",
  versionNumber: 1,
  durationSeconds: 12,
  width: 1920,
  height: 1080,
  sizeBytes: 1,
  hasAudio: true,
  publishedAt: "2026-11-20T14:02:00Z",
};

describe("what people read about a video", () => {
  it("U8 every status and every reason to wait has words, and none shows a state's own name", () => {
    for (const status of mediaStatuses)
      for (const waitingReason of [null, ...waitingReasons]) {
        const { label, detail } = describeMedia(media({ status, waitingReason }), reader);
        expect(label).not.toBe("");
        expect(detail).toMatch(/\w/);
        expect(`${label} ${detail}`).not.toMatch(
          /url-created|file-|job-|processing-c|waiting-for|retry-b|undefined|null|NaN/,
        );
      }
  });

  it("J8 a waiting job tells its place in line", () => {
    expect(read({ waitingReason: "waiting-for-slot", placeInLine: 3 })).toBe(
      "In line: 3rd | Starts when a worker is free.",
    );
  });

  it("J5 a job between two tries says why, when and which try comes next", () => {
    const failure = { code: "worker-lost", ...errorInfo("worker-lost") };
    expect(
      read({
        waitingReason: "retry-backoff",
        retryAt: "2026-11-20T14:10:40Z",
        attempt: { number: 1, limit: 3 },
        failure,
      }),
    ).toBe(
      "Trying again | The last try stopped. The worker stopped answering. Trying again in 40 s: 2 of 3.",
    );
  });

  it("J5 a try whose time has come is told as now, never as a negative wait", () => {
    expect(read({ waitingReason: "retry-backoff", retryAt: "2026-11-20T14:00:00Z" })).toContain(
      "Trying again now.",
    );
  });

  it("X1 a running job shows how far it is and how long it still takes", () => {
    expect(
      read({ status: "job-received", progress: { fraction: 0.614, secondsLeft: 170, renditions: [] } }),
    ).toBe("Processing 61 % | About 3 min left");
  });

  it("X1 a second try is told as such", () => {
    expect(
      read({
        status: "job-received",
        attempt: { number: 2, limit: 3 },
        progress: { fraction: 0.1, secondsLeft: null, renditions: [] },
      }),
    ).toBe("Processing 10 % | Working out how long it takes · try 2 of 3");
  });

  it("X1 a finished job names its version and when it was published", () => {
    expect(
      read({
        status: "processing-completed",
        playback: { endpoint: "/api/assets/x/playback", versionNumber: 3 },
      }),
    ).toBe("Ready | Version 3, published 14:02.");
  });

  it("U6 a rejection says what is wrong, that nothing was processed, and what to do next, for every code", () => {
    for (const code of errorCodes) {
      const { message, next } = errorInfo(code);
      expect(read({ status: "rejected", failure: { code, message, next } })).toBe(
        `Not accepted | ${message} Nothing was processed. ${next}`,
      );
    }
  });

  it("J5 a failure counts its tries", () => {
    const failure = {
      code: "encoder-failed",
      message: "Its sound track is damaged at 4:12.",
      next: "It is tried again.",
    };
    expect(read({ status: "failed", failure, attempt: { number: 3, limit: 3 } })).toBe(
      "Couldn't process this video | Its sound track is damaged at 4:12. Tried 3 times. An admin can try it again, or upload a new file.",
    );
  });

  it("J11 no failure that has ended promises another try by itself, whatever its code", () => {
    for (const code of errorCodes) {
      const { message, next } = errorInfo(code);
      const text = read({ status: "failed", failure: { code, message, next } });
      expect(text, code).not.toMatch(/It is tried again|Another worker goes on|Try again later/);
    }
  });

  it("J5 what the file itself needs is told as it stands in the table", () => {
    const failure = { code: "encrypted-video", ...errorInfo("encrypted-video") };
    expect(read({ status: "failed", failure, attempt: { number: 1, limit: 3 } })).toBe(
      "Couldn't process this video | The video is encrypted (DRM). Upload an unprotected copy.",
    );
  });

  it("J10 a cancelled job tells who stopped it, and a superseded one why", () => {
    expect(read({ status: "cancelled", cancelledBy: { kind: "person", name: "Ada" } })).toBe(
      "Cancelled | Cancelled by Ada at 14:02.",
    );
    expect(read({ status: "cancelled", cancelledBy: { kind: "you", name: "Olive" } })).toBe(
      "Cancelled | Cancelled by you at 14:02.",
    );
    expect(read({ status: "cancelled", cancelledBy: { kind: "deletion", name: null } })).toBe(
      "Cancelled | The video was deleted.",
    );
    expect(read({ status: "cancelled", cancelledBy: { kind: "block", name: null } })).toBe(
      "Cancelled | An admin has blocked the video. Once it is allowed again, an admin can try this again.",
    );
    expect(read({ status: "cancelled" })).toBe("Cancelled | Cancelled at 14:02.");
    expect(read({ status: "cancelled", cancelledBy: { kind: "newer-file", name: null } })).toBe(
      "Cancelled | A newer file has taken this one's place.",
    );
  });

  it("J10 between the request and the worker's stop it reads as cancelling, never as cancelled", () => {
    const asked = { status: "job-received", cancelRequested: true } as const;
    const tail = "Its worker stops at its next sign of life, usually within half a minute.";
    expect(read({ ...asked, cancelledBy: { kind: "you", name: "Olive" } })).toBe(
      `Cancelling… | Asked for by you. ${tail}`,
    );
    expect(read({ ...asked, cancelledBy: { kind: "person", name: "Ada" } })).toBe(
      `Cancelling… | Asked for by Ada. ${tail}`,
    );
    expect(read(asked)).toBe(`Cancelling… | Asked for. ${tail}`);
  });

  it("J8 a job above the budget keeps its place and says when it goes on", () => {
    expect(read({ waitingReason: "waiting-for-budget", placeInLine: 2 })).toBe(
      "In line: 2nd | Today's budget for workers is used up. It goes on by itself after midnight UTC.",
    );
  });

  it("J7 a job whose worker is being started says so, and how long that may take", () => {
    expect(read({ waitingReason: "launching", placeInLine: 1 })).toBe(
      "Starting | Starting a worker for it. A new machine takes about two minutes.",
    );
  });

  it("J5 tries are counted over all generations", () => {
    expect(describeTries({ number: 0, limit: 3 })).toBe("Not tried yet");
    expect(describeTries({ number: 4, limit: 6 })).toBe("Try 4 of 6");
  });

  it("U8 polling ends exactly in the states that nothing leaves by itself", () => {
    expect(mediaStatuses.filter((status) => !isSettled(status))).toEqual([
      "url-created",
      "file-uploaded",
      "file-processing-ready",
      "job-received",
    ]);
  });

  it("X1 a poster is quiet when the video is ready, and says so when anything else is the case", () => {
    const latest = {
      actionKey: version.id,
      status: "processing-completed",
      fraction: 1,
      failure: null,
    } as const;
    expect(describeAsset(asset({ version, latest }))).toBeNull();
    for (const status of mediaStatuses.filter((name) => name !== "processing-completed"))
      expect(describeAsset(asset({ version, latest: { ...latest, status } }))?.label).toMatch(/\w/);
    expect(describeAsset(asset({ state: "blocked", version, latest }))?.label).toBe("Blocked");
  });

  it("P2 a failing replacement says that the published version still plays", () => {
    const failure = { code: "not-a-video", ...errorInfo("not-a-video") };
    const latest = { actionKey: version.id, status: "rejected", fraction: 0, failure } as const;
    expect(describeAsset(asset({ version, latest }))?.detail).toBe(
      "This isn't a video file. The published version still plays.",
    );
    expect(describeAsset(asset({ latest }))?.detail).toBe("This isn't a video file.");
  });
});
