import { describe, expect, it } from "vitest";
import { type AssetAction, type AssetFacts, mayDo, mayDoWith, type Role } from "./policy.ts";

const actions: AssetAction[] = [
  "watch",
  "see-details",
  "edit",
  "replace",
  "invite-viewer",
  "manage-viewers",
  "cancel-job",
  "retry-job",
  "delete",
  "block",
];
const facts = (change: Partial<AssetFacts> = {}): AssetFacts => ({
  ownerId: "owner",
  state: "active",
  invited: false,
  ...change,
});
const granted = (userId: string, role: Role, asset: AssetFacts) =>
  actions.filter((action) => mayDoWith({ userId, role }, action, asset));

describe("D5 X4 the one policy", () => {
  it("D5 a private video is its owner's and the admins'; an invited person watches it and no more", () => {
    expect(granted("owner", "creator", facts())).toEqual(
      actions.filter((action) => action !== "block" && action !== "retry-job"),
    );
    expect(granted("somebody", "admin", facts())).toEqual(actions);
    expect(granted("somebody", "creator", facts())).toEqual([]);
    expect(granted("somebody", "viewer", facts({ invited: true }))).toEqual(["watch"]);
  });

  it("P1 D5 a blocked video plays for nobody and isn't changed; it can still be seen and deleted by whose it is", () => {
    const blocked = facts({ state: "blocked", invited: true });
    expect(granted("owner", "creator", blocked)).toEqual([
      "see-details",
      "manage-viewers",
      "cancel-job",
      "delete",
    ]);
    expect(granted("somebody", "viewer", blocked)).toEqual([]);
    expect(granted("somebody", "admin", blocked)).toEqual([
      "see-details",
      "manage-viewers",
      "cancel-job",
      "retry-job",
      "delete",
      "block",
    ]);
  });

  it("D5 of a deleted video nothing is left for anybody", () => {
    for (const role of ["creator", "viewer", "admin"] as const)
      expect(granted("owner", role, facts({ state: "deleted", invited: true }))).toEqual([]);
  });

  it("X4 creators and admins upload; only admins let creators in and see people and jobs", () => {
    const may = (role: Role) =>
      (["create-asset", "invite-creator", "see-people", "see-jobs"] as const).filter((action) =>
        mayDo({ userId: "x", role }, action),
      );
    expect([may("viewer"), may("creator"), may("admin")]).toEqual([
      [],
      ["create-asset"],
      ["create-asset", "invite-creator", "see-people", "see-jobs"],
    ]);
  });
});
