import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sha256Base64 } from "./sha256.ts";

it("U2 the checksum that is signed is the file's SHA-256 in base64", async () => {
  const bytes = new Uint8Array(70_000).map((_, index) => index % 251);
  expect(await sha256Base64(new Blob([bytes]))).toBe(createHash("sha256").update(bytes).digest("base64"));
});
