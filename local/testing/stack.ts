import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { endChild } from "../child.ts";
import { repositoryRoot } from "../repository.ts";

const messageSchema = z.object({
  stack: z.object({
    url: z.url(),
    mediaUrl: z.url(),
    storageUrl: z.url(),
    databaseUrl: z.string(),
    dataDir: z.string(),
    ownerCode: z.string().nullable(),
  }),
});

/** Where the parts of a test's stack are. */
export type StackAddresses = z.infer<typeof messageSchema>["stack"];

/** A whole stack of a test's own: what `npm start` starts, on free ports and in a folder of its own. */
export interface TestStack extends StackAddresses {
  /** The supervisor, to be killed by tests of recovery. */
  readonly supervisor: ChildProcess;
  /** Ends it. Its data is removed too unless `keepData`. */
  stop(options?: { keepData?: boolean }): Promise<void>;
}

/**
 * Starts a stack from the bundles and the site that `npm test` has built.
 *
 * @param dataDir of an earlier stack, to go on with its data.
 * @throws Error with the stack's own words on stderr.
 */
export async function startTestStack(
  options: { dataDir?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<TestStack> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), "reelkeep-stack-"));
  chmodSync(dataDir, 0o711);
  const supervisor = spawn(process.execPath, [path.join(repositoryRoot, "dist", "start.js")], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: {
      ...process.env,
      REELKEEP_DATA_DIR: dataDir,
      REELKEEP_PORT: "0",
      REELKEEP_CDN_PORT: "0",
      REELKEEP_S3_PORT: "0",
      REELKEEP_POSTGRES_PORT: "0",
      REELKEEP_EVENTS_PORT: "0",
      ...options.env,
    },
  });
  const addresses = await new Promise<StackAddresses>((resolve, reject) => {
    supervisor.once("message", (message) => resolve(messageSchema.parse(message).stack));
    supervisor.once("exit", (code) => reject(new Error(`The stack ended at its start (code ${code}).`)));
  });
  return {
    ...addresses,
    supervisor,
    async stop({ keepData = false } = {}) {
      await endChild(supervisor, 60);
      if (!keepData) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
