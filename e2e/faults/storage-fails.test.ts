import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findUpload } from "@reelkeep/db/uploads";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { describe, expect, it, onTestFinished } from "vitest";
import { attemptsInOrder, expectSettled, waitForJob } from "./kit/invariants.ts";
import { poll } from "./kit/poll.ts";
import { findWorker } from "./kit/processes.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import type { RequestMatch, StorageProxy } from "./kit/storage-proxy.ts";
import type { Trap } from "./kit/traps.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";

const stack = startFaultStackForFile({ settings: { LEASE_SECONDS: "8" } });

/** What a worker asks of the storage, by what it is for. */
const download: RequestMatch = { by: "workers", method: "GET", key: /^uploads\// };
const storeSegment: RequestMatch = { by: "workers", method: "PUT", key: /\.ts$/ };
const storePlaylist: RequestMatch = { by: "workers", method: "PUT", key: /\.m3u8$/ };
const listOutput: RequestMatch = { by: "workers", method: "GET", parameter: "list-type" };
const readPlaylist: RequestMatch = { by: "workers", method: "GET", key: /\.m3u8$/ };
const everything = [download, storeSegment, storePlaylist, listOutput, readPlaylist];

/** Only what belongs to this job. */
const of = (actionKey: string, match: RequestMatch): RequestMatch => ({
  ...match,
  key: new RegExp(`/${actionKey}/.*${match.key?.source.replace("^uploads\\/", "") ?? ""}`),
});

/** More than any client of ours asks. */
const always = { times: 1_000_000 };

const completed = { state: "processing-completed" } as const;

describe("a short failure costs no attempt", () => {
  const faults: Record<string, (storage: StorageProxy, match: RequestMatch) => Trap<unknown>> = {
    "answers 500": (storage, match) => storage.answer(500, match, { times: 2 }),
    "says SlowDown": (storage, match) => storage.answer(503, match, { times: 2 }),
    "has no room for a moment (507)": (storage, match) => storage.answer(507, match),
    "breaks connections before it has heard": (storage, match) => storage.reset("before", match),
    "breaks connections in the middle of a body": (storage, match) => storage.reset("in-body", match),
    "does it, and the answer is lost": (storage, match) => storage.reset("answer-lost", match),
    "is slow": (storage, match) => storage.slow(64 * 1024, match),
  };
  for (const [what, set] of Object.entries(faults))
    it(`J5 M7 storage that ${what} at each step of a worker is asked again, and the version is whole`, {
      tags: what === "says SlowDown" ? ["short"] : [],
    }, async () => {
      const traps = everything.map((match) => set(stack().storage, match));
      const { actionKey } = await bringVideo(stack());
      await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
      expect(traps.map((trap) => trap.count() > 0)).toEqual(traps.map(() => true));
    });

  it("J5 storage that never answers is given up and asked again", async () => {
    const hung = [stack().storage.hang(download), stack().storage.hang(storeSegment, { skip: 1 })];
    const brought = [await bringVideo(stack()), await bringVideo(stack())];
    for (const { actionKey } of brought)
      await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
    expect(hung.map((trap) => trap.count())).toEqual([1, 1]);
  });

  it("J5 M7 storage that is killed in the middle of a segment, and comes back, has it whole", async () => {
    const { actionKey } = await bringWith(() => stack().storage.slow(16 * 1024, storeSegment));
    await poll("a segment is on its way", () => stack().storage.requests(of(actionKey, storeSegment))[0]);
    await stack().storageServer.killAndAwaitRestart();
    await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
  });

  it("J5 U5 storage that is killed in the middle of a download, and comes back, gives the whole source", async () => {
    const { actionKey } = await bringWith(() => stack().storage.slow(16 * 1024, download));
    await poll("the source is on its way", () => stack().storage.requests(of(actionKey, download))[0]);
    await stack().storageServer.killAndAwaitRestart();
    await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
  });
});

/** Sets the trap, then brings a video. */
function bringWith(set: () => unknown) {
  set();
  return bringVideo(stack());
}

it("J5 storage that stays away ends the attempt as storage-unavailable, in a download and in an upload alike; the next attempt completes", async () => {
  const gone = (match: RequestMatch) => stack().storage.answer(503, match, always);
  const full = (match: RequestMatch) => stack().storage.answer(507, match, always);
  await stack().schedule.pause();
  const brought = [await bringVideo(stack()), await bringVideo(stack())] as const;
  const [downloading, uploading] = brought;
  const traps = [gone(of(downloading.actionKey, download)), full(of(uploading.actionKey, storeSegment))];
  stack().schedule.resume();

  await Promise.all(
    brought.map(async ({ actionKey }, index) => {
      await waitForJob(stack(), actionKey, (job) => job.errorCode === "storage-unavailable");
      traps[index]!.disarm();
    }),
  );
  for (const { actionKey } of brought)
    await expectSettled(stack(), actionKey, {
      ...completed,
      attempts: 2,
      attemptStates: ["failed", "succeeded"],
    });
  const firsts = await Promise.all(
    brought.map(async ({ actionKey }) => (await attemptsInOrder(stack().db, actionKey))[0]),
  );
  expect(firsts).toMatchObject([
    { errorCode: "storage-unavailable", stage: "download" },
    { errorCode: "storage-unavailable", stage: "encode" },
  ]);
});

it("J5 a source that vanishes before its download fails the job as source-gone, without another attempt", async () => {
  const held = stack().storage.hold(download);
  const { actionKey, key } = await bringVideo(stack());
  await held.caught();
  await stack().store.remove([key]);
  held.release();
  await expectSettled(stack(), actionKey, { state: "failed", attempts: 1, errorCode: "source-gone" });
});

describe("admission", () => {
  const looks = {
    "can't say whether the object is there": { method: "HEAD" },
    "can't be read": { method: "GET", key: /^uploads\// },
  } satisfies Record<string, RequestMatch>;
  for (const [what, look] of Object.entries(looks))
    it(`U5 storage that ${what} at admission rejects nothing: the upload stays open, and storage's event admits it later`, async () => {
      const traps = (["site", "control"] as const).map((by) =>
        stack().storage.answer(500, { ...look, by }, always),
      );
      const { actionKey } = await bringVideo(stack(), { complete: false });
      const { site } = stack();
      await expect(completeUpload(site, site.creator, actionKey)).rejects.toMatchObject({
        code: "storage-unavailable",
        retryable: true,
      });
      await traps[1]!.caught();
      expect(await findUpload(stack().db, actionKey)).toMatchObject({
        state: "url-created",
        errorCode: null,
      });

      stack().heal();
      await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
    });

  it("U5 a look that breaks off in the middle rejects nothing, and asking again admits the file", async () => {
    await stack().schedule.pause();
    stack().events.lose();
    stack().storage.reset("in-body", { by: "site", method: "GET", key: /^uploads\// }, { times: 20 });
    const { actionKey } = await bringVideo(stack(), { complete: false });
    const { site } = stack();
    await expect(completeUpload(site, site.creator, actionKey)).rejects.toMatchObject({ retryable: true });
    stack().heal();
    expect(await completeUpload(site, site.creator, actionKey)).toMatchObject({
      status: "file-processing-ready",
      failure: null,
    });
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { ...completed, attempts: 1 });
  });
});

describe("damage", () => {
  /** What happens behind a worker's back to what it has stored below `prefix`, before it reads it back. */
  const damages = {
    "a truncated segment": async (prefix: string) =>
      overwrite(await find(prefix, /p\/segment_\d+\.ts$/), (bytes) => bytes.subarray(0, -188)),
    "a segment of which one byte changed": async (prefix: string) =>
      overwrite(await find(prefix, /audio\/segment_\d+\.ts$/), (bytes) => bytes.fill(~bytes[100]!, 100, 101)),
    "a missing segment": async (prefix: string) =>
      stack().store.remove([await find(prefix, /p\/segment_\d+\.ts$/)]),
    "a missing playlist": async (prefix: string) =>
      stack().store.remove([await find(prefix, /master\.m3u8$/)]),
    "a truncated playlist": async (prefix: string) =>
      overwrite(await find(prefix, /p\/playlist\.m3u8$/), (bytes) => bytes.subarray(0, bytes.length / 2)),
  };

  async function find(prefix: string, name: RegExp): Promise<string> {
    for await (const { key } of stack().store.list(prefix)) if (name.test(key)) return key;
    throw new Error(`${prefix} has nothing like ${name}`);
  }

  async function overwrite(key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
    const opened = await stack().store.open(key, {});
    if (opened.status !== "open") throw new Error(`${key} can't be opened`);
    const bytes = change(Buffer.concat(await opened.body.toArray()));
    const file = path.join(stack().dataDir, "damaged");
    await writeFile(file, bytes);
    await stack().store.putFile(key, file, { contentType: "video/mp2t" });
  }

  /** Two of them in two attempts, so that the third is whole. */
  const pairs = [
    ["a truncated segment", "a missing playlist"],
    ["a segment of which one byte changed", "a truncated playlist"],
    ["a missing segment", null],
  ] as const;
  for (const [first, second] of pairs)
    it(`M7 P1 ${first}${second ? `, then ${second}` : ""}, is never published: the attempt fails as verification-failed and another is made`, async () => {
      const held = stack().storage.hold(listOutput);
      const { actionKey } = await bringVideo(stack());
      await damage(actionKey, first, held);
      if (second) await damage(actionKey, second, stack().storage.hold(listOutput));
      const failures = second ? (["failed", "failed"] as const) : (["failed"] as const);
      await expectSettled(stack(), actionKey, {
        ...completed,
        attempts: failures.length + 1,
        attemptStates: [...failures, "succeeded"],
      });
      for (const attempt of (await attemptsInOrder(stack().db, actionKey)).slice(0, -1))
        expect(attempt).toMatchObject({ errorCode: "verification-failed", stage: "verify" });
    });

  async function damage(
    actionKey: string,
    what: keyof typeof damages,
    held: { caught(): Promise<unknown>; release(): void },
  ) {
    await held.caught();
    const { outputPrefix } = (await attemptsInOrder(stack().db, actionKey)).at(-1)!;
    await damages[what](outputPrefix);
    held.release();
  }
});

/** Mounting takes a privilege that not everybody who runs these tests has. */
function mayMount(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-mount-"));
  try {
    mount(folder, 1);
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const mount = (folder: string, megabytes: number) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "reelkeep-test", folder], {
    stdio: "ignore",
  });

// Skipped where no disk of a chosen size can be mounted.
describe.skipIf(!mayMount())("a full disk", () => {
  /** Workers' scratch on a disk of this size, until the answer is called or the test ends. */
  function giveScratch(megabytes: number): { folder: string; takeAway: () => void } {
    const folder = path.join(stack().dataDir, "scratch");
    mount(folder, megabytes);
    let isMounted = true;
    const takeAway = () => {
      // Lazily, because the worker that met it may still be leaving.
      if (isMounted) execFileSync("umount", ["--lazy", folder]);
      isMounted = false;
    };
    onTestFinished(takeAway);
    return { folder, takeAway };
  }
  /** Leaves nothing free. */
  const fill = (folder: string) => {
    const file = path.join(folder, "filler");
    try {
      execFileSync("dd", ["if=/dev/zero", `of=${file}`, "bs=64k"], { stdio: "ignore" });
    } catch {}
  };

  const failedOnce = { ...completed, attempts: 2, attemptStates: ["failed", "succeeded"] } as const;

  it("M9 a disk that is too small is refused before a byte is downloaded, and the attempt is made again elsewhere", async () => {
    const { takeAway } = giveScratch(16);
    await stack().schedule.pause();
    const { actionKey } = await bringVideo(stack());
    await stack().control.dispatch();
    await waitForJob(stack(), actionKey, (job) => job.errorCode === "disk-full");
    expect(stack().storage.requests(of(actionKey, download))).toEqual([]);
    takeAway();
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, failedOnce);
  });

  it("M9 a disk that fills up in the middle of a download ends the attempt as disk-full", async () => {
    const { folder, takeAway } = giveScratch(128);
    const held = stack().storage.hold(download);
    const { actionKey } = await bringVideo(stack());
    await held.caught();
    await stack().schedule.pause();
    fill(folder);
    held.release();
    await waitForJob(stack(), actionKey, (job) => job.errorCode === "disk-full");
    takeAway();
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, failedOnce);
    expect((await attemptsInOrder(stack().db, actionKey))[0]).toMatchObject({ stage: "download" });
  });

  it("M9 a disk that fills up in the middle of an encode ends the attempt as disk-full", async () => {
    const { folder, takeAway } = giveScratch(128);
    const { actionKey } = await bringVideo(stack(), { clip: longClip() });
    const worker = await findWorker(actionKey);
    await worker.untilEncoding();
    worker.freezeEncoders();
    await stack().schedule.pause();
    fill(folder);
    worker.thawEncoders();
    await waitForJob(stack(), actionKey, (job) => job.errorCode === "disk-full");
    takeAway();
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, failedOnce);
    expect((await attemptsInOrder(stack().db, actionKey))[0]).toMatchObject({ stage: "encode" });
  });
});
