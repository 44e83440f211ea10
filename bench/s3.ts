/**
 * The local storage against this machine's own disk, in one run: how fast it takes and gives a large object, as a
 * ratio to writing and syncing, or reading, the same bytes as a plain file. Run: `npx node bench/s3.ts [GiB]`
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import http from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createPresigner, type PresignedRequest } from "../aws/presign.ts";
import { startStorageProcess } from "../local/s3/testing/test-process.ts";
import { bucket, clientFor, credentials, region } from "../local/s3/testing/test-storage.ts";

const sizeBytes = Number(process.argv[2] ?? 1) * 1024 ** 3;
const rounds = 3;
const block = randomBytes(1024 * 1024);
const folder = await mkdtemp(path.join(tmpdir(), "reelkeep-bench-"));
const blocks = () =>
  Readable.from(
    (function* () {
      for (let sent = 0; sent < sizeBytes; sent += block.length) yield block;
    })(),
    { objectMode: false, highWaterMark: 4 * block.length },
  );
const nowhere = () =>
  new Writable({
    highWaterMark: 4 * block.length,
    write: (_chunk, _encoding, done) => done(),
  });

/** Megabytes a second. */
async function measure(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return sizeBytes / 1e6 / ((performance.now() - start) / 1000);
}

const plainFile = path.join(folder, "plain");
async function writePlain(): Promise<void> {
  const file = await open(plainFile, "w");
  for (let sent = 0; sent < sizeBytes; sent += block.length) await file.write(block);
  await file.sync();
  await file.close();
}
const readPlain = () => pipeline(createReadStream(plainFile, { highWaterMark: block.length }), nowhere());

const port = await new Promise<number>((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port: free } = server.address() as { port: number };
    server.close(() => resolve(free));
  });
});
const storage = await startStorageProcess(path.join(folder, "storage"), port);
const client = clientFor(storage.url);
const presigner = createPresigner({ bucket, region, credentials, endpoint: storage.url });
const keyOf = (round: number) => `bench/${round}`;
const signPut = (round: number) =>
  presigner.putObject({
    key: keyOf(round),
    contentType: "video/mp4",
    sizeBytes,
    expiresInSeconds: 3600,
  });
const signGet = async (round: number) => ({
  url: await getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: keyOf(round) })),
  headers: {},
});

/** Without the SDK, whose own work isn't the storage's. */
async function ask(
  method: string,
  { url, headers }: PresignedRequest,
  body: Readable | null = null,
): Promise<void> {
  const length = body ? { "content-length": sizeBytes } : {};
  const request = http.request(url, { method, headers: { ...headers, ...length } });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  if (body) await pipeline(body, request);
  else request.end();
  const answer = await answered;
  if (answer.statusCode !== 200) throw new Error(`storage answered ${answer.statusCode}`);
  await pipeline(answer, nowhere());
}

let peakBytes = 0;
const watch = setInterval(() => {
  const kilobytes = execFileSync("ps", ["-o", "rss=", "-p", String(storage.process.pid)], {
    encoding: "utf8",
  });
  peakBytes = Math.max(peakBytes, Number(kilobytes) * 1024);
}, 250);

const results = { write: 0, put: 0, read: 0, get: 0 };
const best = (name: keyof typeof results, speed: number) => {
  results[name] = Math.max(results[name], speed);
};
try {
  for (let round = 0; round < rounds; round++) {
    best("write", await measure(writePlain));
    const put = await signPut(round);
    best("put", await measure(() => ask("PUT", put, blocks())));
    best("read", await measure(readPlain));
    const get = await signGet(round);
    best("get", await measure(() => ask("GET", get)));
  }
} finally {
  clearInterval(watch);
  await storage.kill();
  await rm(folder, { recursive: true, force: true });
}

const line = (name: string, speed: number, against: string, base: number) =>
  console.log(
    `${name.padEnd(4)} ${speed.toFixed(0).padStart(6)} MB/s   ${(speed / base).toFixed(2)} of ${against} (${base.toFixed(0)} MB/s)`,
  );
console.log(`${sizeBytes / 1024 ** 3} GiB, best of ${rounds} rounds`);
line("PUT", results.put, "a plain write with fsync", results.write);
line("GET", results.get, "a plain read", results.read);
console.log(`The storage's process took at most ${(peakBytes / 1e6).toFixed(0)} MB of memory.`);
