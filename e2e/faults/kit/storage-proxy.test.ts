import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startFaultStackForFile } from "./stack.ts";

const stack = startFaultStackForFile({ paused: true });
const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-storage-proxy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** By the proxy. */
let store: ObjectStore;
beforeAll(() => {
  store = createObjectStore({ ...stack().bucket, endpoint: stack().storage.url("workers") });
});

const text = { contentType: "text/plain" };

it("bodies pass byte by byte in both directions, and signatures hold", async () => {
  const [sent, received] = [path.join(folder, "sent"), path.join(folder, "received")];
  writeFileSync(sent, randomBytes(3_000_000));
  const { etag } = await store.putFile("a/file", sent, text);
  await store.download("a/file", received, { etag });
  expect(readFileSync(received).equals(readFileSync(sent))).toBe(true);
  expect(stack().storage.requests({ method: "PUT", key: /^a\/file$/ })).toMatchObject([
    { by: "workers", status: 200 },
  ]);
});

it("a refused request is answered in the storage's place, and the client tries again", async () => {
  const refused = stack().storage.answer(503, { method: "PUT", key: /^b$/ });
  await store.putText("b", "text", text);
  await refused.caught();
  const statuses = stack()
    .storage.requests({ key: /^b$/ })
    .map(({ status }) => status);
  expect(statuses).toEqual([503, 200]);
});

it("a lost answer: the storage has the object, and the client sees a broken connection", async () => {
  const key = /^c$/;
  const lost = stack().storage.reset("answer-lost", { method: "PUT", key }, { times: 99 });
  await expect(store.putText("c", "text", text)).rejects.toMatchObject({ code: "storage-unavailable" });
  for (let tries = 0; tries < 4; tries++) await lost.caught();
  expect(await stack().store.readText("c")).toBe("text");
});

it("a connection that breaks in the body leaves nothing", async () => {
  const file = path.join(folder, "half");
  writeFileSync(file, randomBytes(1_000_000));
  const broken = stack().storage.reset("in-body", { method: "PUT", key: /^d$/ }, { times: 99 });
  await expect(store.putFile("d", file, text)).rejects.toMatchObject({ code: "storage-unavailable" });
  await broken.caught();
  expect(await stack().store.head("d")).toBeNull();
});

it("an answer that breaks in its body is no answer", async () => {
  await store.putText("e", "x".repeat(500_000), text);
  stack().storage.reset("in-body", { method: "GET", key: /^e$/ });
  await expect(store.readText("e")).rejects.toMatchObject({ code: "storage-unavailable" });
});

it("a held request reaches the storage when it is released, not sooner", async () => {
  const held = stack().storage.hold({ method: "PUT", key: /^f$/ });
  const done = store.putText("f", "text", text);
  await held.caught();
  expect(await stack().store.head("f")).toBeNull();
  held.release();
  await done;
  expect(await stack().store.readText("f")).toBe("text");
});

it("slow requests arrive whole, and what hangs is cut by healing", async () => {
  const slow = stack().storage.slow(1_000_000, { key: /^g$/ });
  await store.putText("g", "x".repeat(100_000), text);
  await slow.caught();
  expect((await stack().store.readText("g")).length).toBe(100_000);
  const hung = stack().storage.hang({ key: /^g$/ });
  const read = store.readText("g");
  await hung.caught();
  stack().heal();
  expect((await read).length).toBe(100_000);
});

it("the storage's process comes back on its port with its objects after a kill", async () => {
  await store.putText("h", "text", text);
  await stack().storageServer.killAndAwaitRestart();
  expect(await store.readText("h")).toBe("text");
});
