import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A folder for one test, gone after it. Others may enter it: root's database server is another account. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-"));
  chmodSync(folder, 0o711);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
