import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openShelf, type Shelf } from "./shelf.ts";
import { countFiles, newDataDir } from "./testing/test-storage.ts";

let dataDir: string;
let shelf: Shelf;
beforeEach(async () => {
  dataDir = await newDataDir();
  shelf = openShelf(`${dataDir}/files`);
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const write = async (body: Buffer) => {
  const { file } = await shelf.write((destination) => pipeline([body], destination));
  return { file, sizeBytes: body.length };
};

describe("the shelf", () => {
  it("sweeps away what nobody owns, as a crash leaves it, and nothing else", async () => {
    const kept = await write(Buffer.from("kept"));
    await write(Buffer.from("left behind"));
    await openShelf(`${dataDir}/files`).sweep((file) => file === kept.file);
    expect(await countFiles(dataDir)).toBe(1);
    expect((await buffer(shelf.read([kept], 0, 3))).toString()).toBe("kept");
  });

  it("keeps nothing of a file that failed in the middle", async () => {
    const failing = shelf.write(async (destination) => {
      destination.write("some");
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect(await countFiles(dataDir)).toBe(0);
  });

  it("reads any stretch of pieces as if they were one file", async () => {
    const bodies = [randomBytes(10), randomBytes(0), randomBytes(7), randomBytes(1)];
    const pieces = [];
    for (const body of bodies) pieces.push(await write(body));
    const whole = Buffer.concat(bodies);
    for (let first = 0; first < whole.length; first++)
      for (let last = first; last < whole.length; last++)
        expect(await buffer(shelf.read(pieces, first, last))).toEqual(whole.subarray(first, last + 1));
  });
});
