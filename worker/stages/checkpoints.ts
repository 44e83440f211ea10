/** What an earlier attempt left whole in storage, and how a later one takes it over (M7, M8). */
import { createHash } from "node:crypto";
import { AppError } from "@reelkeep/core/errors";
import { checkpointName } from "@reelkeep/core/object-keys";
import PQueue from "p-queue";
import { z } from "zod";
import type { EncoderPreset } from "../ffmpeg/args.ts";
import type { EncoderEngine } from "../ffmpeg/engines.ts";
import type { CompletedPass } from "./encode-pass.ts";
import type { EarlierOutput, OutputStore, StoredObject } from "./output-store.ts";
import type { Pass } from "./passes.ts";
import type { EncodePlan } from "./plan.ts";
import { putText } from "./put-file.ts";
import { withRetries } from "./retries.ts";

/** Raised whenever the same plan comes to make other files. */
const format = 1;

const objectSchema = z.object({ name: z.string(), sizeBytes: z.number().int(), etag: z.string() });
const segmentSchema = objectSchema.extend({
  folder: z.string(),
  number: z.number().int(),
  durationSeconds: z.number(),
  video: z
    .object({
      firstSeconds: z.number(),
      lastSeconds: z.number(),
      avc: z.object({ profileIdc: z.number(), constraints: z.number(), levelIdc: z.number() }).nullable(),
      sps: z.string(),
      startsWithIdr: z.boolean(),
    })
    .nullable(),
});
const checkpointSchema = z.object({
  /** Of the plan: windows of different plans don't fit together. */
  digest: z.string(),
  name: z.string(),
  segments: z.record(z.string(), z.array(segmentSchema)),
  sheets: z.array(objectSchema),
});

/** What windows must have in common to fit together. */
export interface Made {
  readonly plan: EncodePlan;
  readonly preset: EncoderPreset;
  readonly processor: EncoderEngine["processor"];
}

const digestOf = ({ plan, preset, processor }: Made): string =>
  createHash("sha256").update(JSON.stringify({ format, plan, preset, processor })).digest("hex");

/** Notes that a pass is whole in storage. */
export async function writeCheckpoint(
  store: OutputStore,
  made: Made,
  done: CompletedPass,
  signal?: AbortSignal,
): Promise<void> {
  const text = JSON.stringify({ digest: digestOf(made), ...done });
  await putText(store, checkpointName(done.name), text, signal);
}

/**
 * Takes over the first passes of the same plan that an earlier attempt has finished, as far as they go: every object
 * is copied into this attempt's own prefix, exactly as it was noted. Attempts are asked in their order; the first
 * that has anything is taken. Whatever is missing, changed or unreadable is simply encoded again.
 */
export async function takeOver(
  earlier: readonly EarlierOutput[],
  order: Made & { readonly passes: readonly Pass[] },
  signal?: AbortSignal,
): Promise<CompletedPass[]> {
  const digest = digestOf(order);
  for (const output of earlier) {
    const taken: CompletedPass[] = [];
    for (const { name } of order.passes) {
      const noted = await readCheckpoint(output, name, digest, signal);
      const done = noted && (await copyAll(output, noted, signal));
      if (!done) break;
      taken.push(done);
    }
    if (taken.length > 0) return taken;
  }
  return [];
}

async function readCheckpoint(
  output: EarlierOutput,
  passName: string,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<CompletedPass | null> {
  const text = await withRetries(() => output.readText(checkpointName(passName), signal), signal).catch(
    (error: unknown) => {
      if (error instanceof AppError && !error.retryable) return null;
      throw error;
    },
  );
  if (text === null) return null;
  const { success, data } = checkpointSchema.safeParse(parseOr(text));
  if (!success || data.digest !== digest || data.name !== passName) return null;
  const { digest: _, ...done } = data;
  return done;
}

const parseOr = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const copiesAtOnce = 8;

/** The same pass below this attempt's prefix, or null where an object is gone or changed. */
async function copyAll(
  output: EarlierOutput,
  { name, segments, sheets }: CompletedPass,
  signal: AbortSignal | undefined,
): Promise<CompletedPass | null> {
  const queue = new PQueue({ concurrency: copiesAtOnce });
  let isWhole = true;
  const copy = async <Noted extends StoredObject>(noted: Noted): Promise<Noted> => {
    if (!isWhole) return noted;
    signal?.throwIfAborted();
    const copied = await withRetries(() => output.copyHere(noted, signal), signal);
    if (!copied) isWhole = false;
    return { ...noted, ...copied };
  };
  const copyEach = <Noted extends StoredObject>(objects: readonly Noted[]): Promise<Noted[]> =>
    queue.addAll(objects.map((object) => () => copy(object)));
  const copied = {
    name,
    segments: Object.fromEntries(
      await Promise.all(
        Object.entries(segments).map(async ([folder, list]) => [folder, await copyEach(list)] as const),
      ),
    ),
    sheets: await copyEach(sheets),
  };
  return isWhole ? copied : null;
}
