import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterEach, describe, expect, it } from "vitest";
import { type StorageProcess, startStorageProcess } from "./testing/test-process.ts";
import { bucket, clientFor, countFiles, newDataDir, startTestStorage } from "./testing/test-storage.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function newFolder(): Promise<string> {
  const dataDir = await newDataDir();
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function start(dataDir: string, port: number, env: object = {}): Promise<StorageProcess> {
  const storage = await startStorageProcess(dataDir, port, env);
  stops.push(() => storage.kill());
  return storage;
}

const md5 = (body: Buffer) => createHash("md5").update(body).digest("hex");

/** Writes objects, small and large, single and in parts, until the server is gone; notes those acknowledged. */
async function writeUntilItDies(client: S3Client, name: string, acknowledged: Map<string, string>) {
  try {
    for (let i = 0; ; i++) {
      const Key = `${name}/${i}`;
      const body = randomBytes(i % 4 === 0 ? 2_000_000 : 3000);
      if (i % 3 === 0) {
        const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
        const upload = { Bucket: bucket, Key, UploadId };
        const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: body }));
        const Parts = [{ PartNumber: 1, ETag }];
        await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
      } else {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: body }));
      }
      acknowledged.set(Key, md5(body));
    }
  } catch {
    // It died.
  }
}

describe("the storage's process", () => {
  it("U5 killed in the middle of writes, it loses no acknowledged object and no event, and shows no torn one", async () => {
    const dataDir = await newFolder();
    const port = await freePort();
    const told = new Set<string>();
    const target = createServer(async (request, response) => {
      told.add(((await json(request)) as { detail: { object: { key: string } } }).detail.object.key);
      response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    stops.push(
      () => target.close(),
      () => target.closeAllConnections(),
    );
    const env = { REELKEEP_S3_EVENT_TARGET: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` };

    const acknowledged = new Map<string, string>();
    for (let round = 0; round < 4; round++) {
      const storage = await start(dataDir, port, env);
      const client = clientFor(storage.url);
      const writers = [1, 2, 3, 4].map((n) => writeUntilItDies(client, `${round}/${n}`, acknowledged));
      const enough = acknowledged.size + 25;
      await expect.poll(() => acknowledged.size, { interval: 5, timeout: 30_000 }).toBeGreaterThan(enough);
      await storage.kill();
      await Promise.all(writers);
      client.destroy();
    }

    const storage = await start(dataDir, port, env);
    const client = clientFor(storage.url);
    stops.push(() => client.destroy());
    const listed = new Map<string, number>();
    const page = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    for (const { Key, Size } of page.Contents ?? []) listed.set(Key!, Size!);
    expect(page.IsTruncated).toBe(false);
    for (const key of acknowledged.keys()) expect(listed.has(key), key).toBe(true);
    for (const [key, size] of listed) {
      const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const body = Buffer.from(await answer.Body!.transformToByteArray());
      expect(body.length, key).toBe(size);
      const tag = answer.ETag!.replaceAll('"', "");
      const sum = md5(body);
      expect(tag, key).toBe(tag.includes("-") ? `${md5(Buffer.from(sum, "hex"))}-1` : sum);
      if (acknowledged.has(key)) expect(sum, key).toBe(acknowledged.get(key));
    }
    await expect
      .poll(() => [...listed.keys()].filter((key) => !told.has(key)), { timeout: 20_000 })
      .toEqual([]);
    const open = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    let openParts = 0;
    for (const { Key, UploadId } of open.Uploads ?? []) {
      const parts = await client.send(new ListPartsCommand({ Bucket: bucket, Key, UploadId }));
      openParts += parts.Parts?.length ?? 0;
    }
    expect(await countFiles(dataDir)).toBe(listed.size + openParts);
  }, 120_000);

  it("M5 its memory doesn't grow with the object", async () => {
    const storage = await start(await newFolder(), await freePort());
    const client = clientFor(storage.url);
    stops.push(() => client.destroy());
    const residentBytes = () =>
      Number(execFileSync("ps", ["-o", "rss=", "-p", String(storage.process.pid)], { encoding: "utf8" })) *
      1024;
    const sizeBytes = 256 * 1024 * 1024;
    const block = randomBytes(1024 * 1024);
    const idleBytes = residentBytes();
    let peakBytes = 0;
    const blocks = function* () {
      for (let sent = 0; sent < sizeBytes; sent += block.length) {
        if (sent % (block.length * 16) === 0) peakBytes = Math.max(peakBytes, residentBytes());
        yield block;
      }
    };
    const at = { Bucket: bucket, Key: "large" };
    await client.send(
      new PutObjectCommand({ ...at, Body: Readable.from(blocks()), ContentLength: sizeBytes }),
    );
    const answer = await client.send(new GetObjectCommand(at));
    let receivedBytes = 0;
    const count = new Writable({
      write(chunk: Buffer, _encoding, done) {
        receivedBytes += chunk.length;
        if (receivedBytes % (block.length * 16) < chunk.length)
          peakBytes = Math.max(peakBytes, residentBytes());
        done();
      },
    });
    await pipeline(answer.Body as Readable, count);
    expect(receivedBytes).toBe(sizeBytes);
    expect(peakBytes - idleBytes).toBeLessThan(sizeBytes / 2);
  }, 120_000);

  it("ends by itself when its parent is gone, and cleanly at SIGTERM", async () => {
    const dataDir = await newFolder();
    for (const end of [
      ({ process: child }: StorageProcess) => child.disconnect(),
      ({ process: child }: StorageProcess) => void child.kill("SIGTERM"),
    ]) {
      const storage = await start(dataDir, await freePort());
      end(storage);
      expect(await once(storage.process, "exit")).toEqual([0, null]);
    }
  });

  it("a start that fails leaves the folder to the next one", async () => {
    const dataDir = await newFolder();
    await expect(startTestStorage({ dataDir, buckets: ["No Bucket"] })).rejects.toThrow("name");
    const next = await startTestStorage({ dataDir });
    stops.push(() => next.stop());
  });

  it("tells of a file that is lost, and cuts the answer rather than end it early", async () => {
    const faults: unknown[] = [];
    const storage = await startTestStorage({ onFault: (error) => faults.push(error) });
    stops.push(() => storage.stop());
    await storage.client.send(new PutObjectCommand({ Bucket: bucket, Key: "lost", Body: "x" }));
    await rm(path.join(storage.dataDir, "files"), { recursive: true });
    const read = async () => {
      const answer = await storage.client.send(new GetObjectCommand({ Bucket: bucket, Key: "lost" }));
      return answer.Body!.transformToString();
    };
    await expect(read()).rejects.toThrow();
    await expect.poll(() => faults).toMatchObject([{ code: "ENOENT" }]);
  });

  it("a second one on the same folder doesn't start", async () => {
    const dataDir = await newFolder();
    const first = await startTestStorage({ dataDir });
    stops.push(() => first.stop());
    await expect(startTestStorage({ dataDir })).rejects.toThrow("locked");
  });
});
