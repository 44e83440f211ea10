import { createHash, randomBytes } from "node:crypto";
import { type Actor, mayDo } from "@reelkeep/core/access/policy";
import type {
  AcceptedInvitation,
  AcceptInvitation,
  Account,
  Invitation,
  InvitationPreview,
  InvitationRequest,
  NewInvitation,
} from "@reelkeep/core/api/accounts";
import { AppError } from "@reelkeep/core/errors";
import type { Transaction } from "@reelkeep/db/client";
import {
  acceptInvitation as accept,
  findInvitation,
  findInvitationByToken,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  revokeInvitation as revoke,
} from "@reelkeep/db/invitations";
import { raiseRole } from "@reelkeep/db/users";
import type { ServiceContext } from "./context.ts";
import { requireAsset } from "./read-asset.ts";

type Needs = Pick<ServiceContext, "db" | "newId" | "appUrl">;

const validSeconds = 14 * 24 * 3600;

/** X4: an owner lets one person in to one video. @throws AppError `not-found`, `forbidden`. */
export async function inviteViewer(
  needs: Needs,
  actor: Actor,
  assetId: string,
  request: InvitationRequest,
): Promise<NewInvitation> {
  await requireAsset(needs, actor, assetId, "invite-viewer");
  return createInvitation(needs, actor, { assetId, role: "viewer", email: request.email ?? null });
}

/** X4: an admin lets one person in as a creator. @throws AppError `forbidden`. */
export async function inviteCreator(
  needs: Needs,
  actor: Actor,
  request: InvitationRequest,
): Promise<NewInvitation> {
  if (!mayDo(actor, "invite-creator")) throw new AppError("forbidden");
  return createInvitation(needs, actor, { assetId: null, role: "creator", email: request.email ?? null });
}

async function createInvitation(
  { db, newId, appUrl }: Needs,
  actor: Actor,
  invitation: { assetId: string | null; role: "viewer" | "creator"; email: string | null },
): Promise<NewInvitation> {
  const token = randomBytes(24).toString("base64url");
  const id = newId();
  await insertInvitation(db, {
    ...invitation,
    id,
    tokenHash: hashOf(token),
    invitedBy: actor.userId,
    validSeconds,
  });
  const row = await findInvitation(db, id);
  return { invitation: toInvitation(row!), url: `${appUrl}/invite/${token}` };
}

/** The invitations of one video. @throws AppError `not-found`, `forbidden`. */
export async function listViewers(
  needs: Pick<Needs, "db">,
  actor: Actor,
  assetId: string,
): Promise<Invitation[]> {
  await requireAsset(needs, actor, assetId, "manage-viewers");
  return (await listInvitations(needs.db, assetId)).map(toInvitation);
}

/** The invitations of creators. @throws AppError `forbidden`. */
export async function listGeneralInvitations({ db }: Pick<Needs, "db">, actor: Actor): Promise<Invitation[]> {
  if (!mayDo(actor, "invite-creator")) throw new AppError("forbidden");
  return (await listInvitations(db, null)).map(toInvitation);
}

/**
 * Ends an invitation and, for a viewer's, the permission to watch. Doing it again changes nothing.
 *
 * @throws AppError `not-found`, `forbidden`, `conflict` for one that has made somebody a creator: their role is the
 * account's and stays.
 */
export async function revokeInvitation(needs: Pick<Needs, "db">, actor: Actor, id: string): Promise<void> {
  const row = await findInvitation(needs.db, id);
  if (!row) throw new AppError("not-found");
  if (row.invitation.assetId) await requireAsset(needs, actor, row.invitation.assetId, "manage-viewers");
  else if (!mayDo(actor, "invite-creator")) throw new AppError("not-found");
  if (await revoke(needs.db, id)) return;
  const left = await findInvitation(needs.db, id);
  if (!left?.invitation.revokedAt)
    throw new AppError("conflict", {
      message:
        "This invitation was accepted: its person is a creator now, and revoking it would not change that.",
    });
}

/** Not revoked, and its video, where it is for one, can be watched: nobody learns anything of one that can't. */
const isOpen = ({ invitation, assetState }: InvitationRow): boolean =>
  !invitation.revokedAt && (assetState ?? "active") === "active";

/** What stands behind a link; null for one that `userId` (null: somebody new) can't accept. */
export async function previewInvitation(
  { db }: Pick<Needs, "db">,
  token: string,
  userId: string | null,
): Promise<InvitationPreview | null> {
  const row = await findInvitationByToken(db, hashOf(token));
  if (!row || !isOpen(row)) return null;
  const { acceptedBy } = row.invitation;
  if (acceptedBy ? acceptedBy !== userId : row.expired) return null;
  return { invitedBy: row.invitedByName, assetTitle: row.assetTitle, email: row.invitation.email };
}

/** Makes an account and, in the same transaction, does what `claim` does: both or neither. */
type SignUp = (
  person: NonNullable<AcceptInvitation["account"]>,
  claim: (tx: Transaction, userId: string) => Promise<void>,
) => Promise<Account>;

/**
 * Accepts an invitation for `account`, or for the new one that `signUp` makes. Only one person can, and whoever
 * comes second leaves no account behind; accepting it again is the same person's answer again.
 *
 * @throws AppError `invitation-invalid`, `invitation-expired`, `unauthenticated` (nobody to accept it), or what
 * `signUp` throws.
 */
export async function acceptInvitation(
  { db }: Pick<Needs, "db">,
  request: AcceptInvitation,
  account: Account | null,
  signUp: SignUp,
): Promise<AcceptedInvitation> {
  const row = await findInvitationByToken(db, hashOf(request.token));
  if (!row || !isOpen(row)) throw new AppError("invitation-invalid");
  const { id, role, assetId, email, acceptedBy } = row.invitation;
  if (acceptedBy && acceptedBy !== account?.id) throw new AppError("invitation-invalid");
  if (!acceptedBy && row.expired) throw new AppError("invitation-expired");
  const address = account?.email ?? request.account?.email;
  if (!address) throw new AppError("unauthenticated");
  if (email && email !== address)
    throw new AppError("invitation-invalid", { message: "This invitation is for another e-mail address." });
  const claim = async (tx: Transaction, userId: string) => {
    if (!(await accept(tx, id, userId))) throw new AppError("invitation-invalid");
    await raiseRole(tx, userId, role);
  };
  const person = account ?? (await signUp(request.account!, claim));
  if (account) await db.transaction((tx) => claim(tx, account.id));
  return { assetId, account: role === "creator" && person.role === "viewer" ? { ...person, role } : person };
}

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

function toInvitation({ invitation, acceptedByName, expired }: InvitationRow): Invitation {
  const { id, email, role, assetId, acceptedBy, revokedAt, createdAt, expiresAt } = invitation;
  return {
    id,
    email,
    role,
    assetId,
    state: revokedAt ? "revoked" : acceptedBy ? "accepted" : expired ? "expired" : "open",
    acceptedBy: acceptedBy ? { id: acceptedBy, name: acceptedByName ?? "" } : null,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
