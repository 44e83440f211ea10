import type { Role } from "@reelkeep/core/access/policy";
import { type MediaStatus, mediaStatuses } from "@reelkeep/core/api/media";
import { describe, expect, it } from "vitest";
import { offeredActs } from "./offered-acts.ts";

const offered = (
  role: Role,
  change: Partial<MediaStatus>,
  asset: { ownerId?: string; state?: "active" | "blocked" | "deleted" } = {},
) =>
  offeredActs(
    { userId: "ada", role },
    { ownerId: "ada", state: "active", invited: false, ...asset },
    { status: "file-processing-ready", cancelRequested: false, cancelledBy: null, ...change },
  );

describe("what the buttons of a job offer", () => {
  it("J10 a waiting job is cancelled at once, one that is worked on after a question, any other not at all", () => {
    const cancels = Object.fromEntries(
      mediaStatuses.map((status) => [status, offered("creator", { status }).cancel]),
    );
    expect(cancels).toEqual({
      "url-created": "no",
      "file-uploaded": "no",
      rejected: "no",
      expired: "no",
      "file-processing-ready": "at-once",
      "job-received": "confirm",
      "processing-completed": "no",
      failed: "no",
      cancelled: "no",
    });
  });

  it("J10 cancelling isn't offered twice, nor to strangers", () => {
    expect(offered("creator", { status: "job-received", cancelRequested: true }).cancel).toBe("no");
    expect(offered("creator", {}, { ownerId: "olive" }).cancel).toBe("no");
    expect(offered("admin", {}, { ownerId: "olive" }).cancel).toBe("at-once");
  });

  it("J11 admins alone are offered another try, of what failed or was cancelled", () => {
    const tried = mediaStatuses.filter((status) => offered("admin", { status }).retry);
    expect(tried).toEqual(["failed", "cancelled"]);
    expect(mediaStatuses.filter((status) => offered("creator", { status }).retry)).toEqual([]);
  });

  it("J11 no other try is offered where the server would refuse it", () => {
    const cancelled = { status: "cancelled" } as const;
    for (const kind of ["newer-file", "deletion"] as const)
      expect(offered("admin", { ...cancelled, cancelledBy: { kind, name: null } }).retry).toBe(false);
    for (const state of ["blocked", "deleted"] as const)
      expect(offered("admin", cancelled, { state }).retry).toBe(false);
    for (const kind of ["you", "block"] as const)
      expect(offered("admin", { ...cancelled, cancelledBy: { kind, name: null } }).retry).toBe(true);
  });
});
