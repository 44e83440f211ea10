import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createMediaSigner } from "@reelkeep/aws/media-signer";
import { createObjectStore } from "@reelkeep/aws/object-store";
import { createPresigner } from "@reelkeep/aws/presign";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import type { Actor, Role } from "@reelkeep/core/access/policy";
import type { UploadAnswer } from "@reelkeep/core/api/media";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { defaultUploadLimits } from "@reelkeep/core/upload/policy";
import { openDatabase } from "@reelkeep/db/client";
import { seedUser } from "@reelkeep/db/testing/seed";
import { authorizeUpload } from "../authorize-upload.ts";
import type { ServiceContext } from "../context.ts";
import type { VerifiedOutput } from "../publish-version.ts";
import { signUploadRequest } from "../sign-upload-request.ts";

/** The services' whole surroundings on a real database and a real storage. */
export interface TestContext extends ServiceContext {
  readonly databaseUrl: string;
  readonly publicKeyPem: string;
  close(): Promise<void>;
}

export function createTestContext(databaseUrl: string, storage: StorageConfig): TestContext {
  const { db, close } = openDatabase(databaseUrl);
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return {
    db,
    databaseUrl,
    publicKeyPem: publicKey,
    close,
    store: createObjectStore(storage),
    presigner: createPresigner(storage),
    mediaSigner: createMediaSigner({
      baseUrl: "http://localhost:3001",
      keyPairId: "KTEST",
      privateKeyPem: privateKey,
    }),
    uploadLimits: {
      ...defaultUploadLimits,
      multipartThresholdBytes: 6 * 1024 * 1024,
      partBytesMin: 5 * 1024 * 1024,
    },
    jobPolicy: defaultJobPolicy,
    profile: "hls-ts-v1",
    quotaBytes: 1024 ** 3,
    playbackSeconds: 3600,
    appUrl: "http://localhost:3000",
    probeScript: fileURLToPath(new URL("../probe-process.ts", import.meta.url)),
    newId: randomUUID,
  };
}

/** A person who asks. */
export const createActor = async (context: ServiceContext, role: Role = "creator"): Promise<Actor> => ({
  userId: await seedUser(context.db, role),
  role,
});

/** What a browser asks for a file that it sends in one piece. */
export const uploadRequest = (body: Uint8Array, filename = "film.mp4", contentType = "video/mp4") => ({
  actionKey: randomUUID(),
  asset: { new: {} },
  filename,
  sizeBytes: body.length,
  contentType,
  checksumSha256: createHash("sha256").update(body).digest("base64"),
});

/** Brings a file to storage as a browser does: authorise, sign, PUT. */
export async function sendFile(
  context: ServiceContext,
  actor: Actor,
  body: Uint8Array,
  request: Parameters<typeof authorizeUpload>[2] = uploadRequest(body),
): Promise<UploadAnswer> {
  const upload = await authorizeUpload(context, actor, request);
  const signed = await signUploadRequest(context, actor, upload.actionKey, {
    method: "PUT",
    key: upload.key,
  });
  const answer = await fetch(signed.url, {
    method: "PUT",
    headers: signed.headers,
    body: new Uint8Array(body),
  });
  if (!answer.ok) throw new Error(`storage answered ${answer.status}: ${await answer.text()}`);
  return upload;
}

/** The smallest file whose signature is an MP4's; ffprobe would refuse it, admission leaves that to ffprobe. */
export function tinyMp4(seed = 0): Uint8Array {
  const file = new Uint8Array(2048).fill(seed);
  file.set([
    0,
    0,
    0,
    24,
    ...new TextEncoder().encode("ftypisom"),
    0,
    0,
    2,
    0,
    ...new TextEncoder().encode("isomiso2"),
  ]);
  return file;
}

/** What a worker that has verified everything wants to publish; nothing of it lies in storage. */
export const verifiedOutput: VerifiedOutput = {
  processor: "ffmpeg-cpu",
  masterName: "master.m3u8",
  posterName: "poster-1.jpg",
  posterSuggestions: ["poster-1.jpg", "poster-2.jpg"],
  storyboardName: null,
  durationSeconds: 10,
  width: 1280,
  height: 720,
  hasAudio: true,
  renditions: [],
  inventory: [],
  sizeBytes: 1,
  progress: { renditions: [], processByResolution: { "720p": "processed/x/720p/playlist.m3u8" } },
};
