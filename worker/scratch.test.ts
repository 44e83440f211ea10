import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openScratch } from "./scratch.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "reelkeep-scratch-test-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe("scratch", () => {
  it("M9 is gone at the end of its block, also after an error", async () => {
    const work = async () => {
      await using scratch = await openScratch(base, 1);
      await mkdir(join(scratch.folder, "720p"));
      throw new Error("in the middle");
    };
    await expect(work()).rejects.toThrow("in the middle");
    expect(await readdir(base)).toEqual([]);
  });

  it("M9 is refused early when three times the source doesn't fit", async () => {
    const { bavail, bsize } = await statfs(base);
    const sourceBytes = Math.ceil((bavail * bsize) / 3) + 1_000_000_000;
    await expect(openScratch(base, sourceBytes)).rejects.toMatchObject({
      code: "disk-full",
      retryable: true,
    });
    expect(await readdir(base)).toEqual([]);
  });

  it("M9 leftovers of a dead process are swept, those of a living one are not", async () => {
    const dead = spawn("true");
    await once(dead, "exit");
    await mkdir(join(base, `reelkeep-${dead.pid}-abc`, "720p"), { recursive: true });
    await mkdir(join(base, `reelkeep-${process.ppid}-abc`));
    await mkdir(join(base, "somebody-else"));
    await using scratch = await openScratch(base, 1);
    const names = await readdir(base);
    expect(names).toHaveLength(3);
    expect(names).toContain(`reelkeep-${process.ppid}-abc`);
    expect(names).toContain("somebody-else");
    expect(scratch.folder.startsWith(join(base, `reelkeep-${process.pid}-`))).toBe(true);
  });
});
