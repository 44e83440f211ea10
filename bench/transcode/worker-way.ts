/** The product's way: a real worker on the real stores, from its start to its end. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { findVersionOfAttempt } from "@reelkeep/db/media-versions";
import { createActor, createTestContext, sendFile, uploadRequest } from "@reelkeep/services/testing/context";
import { workerEnvironment, workerNodeFlags } from "@reelkeep/worker/process-settings";
import { bundlePath } from "../../local/bundle.ts";
import type { BenchStack } from "../stack.ts";
import { costOf, type Run } from "./measure.ts";

/** A film that waits for its worker. */
export interface Admitted extends AsyncDisposable {
  readonly actionKey: string;
  /** Runs one worker for it to its end, or until it is enough. */
  work(options?: {
    readonly env?: Readonly<Record<string, string>>;
    readonly enough?: () => Promise<boolean>;
  }): Promise<Run>;
  /** Below which the newest attempt writes; null before the first. */
  prefix(): Promise<string | null>;
  readonly store: ObjectStore;
}

/** Brings the film as a browser does. */
export async function admitFilm(stack: BenchStack, profile: string, film: string): Promise<Admitted> {
  const { stores, dataDir, db } = stack;
  const site = {
    ...createTestContext(stores.databaseUrl, stores.environment.storage),
    probeScript: bundlePath("probe-process"),
    profile,
  };
  const folder = path.join(dataDir, "scratch", randomUUID());
  mkdirSync(folder, { recursive: true });
  const body = readFileSync(film);
  const limits = { ...site.uploadLimits, multipartThresholdBytes: body.length + 1 };
  const creator = await createActor(site);
  const { actionKey } = await sendFile({ ...site, uploadLimits: limits }, creator, body, uploadRequest(body));
  while (!(await findJob(db, actionKey))) await new Promise((resolve) => setTimeout(resolve, 100));
  return {
    actionKey,
    store: site.store,
    work: ({ env = {}, enough } = {}) =>
      costOf(
        {
          program: process.execPath,
          args: [...workerNodeFlags, bundlePath("worker")],
          env: {
            ...workerEnvironment,
            ...stores.environment.forWorkers,
            ACTION_KEY: actionKey,
            GENERATION: "1",
            MACHINE_ID: "bench",
            SCRATCH_DIR: folder,
            ...env,
          },
        },
        dataDir,
        enough,
      ),
    prefix: async () => (await listAttempts(db, actionKey))[0]?.outputPrefix ?? null,
    [Symbol.asyncDispose]: () => site.close(),
  };
}

/** One worker for the film, from its start to its end. Answers the cost, without the storage server's. */
export async function byWorker(
  stack: BenchStack,
  profile: string,
  film: string,
): Promise<{ cost: Run; prefix: string }> {
  await using admitted = await admitFilm(stack, profile, film);
  const cost = await admitted.work();
  const [attempt] = await listAttempts(stack.db, admitted.actionKey);
  const version = attempt && (await findVersionOfAttempt(stack.db, attempt.id));
  if (!version)
    throw new Error(
      `The worker published nothing: ${(await findJob(stack.db, admitted.actionKey))?.errorMessage}`,
    );
  return { cost, prefix: version.prefix };
}

/** Brings a version's segments of one rendition to the disk, in order; answers the files. */
export async function fetchSegments(
  stack: BenchStack,
  prefix: string,
  rendition: string,
  folder: string,
): Promise<string[]> {
  const store = createObjectStore(stack.stores.environment.storage);
  const keys: string[] = [];
  for await (const { key } of store.list(`${prefix}${rendition}/`)) if (key.endsWith(".ts")) keys.push(key);
  const files: string[] = [];
  for (const key of keys.sort()) {
    const file = path.join(folder, path.basename(key));
    const object = await store.head(key);
    await store.download(key, file, { etag: object!.etag });
    files.push(file);
  }
  return files;
}
