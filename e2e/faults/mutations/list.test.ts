import { readFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "@reelkeep/local/repository";
import { expect, it } from "vitest";
import { mutations } from "./list.ts";

const read = (file: string) => readFileSync(path.join(repositoryRoot, file), "utf8");

it.each(mutations)(
  "the bug “$bug” can still be made, and its test is there",
  { tags: ["short"] },
  (mutation) => {
    expect(read(mutation.file).split(mutation.from)).toHaveLength(2);
    expect(read(mutation.caughtBy.file)).toContain(mutation.caughtBy.title);
  },
);
