import "server-only";
import { createMediaSigner } from "@reelkeep/aws/media-signer";
import { createObjectStore } from "@reelkeep/aws/object-store";
import { createPresigner } from "@reelkeep/aws/presign";
import { storageConfigOf } from "@reelkeep/aws/storage-config";
import type { Actor } from "@reelkeep/core/access/policy";
import type { Account, InvitationPreview } from "@reelkeep/core/api/accounts";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import { AppError } from "@reelkeep/core/errors";
import { uuidSchema } from "@reelkeep/core/ids";
import type { JobPolicy } from "@reelkeep/core/job/policy";
import { defaultUploadLimits, type UploadLimits } from "@reelkeep/core/upload/policy";
import { openDatabase } from "@reelkeep/db/client";
import { ownerExists as findOwner } from "@reelkeep/db/users";
import { type Accounts, actorOf, createAccounts, readSession } from "@reelkeep/services/accounts";
import type { ServiceContext } from "@reelkeep/services/context";
import { previewInvitation as preview } from "@reelkeep/services/invite-people";
import { getAsset } from "@reelkeep/services/list-library";
import { headers } from "next/headers";
import { cache } from "react";
import { readEnv } from "./env.ts";

/** What every route and page of this server stands on; made once a process. */
export interface ServerContext extends Omit<ServiceContext, "jobPolicy"> {
  /** What admins are shown of the rules of jobs; the dispatcher has them all. */
  readonly jobPolicy: Pick<JobPolicy, "workersMax" | "dailyBudgetUsd">;
  readonly accounts: Accounts;
  readonly ownerCode: string;
}

let made: ServerContext | undefined;

export function serverContext(): ServerContext {
  made ??= makeContext();
  return made;
}

function makeContext(): ServerContext {
  const env = readEnv();
  const { db } = openDatabase(env.DATABASE_URL, { applicationName: "reelkeep-web" });
  const storage = storageConfigOf(env);
  return {
    db,
    store: createObjectStore(storage),
    presigner: createPresigner(storage),
    mediaSigner: createMediaSigner({
      baseUrl: env.MEDIA_BASE_URL,
      keyPairId: env.CLOUDFRONT_KEY_PAIR_ID,
      privateKeyPem: env.CLOUDFRONT_PRIVATE_KEY,
    }),
    uploadLimits: {
      multipartThresholdBytes: env.MULTIPART_THRESHOLD_BYTES,
      partBytesMin: env.MULTIPART_PART_BYTES_MIN,
      sizeBytesMax: env.MAX_UPLOAD_BYTES,
      durationSecondsMax: env.MAX_DURATION_SECONDS,
      openUploadsMax: defaultUploadLimits.openUploadsMax,
    },
    jobPolicy: { workersMax: env.WORKERS_MAX, dailyBudgetUsd: env.DAILY_BUDGET_USD ?? null },
    profile: env.PROFILE,
    quotaBytes: env.QUOTA_BYTES,
    playbackSeconds: env.PLAYBACK_SECONDS,
    appUrl: env.APP_URL.replace(/\/$/, ""),
    probeScript: env.PROBE_SCRIPT,
    newId: () => crypto.randomUUID(),
    accounts: createAccounts({ db, secret: env.AUTH_SECRET, appUrl: env.APP_URL.replace(/\/$/, "") }),
    ownerCode: env.OWNER_CODE,
  };
}

/** Who is asking; null for nobody. Asked once a request, however many components want to know. */
export const currentAccount = cache(
  async (): Promise<Account | null> => readSession(serverContext().accounts, await headers()),
);

/** Who is asking. @throws AppError `unauthenticated`. */
export async function requireActor(): Promise<Actor> {
  const account = await currentAccount();
  if (!account) throw new AppError("unauthenticated");
  return actorOf(account);
}

/** Whether the first start is over. */
export const ownerExists = cache(async (): Promise<boolean> => findOwner(serverContext().db));

/** What the browser must know to act as the server will. */
export const clientSettings = (): { uploadLimits: UploadLimits } => ({
  uploadLimits: serverContext().uploadLimits,
});

/** What stands behind an invitation's link; null for one that can't be accepted. */
export const previewInvitation = async (token: string): Promise<InvitationPreview | null> =>
  preview(serverContext(), token, (await currentAccount())?.id ?? null);

/** The asset, if whoever asks may see it; else null. */
export async function findVisibleAsset(id: string): Promise<AssetSummary | null> {
  const account = await currentAccount();
  if (!account || !uuidSchema.safeParse(id).success) return null;
  try {
    return await getAsset(serverContext(), actorOf(account), id);
  } catch (error) {
    if (error instanceof AppError && error.code === "not-found") return null;
    throw error;
  }
}
