import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { assets } from "@reelkeep/db/schema/assets";
import { deletionLedger } from "@reelkeep/db/schema/deletion-ledger";
import { jobs } from "@reelkeep/db/schema/jobs";
import { outboxMessages } from "@reelkeep/db/schema/outbox-messages";
import { travel } from "@reelkeep/db/testing/clock";
import { findUpload } from "@reelkeep/db/uploads";
import { lockUser } from "@reelkeep/db/users";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { eq, inArray, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admitStoredObject, completeUpload } from "./admit-upload.ts";
import { authorizeUpload } from "./authorize-upload.ts";
import { claimJob } from "./claim-job.ts";
import { cleanStorage } from "./clean-storage.ts";
import { expireUploads, giveUpUpload } from "./expire-uploads.ts";
import { getMediaStatus } from "./get-media-status.ts";
import { heartbeat } from "./heartbeat.ts";
import { setAssetState } from "./set-asset-state.ts";
import { createMultipartUpload, signUploadRequest } from "./sign-upload-request.ts";
import {
  createActor,
  createTestContext,
  sendFile,
  type TestContext,
  tinyMp4,
  uploadRequest,
} from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let creator: Actor;
let stranger: Actor;

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  creator = await createActor(context);
  stranger = await createActor(context);
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});

const code = (value: string) => expect.objectContaining({ code: value });

/** What comes of two calls of `ask` that go on together: each has come as far as it can with the person's row locked. */
async function askTwice<T>(actor: Actor, ask: () => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const { outcomes } = await context.db.transaction(async (tx) => {
    await lockUser(tx, actor.userId);
    const both = { outcomes: Promise.allSettled([ask(), ask()]) };
    await expect.poll(async () => (await context.db.execute(waiting)).rowCount).toBe(2);
    return both;
  });
  return outcomes;
}

describe("asking for an upload", () => {
  it("U1 the row exists before any URL does, and repeating the request answers the same upload", async () => {
    const request = uploadRequest(tinyMp4());
    const first = await authorizeUpload(context, creator, request);
    expect(first.key).toBe(`uploads/${creator.userId}/${request.actionKey}/source.mp4`);
    expect((await findUpload(context.db, request.actionKey))?.state).toBe("url-created");
    expect(await authorizeUpload(context, creator, request)).toEqual(first);
  });

  it("U1 ten twins at once make one upload and one asset", async () => {
    const before = await context.db.$count(assets, eq(assets.ownerId, creator.userId));
    const request = uploadRequest(tinyMp4());
    const answers = Array.from({ length: 10 }, () => authorizeUpload(context, creator, request));
    expect(new Set((await Promise.all(answers)).map(({ assetId }) => assetId)).size).toBe(1);
    expect(await context.db.$count(assets, eq(assets.ownerId, creator.userId))).toBe(before + 1);
  });

  it("U1 twins that both found no upload yet make one upload and one asset", async () => {
    const actor = await createActor(context);
    const request = uploadRequest(tinyMp4());
    const [first, second] = await askTwice(actor, () => authorizeUpload(context, actor, request));
    expect(first?.status).toBe("fulfilled");
    expect(second).toEqual(first);
    expect(await context.db.$count(assets, eq(assets.ownerId, actor.userId))).toBe(1);
  });

  it.each([
    ["a viewer", "viewer", {}, "forbidden"],
    ["an ending off the list", "creator", { filename: "notes.txt" }, "file-type-not-allowed"],
    ["a type that isn't video", "creator", { contentType: "text/html" }, "file-type-not-allowed"],
    ["an empty file", "creator", { sizeBytes: 0 }, "empty-file"],
    ["a file beyond the limit", "creator", { sizeBytes: 2 ** 50 }, "file-too-large"],
    ["a file beyond the quota", "creator", { sizeBytes: 2 * 1024 ** 3 }, "quota-exceeded"],
    ["a single PUT without a checksum", "creator", { checksumSha256: undefined }, "invalid-request"],
    ["an asset of somebody else", "creator", { asset: { id: randomUUID() } }, "not-found"],
  ] as const)("U1 %s is refused", async (_what, role, change, refusal) => {
    const actor = await createActor(context, role);
    const request = { ...uploadRequest(tinyMp4()), ...change };
    await expect(authorizeUpload(context, actor, request)).rejects.toEqual(code(refusal));
    expect(await findUpload(context.db, request.actionKey)).toBeNull();
  });

  it("U1 repeating a request for another file is refused", async () => {
    const request = uploadRequest(tinyMp4());
    await authorizeUpload(context, creator, request);
    for (const change of [
      { filename: "other.mp4" },
      { sizeBytes: 2047 },
      { checksumSha256: uploadRequest(tinyMp4(1)).checksumSha256 },
    ])
      await expect(authorizeUpload(context, creator, { ...request, ...change })).rejects.toEqual(
        code("upload-mismatch"),
      );
  });

  it("U1 a person has so many unfinished uploads and no more, also when two are asked for at once", async () => {
    const actor = await createActor(context);
    const narrow = { ...context, uploadLimits: { ...context.uploadLimits, openUploadsMax: 2 } };
    const ask = () => authorizeUpload(narrow, actor, uploadRequest(tinyMp4()));
    const { actionKey } = await ask();
    const outcomes = await askTwice(actor, ask);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(ask()).rejects.toEqual(code("too-many-unfinished"));
    await giveUpUpload(context, actor, actionKey);
    await ask();
  });

  it("U1 a deleted video counts against the quota until storage has lost it, and not after", async () => {
    const actor = await createActor(context);
    const body = tinyMp4();
    const small = { ...context, quotaBytes: body.length };
    const { actionKey, assetId } = await sendFile(context, actor, body);
    await completeUpload(context, actor, actionKey);
    const ask = () => authorizeUpload(small, actor, uploadRequest(body));
    await expect(ask()).rejects.toEqual(code("quota-exceeded"));
    await setAssetState(context, actor, assetId, "delete");
    await expect(ask()).rejects.toEqual(code("quota-exceeded"));
    await travel(context.db, 3601);
    try {
      await cleanStorage(context);
      await ask();
    } finally {
      await travel(context.db, 0);
    }
  });

  it("U1 somebody else's actionKey opens nothing", async () => {
    const request = uploadRequest(tinyMp4());
    await authorizeUpload(context, creator, request);
    await expect(authorizeUpload(context, stranger, request)).rejects.toEqual(code("upload-mismatch"));
    const { actionKey } = uploadRequest(tinyMp4());
    const rivals = await Promise.all([createActor(context), createActor(context)]);
    const outcomes = await Promise.allSettled(
      rivals.map((rival) => authorizeUpload(context, rival, { ...request, actionKey })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "upload-mismatch" },
    });
    const owners = rivals.map(({ userId }) => userId);
    expect(await context.db.$count(assets, inArray(assets.ownerId, owners))).toBe(1);
  });
});

describe("signing", () => {
  it("U2 another key, uploadId, method, part or user than the row's is refused before anything is signed", async () => {
    const single = await authorizeUpload(context, creator, uploadRequest(tinyMp4()));
    const big = {
      ...uploadRequest(new Uint8Array(1)),
      sizeBytes: 12 * 1024 * 1024,
      checksumSha256: undefined,
    };
    const multi = await authorizeUpload(context, creator, big);
    const { uploadId } = await createMultipartUpload(context, creator, multi.actionKey);
    const refused: [Actor, string, Parameters<typeof signUploadRequest>[3]][] = [
      [stranger, single.actionKey, { method: "PUT", key: single.key }],
      [creator, single.actionKey, { method: "PUT", key: multi.key }],
      [creator, single.actionKey, { method: "DELETE", key: single.key }],
      [creator, single.actionKey, { method: "GET", key: single.key }],
      [creator, single.actionKey, { method: "PUT", key: single.key, uploadId, partNumber: 1 }],
      [creator, multi.actionKey, { method: "PUT", key: multi.key }],
      [creator, multi.actionKey, { method: "DELETE", key: multi.key }],
      [creator, multi.actionKey, { method: "PUT", key: multi.key, uploadId: "another", partNumber: 1 }],
      [creator, multi.actionKey, { method: "PUT", key: multi.key, uploadId }],
      [creator, multi.actionKey, { method: "PUT", key: multi.key, uploadId, partNumber: 0 }],
      [creator, multi.actionKey, { method: "PUT", key: multi.key, uploadId, partNumber: 4 }],
      [creator, randomUUID(), { method: "PUT", key: single.key }],
    ];
    for (const [actor, actionKey, request] of refused)
      await expect(
        signUploadRequest(context, actor, actionKey, request),
        JSON.stringify(request),
      ).rejects.toEqual(expect.objectContaining({ code: "upload-mismatch", status: 403 }));
  });

  it("U2 storage refuses another type, length or content than was signed, and a second PUT", async () => {
    const body = tinyMp4();
    const upload = await authorizeUpload(context, creator, uploadRequest(body));
    const sign = () =>
      signUploadRequest(context, creator, upload.actionKey, { method: "PUT", key: upload.key });
    const put = async (change: Record<string, string>, sent: Uint8Array) => {
      const { url, headers } = await sign();
      const init = { method: "PUT", headers: { ...headers, ...change }, body: new Uint8Array(sent) };
      return (await fetch(url, init)).status;
    };
    expect(await put({ "content-type": "text/html" }, body)).toBe(403);
    expect(await put({}, body.subarray(1))).toBe(403);
    expect(await put({}, tinyMp4(1))).toBe(400);
    expect(await put({}, body)).toBe(200);
    expect(await put({}, body)).toBe(412);
  });

  it("U2 a file in parts: the server owns the uploadId, each part is signed with its exact length", async () => {
    const body = new Uint8Array(12 * 1024 * 1024).fill(7);
    body.set(tinyMp4());
    const upload = await authorizeUpload(context, creator, {
      ...uploadRequest(body),
      checksumSha256: undefined,
    });
    expect(upload).toMatchObject({ method: "multipart", partSizeBytes: 5 * 1024 * 1024 });
    const twins = await Promise.all(
      [1, 2, 3].map(() => createMultipartUpload(context, creator, upload.actionKey)),
    );
    expect(new Set(twins.map((twin) => twin.uploadId)).size).toBe(1);
    const { key, uploadId } = twins[0]!;
    expect(await context.store.listMultipartUploads(key)).toHaveLength(1);
    const created = await signUploadRequest(context, creator, upload.actionKey, { method: "POST", key });
    expect(created.url).toBe(`/api/media/${upload.actionKey}/multipart`);

    const sign = (request: { method: "PUT" | "POST"; partNumber?: number }) =>
      signUploadRequest(context, creator, upload.actionKey, { key, uploadId, ...request });
    const parts: string[] = [];
    for (const partNumber of [1, 2, 3]) {
      const from = (partNumber - 1) * upload.partSizeBytes!;
      const { url } = await sign({ method: "PUT", partNumber });
      const short = await fetch(url, { method: "PUT", body: new Uint8Array(10) });
      expect(short.status).toBe(403);
      const answer = await fetch(url, {
        method: "PUT",
        body: body.slice(from, from + upload.partSizeBytes!),
      });
      parts.push(
        `<Part><PartNumber>${partNumber}</PartNumber><ETag>${answer.headers.get("etag")}</ETag></Part>`,
      );
    }
    const complete = await sign({ method: "POST" });
    const done = await fetch(complete.url, {
      method: "POST",
      headers: { ...complete.headers, "content-type": "application/xml" },
      body: `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`,
    });
    expect(done.status).toBe(200);
    expect((await completeUpload(context, creator, upload.actionKey)).status).toBe("file-processing-ready");
  });

  it("U2 nothing is signed for a blocked video; deleting one ends its uploads, and what was on its way goes", async () => {
    const actor = await createActor(context);
    const body = tinyMp4();
    const request = uploadRequest(body);
    const upload = await authorizeUpload(context, actor, request);
    const inParts = { ...uploadRequest(body), sizeBytes: 12 * 1024 * 1024, checksumSha256: undefined };
    const other = await authorizeUpload(context, actor, { ...inParts, asset: { id: upload.assetId } });
    const sign = () =>
      signUploadRequest(context, actor, upload.actionKey, { method: "PUT", key: upload.key });
    const onItsWay = await sign();
    const admin = await createActor(context, "admin");
    await setAssetState(context, admin, upload.assetId, "block");
    await expect(sign()).rejects.toEqual(code("asset-blocked"));
    await expect(createMultipartUpload(context, actor, other.actionKey)).rejects.toEqual(
      code("asset-blocked"),
    );
    await setAssetState(context, admin, upload.assetId, "unblock");
    await setAssetState(context, actor, upload.assetId, "delete");
    await expect(sign()).rejects.toEqual(code("upload-closed"));
    await expect(createMultipartUpload(context, actor, other.actionKey)).rejects.toEqual(
      code("upload-closed"),
    );
    expect(await findUpload(context.db, upload.actionKey)).toMatchObject({
      state: "expired",
      errorCode: "asset-deleted",
    });
    const sent = await fetch(onItsWay.url, {
      method: "PUT",
      headers: onItsWay.headers,
      body: Buffer.from(body),
    });
    expect(sent.status).toBe(200);
    await travel(context.db, 3601);
    try {
      await cleanStorage(context);
    } finally {
      await travel(context.db, 0);
    }
    expect(await context.store.head(upload.key)).toBeNull();
  });

  it("U2 nothing is signed for an upload that has ended", async () => {
    const upload = await sendFile(context, creator, tinyMp4());
    await completeUpload(context, creator, upload.actionKey);
    await expect(
      signUploadRequest(context, creator, upload.actionKey, { method: "PUT", key: upload.key }),
    ).rejects.toEqual(code("upload-closed"));
  });
});

describe("admission", () => {
  it("U5 complete and the event, a hundred times at once, make one job and one intent", async () => {
    const upload = await sendFile(context, creator, tinyMp4());
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        i % 2 === 0
          ? admitStoredObject(context, upload.key)
          : completeUpload(context, creator, upload.actionKey),
      ),
    );
    const made = await context.db.select().from(jobs).where(eq(jobs.assetId, upload.assetId));
    expect(made).toHaveLength(1);
    const intents = await context.db
      .select()
      .from(outboxMessages)
      .where(eq(outboxMessages.actionKey, upload.actionKey));
    expect(intents).toHaveLength(1);
    expect((await findUpload(context.db, upload.actionKey))?.sourceRevision).toBe(1);
  });

  it.each([
    ["a ZIP archive", new TextEncoder().encode("PK\u0003\u0004 and more"), "not-a-video", "ZIP archive"],
    ["a PNG", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), "not-a-video", "PNG picture"],
    ["a web page", new TextEncoder().encode("<!doctype html><p>hello"), "not-a-video", "web page"],
    [
      "a playlist",
      new TextEncoder().encode("#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd"),
      "not-a-video",
      "playlist",
    ],
  ])(
    "U6 %s named .mp4 is rejected with a code and a sentence; no job, and its object goes",
    async (_what, body, rejection, sentence) => {
      const upload = await sendFile(context, creator, body);
      const answer = await completeUpload(context, creator, upload.actionKey);
      expect(answer).toMatchObject({ status: "rejected", failure: { code: rejection } });
      expect(answer.failure?.message).toContain(sentence);
      expect(await completeUpload(context, creator, upload.actionKey)).toEqual(answer);
      expect(await findJob(context.db, upload.actionKey)).toBeNull();
      await cleanStorage(context);
      expect(await context.store.head(upload.key)).toBeNull();
    },
  );

  it("U5 complete before the object is there answers that it hasn't arrived, and changes nothing", async () => {
    const upload = await authorizeUpload(context, creator, uploadRequest(tinyMp4()));
    await expect(completeUpload(context, creator, upload.actionKey)).rejects.toEqual(
      code("upload-incomplete"),
    );
    expect((await findUpload(context.db, upload.actionKey))?.state).toBe("url-created");
  });

  it("U5 an event outside uploads/ is ignored, one without a row only enters a deletion", async () => {
    expect(await admitStoredObject(context, "processed/a/b/c.ts")).toBe("ignored");
    const foreign = `uploads/${creator.userId}/${randomUUID()}/source.mp4`;
    expect(await admitStoredObject(context, foreign)).toBe("deleted-later");
    const entries = await context.db.select().from(deletionLedger).where(eq(deletionLedger.target, foreign));
    expect(entries).toHaveLength(1);
  });

  it("U5 a newer revision makes the older unfinished job superseded", async () => {
    const first = await sendFile(context, creator, tinyMp4());
    await completeUpload(context, creator, first.actionKey);
    const attemptId = randomUUID();
    const claim = { actionKey: first.actionKey, generation: 1, attemptId, workerId: randomUUID() };
    expect((await claimJob(context, { ...claim, machineId: null })).outcome).toBe("claimed");
    const body = tinyMp4(2);
    const second = await sendFile(context, creator, body, {
      ...uploadRequest(body),
      asset: { id: first.assetId },
    });
    expect(second.assetId).toBe(first.assetId);
    await completeUpload(context, creator, second.actionKey);
    expect(await findJob(context.db, first.actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "superseded",
    });
    expect(await findJob(context.db, second.actionKey)).toMatchObject({
      state: "file-processing-ready",
      sourceRevision: 2,
    });
    // What the older worker has written goes, and whoever waits for its job is told.
    const [attempt] = await listAttempts(context.db, first.actionKey);
    expect(attempt).toMatchObject({ id: attemptId, state: "superseded" });
    expect(
      await context.db.select().from(deletionLedger).where(eq(deletionLedger.target, attempt!.outputPrefix)),
    ).toMatchObject([{ kind: "prefix", reason: "attempt-supersede" }]);
    const messages = await context.db
      .select()
      .from(outboxMessages)
      .where(eq(outboxMessages.actionKey, first.actionKey));
    expect(messages.find(({ kind }) => kind === "job-ended")?.payload).toMatchObject({ state: "cancelled" });
  });
});

describe("the end of an upload", () => {
  const inParts = () => ({
    ...uploadRequest(new Uint8Array(1)),
    sizeBytes: 12 * 1024 * 1024,
    checksumSha256: undefined,
  });
  const at = async (seconds: number, act: () => Promise<unknown>) => {
    await travel(context.db, seconds);
    try {
      return await act();
    } finally {
      await travel(context.db, 0);
    }
  };

  it("U7 an abandoned upload expires with its parts; one whose object is there is admitted instead", async () => {
    const abandoned = await authorizeUpload(context, creator, inParts());
    await createMultipartUpload(context, creator, abandoned.actionKey);
    const lostEvent = await sendFile(context, creator, tinyMp4());
    await at(25 * 3600, () => expireUploads(context));
    expect((await findUpload(context.db, abandoned.actionKey))?.state).toBe("expired");
    expect((await findUpload(context.db, lostEvent.actionKey))?.state).toBe("file-uploaded");
    await at(25 * 3600, () => cleanStorage(context));
    expect(await context.store.listMultipartUploads(abandoned.key)).toEqual([]);
    // Whoever was about to begin when it expired begins late: the second look, a day later, finds those parts.
    await context.store.createMultipartUpload(abandoned.key, { contentType: "video/mp4" });
    await at(50 * 3600, () => cleanStorage(context));
    expect(await context.store.listMultipartUploads(abandoned.key)).toEqual([]);
  });

  it("U7 an upload that can't be looked at stays for the next sweep and keeps no other from expiring", async () => {
    const [unlucky, other] = [
      await authorizeUpload(context, creator, inParts()),
      await authorizeUpload(context, creator, inParts()),
    ];
    const ailing: TestContext["store"] = {
      ...context.store,
      head: (key) => (key === unlucky.key ? Promise.reject(new Error("no answer")) : context.store.head(key)),
    };
    const swept = await at(25 * 3600, () => expireUploads({ ...context, store: ailing }));
    expect(swept).toMatchObject({ expired: 1, failures: [{ actionKey: unlucky.actionKey }] });
    expect((await findUpload(context.db, other.actionKey))?.state).toBe("expired");
    expect((await findUpload(context.db, unlucky.actionKey))?.state).toBe("url-created");
  });

  it("U7 what arrives after the first deletion is deleted too, and looked for once more a day later", async () => {
    const { key, actionKey } = await authorizeUpload(context, creator, uploadRequest(tinyMp4()));
    await giveUpUpload(context, creator, actionKey);
    await cleanStorage(context);
    const arrive = () => context.store.putText(key, "late", { contentType: "video/mp4" });
    await arrive();
    expect(await admitStoredObject(context, key)).toBe("deleted-later");
    await cleanStorage(context);
    expect(await context.store.head(key)).toBeNull();
    await arrive();
    await at(25 * 3600, () => cleanStorage(context));
    expect(await context.store.head(key)).toBeNull();
  });

  it("U7 whoever gives an upload up ends it; a file that arrives late is only deleted", async () => {
    const body = tinyMp4();
    const upload = await authorizeUpload(context, creator, uploadRequest(body));
    const late = await signUploadRequest(context, creator, upload.actionKey, {
      method: "PUT",
      key: upload.key,
    });
    await giveUpUpload(context, creator, upload.actionKey);
    await fetch(late.url, { method: "PUT", headers: late.headers, body: new Uint8Array(body) });
    expect(await admitStoredObject(context, upload.key)).toBe("deleted-later");
    await expect(completeUpload(context, creator, upload.actionKey)).rejects.toEqual(code("upload-given-up"));
    await cleanStorage(context);
    expect(await context.store.head(upload.key)).toBeNull();
  });
});

describe("status", () => {
  it("U8 owner and admins see it with its place in line; for everybody else there is nothing", async () => {
    const upload = await sendFile(context, creator, tinyMp4());
    expect((await getMediaStatus(context, creator, upload.actionKey)).status).toBe("url-created");
    await completeUpload(context, creator, upload.actionKey);
    const status = await getMediaStatus(context, creator, upload.actionKey);
    expect(status).toMatchObject({ status: "file-processing-ready", waitingReason: "queued" });
    expect(status.placeInLine).toBeGreaterThan(0);
    const admin = await createActor(context, "admin");
    expect(await getMediaStatus(context, admin, upload.actionKey)).toEqual(status);
    await expect(getMediaStatus(context, stranger, upload.actionKey)).rejects.toEqual(code("not-found"));
    await expect(getMediaStatus(context, creator, randomUUID())).rejects.toEqual(code("not-found"));
  });

  it("U8 a status stays the same until something happens, so that a poll costs a 304", async () => {
    const upload = await sendFile(context, creator, tinyMp4());
    await completeUpload(context, creator, upload.actionKey);
    const lease = { actionKey: upload.actionKey, attemptId: randomUUID() };
    await claimJob(context, { ...lease, generation: 1, workerId: randomUUID(), machineId: null });
    try {
      await travel(context.db, 10);
      const progress = { stage: "encode" as const, fraction: 0.5, renditions: [], processByResolution: {} };
      expect(await heartbeat(context, { ...lease, progress })).toBe("continue");
      const status = await getMediaStatus(context, creator, upload.actionKey);
      expect(status.progress.secondsLeft).toBeGreaterThanOrEqual(10);
      await travel(context.db, 40);
      expect(await getMediaStatus(context, creator, upload.actionKey)).toEqual(status);
    } finally {
      await travel(context.db, 0);
    }
  });
});
