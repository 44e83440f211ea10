import { bodyBytesMax } from "@reelkeep/core/api/limits";
import { describe, expect, it } from "vitest";
import { readText } from "./body.ts";

const tooLong = expect.objectContaining({ code: "invalid-request", message: "The request is too long." });

/** A body of endless chunks, which knows how much of it was taken and whether it was given up. */
function endless(chunkBytes: number) {
  const seen = { takenBytes: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        seen.takenBytes += chunkBytes;
        controller.enqueue(new Uint8Array(chunkBytes));
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

describe("bodies of requests", () => {
  it("X4 a body up to the limit is read whole, also where a character lies across two chunks", async () => {
    const text = "é".repeat(bodyBytesMax / 2);
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.subarray(0, 4097));
        controller.enqueue(bytes.subarray(4097));
        controller.close();
      },
    });
    expect(await readText({ headers: new Headers(), body })).toBe(text);
    expect(await readText({ headers: new Headers(), body: null })).toBe("");
  });

  it("X4 a body that announces too much is refused before a byte of it is read", async () => {
    const { body, seen } = endless(1024);
    const headers = new Headers({ "content-length": "300000000" });
    await expect(readText({ headers, body })).rejects.toEqual(tooLong);
    expect(seen).toEqual({ takenBytes: 0, cancelled: false });
  });

  it("X4 a body that never ends is given up at the limit", async () => {
    const { body, seen } = endless(10_000);
    await expect(readText({ headers: new Headers(), body })).rejects.toEqual(tooLong);
    expect(seen).toEqual({ takenBytes: 70_000, cancelled: true });
  });
});
