/** Knows whether something made from sources is still what those sources would give. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";

const skipped = new Set(["node_modules", ".next", ".data", "dist", "testing", "sample"]);

/** A hash over the names and contents of files and folders of the clone; tests don't count. */
export function hashSources(sources: readonly string[]): string {
  const hash = createHash("sha256");
  for (const source of sources) {
    for (const file of filesBelow(path.join(repositoryRoot, source))) {
      const content = readFileSync(file);
      hash.update(`${path.relative(repositoryRoot, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}

/**
 * Makes `target` unless its stamp says that it was made from the same sources. The stamp goes first and comes back
 * last, so work that was cut off is done again.
 */
export async function makeOnce(
  stampFile: string,
  sources: readonly string[],
  make: () => Promise<void>,
): Promise<void> {
  const hash = hashSources(sources);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === hash) return;
  rmSync(stampFile, { force: true });
  await make();
  writeFileSync(stampFile, hash);
}

function* filesBelow(target: string): Generator<string> {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found?.isFile()) yield target;
  if (!found?.isDirectory()) return;
  for (const name of readdirSync(target).sort()) {
    if (skipped.has(name) || /\.test\.tsx?$/.test(name)) continue;
    yield* filesBelow(path.join(target, name));
  }
}
