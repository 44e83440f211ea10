import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { watchSize } from "./watch-size.ts";

it("J12 a file that grows is movement, one that stands still or isn't there yet is none", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = await mkdtemp(join(tmpdir(), "reelkeep-size-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "source");
  let moves = 0;
  const watch = watchSize(path, () => {
    moves++;
  });
  const looks = async (count: number) => {
    for (let i = 0; i < count; i++) {
      vi.advanceTimersToNextTimer();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await looks(2);
  expect(moves).toBe(0);
  await appendFile(path, "abc");
  await looks(3);
  expect(moves).toBe(1);
  await appendFile(path, "def");
  await looks(2);
  expect(moves).toBe(2);
  watch[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});
