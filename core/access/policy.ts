/**
 * Who may do what: the one policy. Services ask it; routes, pages and SQL never decide for themselves.
 */
export const roles = ["creator", "viewer", "admin"] as const;
export type Role = (typeof roles)[number];

/** Who asks. */
export interface Actor {
  readonly userId: string;
  readonly role: Role;
}

/** What the policy needs to know of an asset. `invited`: the actor accepted an invitation that still holds. */
export interface AssetFacts {
  readonly ownerId: string;
  readonly state: "active" | "blocked" | "deleted";
  readonly invited: boolean;
}

/** What can be done without an asset. */
export type GeneralAction = "create-asset" | "invite-creator" | "see-people" | "see-jobs";

/** What can be done with one asset. */
export type AssetAction =
  | "watch"
  | "see-details"
  | "edit"
  | "replace"
  | "invite-viewer"
  | "manage-viewers"
  | "cancel-job"
  | "retry-job"
  | "delete"
  | "block";

/** Whether `actor` may do `action` at all. */
export function mayDo(actor: Actor, action: GeneralAction): boolean {
  switch (action) {
    case "create-asset":
      return actor.role === "creator" || actor.role === "admin";
    case "invite-creator":
    case "see-people":
    case "see-jobs":
      return actor.role === "admin";
  }
}

/** Whether `actor` may do `action` with the asset that `asset` describes. */
export function mayDoWith(actor: Actor, action: AssetAction, asset: AssetFacts): boolean {
  if (asset.state === "deleted") return false;
  const admin = actor.role === "admin";
  const owner = asset.ownerId === actor.userId;
  switch (action) {
    case "watch":
      return asset.state === "active" && (admin || owner || asset.invited);
    case "see-details":
      return admin || owner;
    case "edit":
    case "replace":
    case "invite-viewer":
      return asset.state === "active" && (admin || owner);
    // Seeing who may watch, and ending it, also while nobody can.
    case "manage-viewers":
    case "cancel-job":
    case "delete":
      return admin || owner;
    case "retry-job":
    case "block":
      return admin;
  }
}
