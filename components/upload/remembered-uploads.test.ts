import { describe, expect, it } from "vitest";
import { type RememberedUpload, RememberedUploads } from "./remembered-uploads.ts";

function memory(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

const upload: RememberedUpload = {
  actionKey: "11111111-1111-4111-8111-111111111111",
  filename: "interview.mov",
  sizeBytes: 900_000_000,
  lastModified: 1_700_000_000_000,
  assetId: "22222222-2222-4222-8222-222222222222",
  title: "Interview",
  description: "With Ada",
  sentBytes: 320_000_000,
  multipart: { uploadId: "abc", key: "uploads/u/11111111-1111-4111-8111-111111111111/source.mov" },
};
const file = { name: upload.filename, size: upload.sizeBytes, lastModified: upload.lastModified };

describe("uploads that outlive the page", () => {
  it("U3 the same file chosen again finds its upload, with its title and the parts in storage", () => {
    const storage = memory();
    new RememberedUploads(storage, "ada").keep(upload);
    expect(new RememberedUploads(storage, "ada").matching(file)).toEqual(upload);
  });

  it("U3 another file, or the same name with other bytes, is a new upload", () => {
    const uploads = new RememberedUploads(memory(), "ada");
    uploads.keep(upload);
    expect(uploads.matching({ ...file, size: 1 })).toBeUndefined();
    expect(uploads.matching({ ...file, lastModified: 1 })).toBeUndefined();
  });

  it("U3 keeping an upload again replaces what was known, forgetting removes it", () => {
    const uploads = new RememberedUploads(memory(), "ada");
    uploads.keep(upload);
    uploads.keep({ ...upload, title: "A better title" });
    expect(uploads.all().map(({ title }) => title)).toEqual(["A better title"]);
    uploads.forget(upload.actionKey);
    expect(uploads.all()).toEqual([]);
  });

  it("X4 one account never sees another's uploads on a shared device", () => {
    const storage = memory();
    new RememberedUploads(storage, "ada").keep(upload);
    expect(new RememberedUploads(storage, "ben").all()).toEqual([]);
  });

  it.each(["", "{", "null", "[1,null,{}]", '{"a":1}'])("U3 broken memory (%s) is no memory", (text) => {
    const storage = memory();
    storage.setItem("reelkeep.uploads.ada", text);
    expect(new RememberedUploads(storage, "ada").all()).toEqual([]);
  });

  it("U3 storage that refuses to keep anything doesn't stop an upload", () => {
    const full = {
      ...memory(),
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    expect(() => new RememberedUploads(full, "ada").keep(upload)).not.toThrow();
  });
});
