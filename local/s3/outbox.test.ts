import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { afterEach, describe, expect, it } from "vitest";
import { bucket, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

interface CreatedEvent {
  id: string;
  "detail-type": string;
  source: string;
  region: string;
  detail: {
    reason: string;
    bucket: { name: string };
    object: { key: string; size: number; etag: string; sequencer: string };
  };
}

/** A target that takes events; `answer` decides with which status. */
async function startTarget(answer: (event: CreatedEvent, times: number) => number = () => 204) {
  const events: CreatedEvent[] = [];
  const server = createServer(async (request, response) => {
    const event = (await json(request)) as CreatedEvent;
    events.push(event);
    response.writeHead(answer(event, events.filter(({ id }) => id === event.id).length)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    events,
    url: `http://127.0.0.1:${port}/events`,
    keys: () => events.map((event) => event.detail.object.key),
  };
}

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(options: Parameters<typeof startTestStorage>[0]): Promise<TestStorage> {
  const storage = await startTestStorage(options);
  stops.push(() => storage.stop());
  return storage;
}

const put = ({ client }: TestStorage, Key: string) =>
  client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "x" }));

describe("events", () => {
  it("U5 every way of making an object below the prefix is told of, as EventBridge does it", async () => {
    const target = await startTarget();
    const storage = await start({ eventTarget: target.url, eventPrefix: "uploads/" });
    const at = (Key: string) => ({ Bucket: bucket, Key });
    await put(storage, "processed/not-told");
    const { ETag } = await put(storage, "uploads/put");
    await storage.client.send(
      new CopyObjectCommand({ ...at("uploads/copy"), CopySource: `${bucket}/uploads/put` }),
    );
    const { UploadId } = await storage.client.send(new CreateMultipartUploadCommand(at("uploads/parts")));
    const part = await storage.client.send(
      new UploadPartCommand({ ...at("uploads/parts"), UploadId, PartNumber: 1, Body: "x" }),
    );
    const Parts = [{ PartNumber: 1, ETag: part.ETag }];
    await storage.client.send(
      new CompleteMultipartUploadCommand({ ...at("uploads/parts"), UploadId, MultipartUpload: { Parts } }),
    );
    const { url, fields } = await createPresignedPost(storage.client as never, {
      ...at("uploads/form"),
      Expires: 60,
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new Blob(["x"]), "x.bin");
    await fetch(url, { method: "POST", body: form });

    await expect
      .poll(() => target.keys().toSorted())
      .toEqual(["uploads/copy", "uploads/form", "uploads/parts", "uploads/put"]);
    const reasons = Object.fromEntries(target.events.map(({ detail }) => [detail.object.key, detail.reason]));
    expect(reasons).toEqual({
      "uploads/put": "PutObject",
      "uploads/copy": "CopyObject",
      "uploads/parts": "CompleteMultipartUpload",
      "uploads/form": "POST Object",
    });
    expect(target.events.find(({ detail }) => detail.object.key === "uploads/put")).toMatchObject({
      version: "0",
      "detail-type": "Object Created",
      source: "aws.s3",
      region: "eu-central-1",
      detail: {
        bucket: { name: bucket },
        object: {
          size: 1,
          etag: ETag!.replaceAll('"', ""),
          sequencer: expect.stringMatching(/^[0-9A-F]{18}$/),
        },
      },
    });
  });

  it("U5 an event is told again until the target takes it, and holds up no other", async () => {
    const target = await startTarget(({ detail }, times) =>
      detail.object.key === "bad" && times < 3 ? 503 : 200,
    );
    const storage = await start({ eventTarget: target.url });
    await put(storage, "bad");
    for (let i = 0; i < 20; i++) await put(storage, `good/${i}`);
    await expect.poll(() => new Set(target.keys()).size).toBe(21);
    await expect.poll(() => target.keys().filter((key) => key === "bad").length).toBe(3);
    const first = target.events.findIndex(({ detail }) => detail.object.key === "bad");
    const ids = target.events.filter(({ detail }) => detail.object.key === "bad").map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([target.events[first]!.id]));
  });

  it("U5 events that found no target are told after a restart", async () => {
    const nobody = await startTarget();
    await stops.pop()!();
    const storage = await startTestStorage({ eventTarget: nobody.url });
    for (let i = 0; i < 30; i++) await put(storage, `late/${i}`);
    await storage.close();
    const target = await startTarget();
    await start({ dataDir: storage.dataDir, eventTarget: target.url });
    await expect.poll(() => new Set(target.keys()).size, { timeout: 10_000 }).toBe(30);
  });
});
