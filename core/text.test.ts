import { describe, expect, it } from "vitest";
import { acceptInvitationSchema } from "./api/accounts.ts";
import { assetChangeSchema, assetListQuerySchema } from "./api/assets.ts";
import { uploadRequestSchema } from "./api/media.ts";

const upload = (fields: object, details: object = {}) =>
  uploadRequestSchema.safeParse({
    actionKey: "11111111-1111-4111-8111-111111111111",
    asset: { new: details },
    filename: "film.mp4",
    sizeBytes: 1,
    contentType: "video/mp4",
    ...fields,
  }).success;
const newAccount = (name: string) =>
  acceptInvitationSchema.safeParse({
    token: "a".repeat(32),
    account: { name, email: "a@example.test", password: "correct horse" },
  }).success;

/** Every text that people send, by whether its schema takes it. */
const takes: Record<string, (text: string) => boolean> = {
  name: newAccount,
  title: (title) => assetChangeSchema.safeParse({ title }).success,
  description: (description) => assetChangeSchema.safeParse({ description }).success,
  "first title": (title) => upload({}, { title }),
  "first description": (description) => upload({}, { description }),
  filename: (filename) => upload({ filename }),
  contentType: (contentType) => upload({ contentType }),
  q: (q) => assetListQuerySchema.safeParse({ q }).success,
};

describe("text that people send", () => {
  it.each(Object.entries(takes))(
    "X1 %s takes any language's letters and no control characters",
    (_, take) => {
      for (const text of ["Ein Film", "映画 👩‍👩‍👧", "שלום", "a\u200db", "Ünïcödé"])
        expect([text, take(text)]).toEqual([text, true]);
      for (const unwanted of [
        "\0",
        "\b",
        "\u001b",
        "\u007f",
        "\u0085",
        "\u009f",
        "\u202a",
        "\u202e",
        "\u2066",
        "\u2069",
      ])
        expect([unwanted, take(`a${unwanted}b`)]).toEqual([unwanted, false]);
    },
  );

  it("X1 only a description has lines, and other systems' line ends become newlines", () => {
    for (const [name, take] of Object.entries(takes))
      expect([name, take("a\nb")]).toEqual([name, name.endsWith("description")]);
    const { description } = assetChangeSchema.parse({ description: " a\r\nb\rc\td\n" });
    expect(description).toBe("a\nb\nc d");
  });

  it("X1 a cursor is base64url of bounded length", () => {
    const takesCursor = (cursor: string) => assetListQuerySchema.safeParse({ cursor }).success;
    expect(takesCursor(btoa(`2026-01-01T00:00:00.000Z ${"1".repeat(36)}`).replaceAll("=", ""))).toBe(true);
    for (const cursor of ["", "a+b", "a/b", "a=", "a\0", "ä", "a".repeat(201)])
      expect([cursor, takesCursor(cursor)]).toEqual([cursor, false]);
  });
});
