import { describe, expect, it } from "vitest";
import { mediaStatuses } from "../api/media.ts";
import {
  describeAllowing,
  describeBlocking,
  describeCancelling,
  describeDeletion,
  retryWords,
} from "./acts.ts";
import { isSettled } from "./status.ts";

const version = {
  id: "33333333-3333-4333-8333-333333333333",
  versionNumber: 2,
  durationSeconds: 12,
  width: 1920,
  height: 1080,
  sizeBytes: 1,
  hasAudio: true,
  publishedAt: "2026-11-20T14:02:00Z",
};
const published = { title: "Interview", version };
const unpublished = { title: "Interview", version: null };
const progress = (fraction: number) => ({ progress: { fraction, secondsLeft: null, renditions: [] } });
const cancelled = "What is still going on with its file is cancelled.";

describe("what people read before they act", () => {
  it("J10 cancelling tells what is lost and what stays", () => {
    const { question, consequences } = describeCancelling(published, progress(0.614));
    expect(question).toBe("Cancel processing “Interview”?");
    expect(consequences.map((text) => text.replaceAll("\u00a0", " "))).toEqual([
      "What is done so far (61 %) is lost.",
      "The original file stays, so an admin can try it again.",
    ]);
    expect(describeCancelling(published, progress(0)).consequences[0]).toBe(
      "The work that has begun is lost.",
    );
  });

  it("J10 deletion says that the address ends, when the files go, and that there is no way back", () => {
    expect(describeDeletion(unpublished, { status: "failed" }).consequences).toEqual([
      "Its address stops working for everyone at once.",
      "All its files are removed from storage within about a day.",
      "This can't be undone.",
    ]);
  });

  it("J10 deletion says that a job is cancelled exactly where one is unfinished", () => {
    for (const status of mediaStatuses)
      expect(describeDeletion(published, { status }).consequences.includes(cancelled), status).toBe(
        !isSettled(status),
      );
    expect(describeDeletion(published, undefined).consequences).not.toContain(cancelled);
  });

  it("X1 the button that deletes names what goes", () => {
    expect(describeDeletion(published, undefined).act).toBe("Delete the video and all its versions");
    expect(describeDeletion(unpublished, { status: "cancelled" }).act).toBe("Delete the video");
    expect(describeDeletion(unpublished, { status: "rejected" }).act).toBe("Delete this refused upload");
    expect(describeDeletion(published, { status: "rejected" }).act).toBe(
      "Delete the video and all its versions",
    );
  });

  it("X1 deletion and blocking admit that a viewing session goes on, where there is a film to watch", () => {
    const watching = "Whoever is watching now may go on until their viewing session ends.";
    for (const describeAct of [describeDeletion, describeBlocking]) {
      expect(describeAct(published, undefined).consequences).toContain(watching);
      expect(describeAct(unpublished, undefined).consequences).not.toContain(watching);
    }
  });

  it("X1 blocking says that it can be taken back, and allowing says who may watch again", () => {
    expect(describeBlocking(published, undefined).consequences.at(-1)).toMatch(/allow it again/);
    expect(describeAllowing(published).consequences[0]).toMatch(/owner, admins and the people invited/);
  });

  it("J11 a retry says what it gives", () => {
    expect(retryWords).toBe("3 more tries, from the original file.");
  });
});
