/** One run of FFmpeg, whose segments move to storage while it goes on (M5). */
import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";
import { storyboardSheetName } from "@reelkeep/core/object-keys";
import { encodeArgs, type PassOrder, segmentListName, sheetFileName } from "../ffmpeg/args.ts";
import { encoderFailure } from "../ffmpeg/encoder-failure.ts";
import { encodeLimits } from "../ffmpeg/limits.ts";
import { type FfmpegProgress, progressReader } from "../ffmpeg/progress.ts";
import { type RunHandle, run } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { OutputStore, StoredObject } from "./output-store.ts";
import type { Pass } from "./passes.ts";
import { putFile } from "./put-file.ts";
import { followSegmentList } from "./segment-list.ts";
import { type StoredSegment, segmentUploader } from "./segment-uploader.ts";

/** What a run left in storage. */
export interface CompletedPass {
  /** The pass's. */
  readonly name: string;
  /** By folder, in order. */
  readonly segments: Readonly<Record<string, readonly StoredSegment[]>>;
  /** Its part of the storyboard, in order. */
  readonly sheets: readonly StoredObject[];
}

export interface PassOptions {
  readonly tools: MediaTools;
  readonly store: OutputStore;
  readonly workFolder: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: FfmpegProgress) => void;
  readonly onStored: (segment: StoredSegment) => void;
  /** The number of the storyboard's first sheet in this pass, from 1. */
  readonly firstSheet: number;
}

const pollMs = 200;
/** FFmpeg stands still while more than this waits for storage, so that scratch stays small. */
const backlogBytesMax = 512 * 1024 * 1024;
/** A disk with less than this is full: no segment fits. */
const fullBytes = 64 * 1024;

export const foldersOf = (pass: Pass): string[] => [
  ...pass.renditions.map(({ name }) => name),
  ...pass.sounds.map(({ folder }) => folder),
];

/**
 * Runs a pass below the work folder and stores all that it makes. Resolves once that lies in storage.
 * @throws AppError `encoder-failed`, `unreadable-file`, `disk-full`, `too-demanding`, or what storage threw; or the signal's reason.
 */
export async function encodePass(order: PassOrder, options: PassOptions): Promise<CompletedPass> {
  const { pass } = order;
  const { tools, workFolder } = options;
  const folders = foldersOf(pass);
  for (const folder of folders) await mkdir(join(workFolder, folder), { recursive: true });

  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(options.signal ? [options.signal] : [])]);
  const segments = Object.fromEntries(folders.map((folder) => [folder, [] as StoredSegment[]]));
  const uploader = segmentUploader({
    store: options.store,
    signal,
    onFailure: (error) => failure.abort(error),
    onStored: (segment) => {
      segments[segment.folder]!.push(segment);
      options.onStored(segment);
    },
  });
  const lists = folders.map((folder) =>
    followSegmentList(folder, join(workFolder, folder, segmentListName(pass)), {
      frameSeconds: 1 / order.plan.frameRate,
      firstNumber: order.firstSegment,
    }),
  );
  const collect = async () => {
    for (const segment of (await Promise.all(lists.map((list) => list.readNew()))).flat())
      uploader.add(segment);
  };

  let handle: RunHandle | undefined;
  let isRunning = true;
  const running = run(tools, "ffmpeg", encodeArgs(order), {
    signal,
    cwd: workFolder,
    files: { read: [order.sourcePath], write: [workFolder], gpu: order.engine.usesCard },
    limits: encodeLimits(order.plan, (await stat(order.sourcePath)).size, secondsOfPass(order)),
    onStart: (started) => {
      handle = started;
    },
    onStdout: progressReader(options.onProgress),
  }).finally(() => {
    isRunning = false;
  });
  // Its failure is awaited below, after the last look at the lists.
  running.catch(() => {});

  let isPaused = false;
  try {
    while (isRunning) {
      await Promise.race([running.catch(() => {}), delay(pollMs)]);
      await collect();
      if (!isPaused && uploader.pendingBytes() > backlogBytesMax) {
        isPaused = true;
        handle?.pause();
      } else if (isPaused && uploader.pendingBytes() < backlogBytesMax / 2) {
        isPaused = false;
        handle?.resume();
      }
    }
    const result = await running;
    if (result.exitCode !== 0) throw encoderFailure(result);
    await collect();
    const sheets = pass.window ? await storeSheets(options, signal) : [];
    await uploader.drain();
    for (const folder of folders)
      if (segments[folder]!.length === 0)
        throw new AppError("encoder-failed", { cause: new Error(`no segment of ${folder} was written`) });
    const inOrder = (folder: string) => segments[folder]!.toSorted((a, b) => a.number - b.number);
    return {
      name: pass.name,
      segments: Object.fromEntries(folders.map((folder) => [folder, inOrder(folder)])),
      sheets,
    };
  } catch (cause) {
    const error = await explainFailure(cause, workFolder);
    failure.abort(error);
    await running.catch(() => {});
    throw error;
  }
}

/** How much of the film it encodes; a run over all of it may meet more than the header states. */
const secondsOfPass = ({ plan, pass: { window } }: PassOrder): number =>
  window?.endSeconds == null ? plan.expectedSeconds : window.endSeconds - window.startSeconds;

async function storeSheets(
  { workFolder, store, firstSheet }: PassOptions,
  signal: AbortSignal,
): Promise<StoredObject[]> {
  const sheets: StoredObject[] = [];
  for (let number = 1; ; number++) {
    const path = join(workFolder, sheetFileName(number));
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size === 0) return sheets;
    sheets.push(await putFile(store, storyboardSheetName(firstSheet + number - 1), path, signal));
    await rm(path);
  }
}

/** What a run that failed left behind isn't met by the next one. */
export async function clearWorkFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/** On a full disk FFmpeg leaves torn lists and segments behind, which are met before it says why. */
async function explainFailure(error: unknown, workFolder: string): Promise<unknown> {
  if (error instanceof AppError && error.code !== "encoder-failed") return error;
  const { bavail, bsize } = await statfs(workFolder);
  return bavail * bsize < fullBytes ? new AppError("disk-full", { cause: error }) : error;
}
