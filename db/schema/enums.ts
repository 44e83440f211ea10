/** Every Postgres enum, made from core's lists: the database can't know a state that the machine doesn't. */
import { roles } from "@reelkeep/core/access/policy";
import { assetKinds, assetStates } from "@reelkeep/core/asset/machine";
import { attemptStates, stages } from "@reelkeep/core/job/attempt-machine";
import { jobStates, waitingReasons } from "@reelkeep/core/job/machine";
import { outboxKinds, outboxStates } from "@reelkeep/core/outbox/machine";
import { uploadMethods, uploadStates } from "@reelkeep/core/upload/machine";
import { pgEnum } from "drizzle-orm/pg-core";

export const userRole = pgEnum("user_role", roles);
export const assetKind = pgEnum("asset_kind", assetKinds);
export const assetState = pgEnum("asset_state", assetStates);
export const uploadState = pgEnum("upload_state", uploadStates);
export const uploadMethod = pgEnum("upload_method", uploadMethods);
export const jobState = pgEnum("job_state", jobStates);
export const waitingReason = pgEnum("waiting_reason", waitingReasons);
export const attemptState = pgEnum("attempt_state", attemptStates);
export const stage = pgEnum("stage", stages);
export const outboxState = pgEnum("outbox_state", outboxStates);
export const outboxKind = pgEnum("outbox_kind", outboxKinds);
export const deletionKind = pgEnum("deletion_kind", ["object", "prefix"]);
export const publicationAction = pgEnum("publication_action", [
  "publish",
  "rollback",
  "import",
  "delete",
  "block",
  "unblock",
  "cancel",
  "retry",
  "choose-poster",
]);
export const actorKind = pgEnum("actor_kind", ["user", "worker", "system", "legacy-import"]);
