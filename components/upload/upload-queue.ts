import type { UploadLimits } from "@reelkeep/core/upload/policy";
import { busyPhases } from "@reelkeep/core/words/sending";
import { confirmUpload, giveUpUpload, ProblemError, problemOf, toProblemError } from "../api-client.ts";
import { announceUpload } from "./announce-upload.ts";
import { DetailsSaver } from "./details-saver.ts";
import { earlyRefusal } from "./early-refusal.ts";
import { findInterrupted } from "./find-interrupted.ts";
import { isMissingMultipart, judgeFailure } from "./judge-failure.ts";
import { Lane } from "./lane.ts";
import { lookInWorker } from "./look-in-worker.ts";
import { type RememberedUpload, RememberedUploads } from "./remembered-uploads.ts";
import { newItem, rememberedOf, resumedItem, type UploadOrigin } from "./upload-items.ts";
import { type UploadItem, UploadStore } from "./upload-store.ts";
import { createUppy, filesAtOnce, type UploadUppy } from "./uppy.ts";

/** Tries without a single new byte before a person is asked. */
const triesMax = 6;
const restMsMax = 30_000;
const restMs = (tries: number) => Math.min(1_000 * 2 ** Math.max(tries - 1, 0), restMsMax);
/** A connection that moves nothing for this long is taken for dead and opened again. */
const stalledMs = 60_000;
/** A look into a file that takes no longer isn't worth words. */
const silentLookMs = 400;

/**
 * All uploads of one account in this tab. Every file has one loop (`#drive`) that sends it, judges what goes
 * wrong, waits and goes on, until the server has decided what became of it.
 */
export class UploadQueue {
  readonly store = new UploadStore();
  readonly #limits: UploadLimits;
  readonly #uppy: UploadUppy;
  readonly #remembered: RememberedUploads;
  readonly #details = new DetailsSaver(this.store);
  /** By actionKey: the files that this tab holds. */
  readonly #lanes = new Map<string, Lane>();

  constructor(limits: UploadLimits, accountId: string) {
    this.#limits = limits;
    this.#remembered = new RememberedUploads(window.localStorage, accountId);
    this.#uppy = createUppy(limits, (fileId) => this.#announce(this.#laneOf(fileId)));
    this.#listen();
    void this.#showInterrupted();
  }

  /** Starts to send `files`. Answers the names of those that are being sent already. */
  add(files: readonly File[], origin: UploadOrigin = {}): string[] {
    return files.filter((file) => !this.#addOne(file, origin)).map((file) => file.name);
  }

  pause(actionKey: string): void {
    const lane = this.#lanes.get(actionKey);
    if (!lane || lane.paused) return;
    lane.paused = true;
    this.store.change(actionKey, { phase: "paused", bytesPerSecond: null });
    if (lane.running) this.#uppy.pauseResume(lane.fileId);
  }

  resume(actionKey: string): void {
    const lane = this.#lanes.get(actionKey);
    if (!lane?.paused) return;
    lane.paused = false;
    lane.restart();
    this.store.change(actionKey, { phase: "sending" });
    if (lane.running) this.#uppy.pauseResume(lane.fileId);
    else lane.wake();
  }

  /** Goes on after a stop that needed a person. An upload that has ended meanwhile begins anew. */
  retry(actionKey: string): void {
    const item = this.store.find(actionKey);
    const lane = this.#lanes.get(actionKey);
    if (!item || !lane) return;
    if (item.problem?.code === "upload-expired") {
      this.#forget(actionKey);
      this.store.remove(actionKey);
      this.#addOne(lane.file, item);
      return;
    }
    this.store.change(actionKey, { phase: "waiting", problem: null });
    void this.#drive(actionKey, lane);
  }

  /** Gives the upload up: what was stored is removed. */
  cancel(actionKey: string): void {
    const announced = this.store.find(actionKey)?.assetId != null;
    this.#forget(actionKey);
    this.store.remove(actionKey);
    if (announced) giveUp(actionKey);
  }

  /** Takes a finished upload out of the list. */
  dismiss(actionKey: string): void {
    this.#forget(actionKey);
    this.store.remove(actionKey);
  }

  /** Takes whatever belongs to a deleted video out of the list, and stops sending it. */
  dropVideo(assetId: string): void {
    for (const { actionKey, phase } of this.store.items().filter((item) => item.assetId === assetId))
      if (phase === "admitted" || phase === "refused") this.dismiss(actionKey);
      else this.cancel(actionKey);
  }

  /** Notes what was typed; it is kept whatever becomes of the file. */
  describe(actionKey: string, details: Partial<Pick<UploadItem, "title" | "description">>): void {
    this.store.change(actionKey, { ...details, detailsSaved: false });
    this.#remember(actionKey);
    this.#details.schedule(actionKey);
  }

  /** Whether leaving the page would interrupt something. */
  isBusy(): boolean {
    return this.store
      .items()
      .some(({ phase }) => phase === "paused" || busyPhases.some((busy) => busy === phase));
  }

  #addOne(file: File, origin: UploadOrigin): boolean {
    const known = this.#remembered.matching(file);
    if (known && this.#lanes.has(known.actionKey)) return false;
    const item = known ? resumedItem(known) : newItem(file, origin);
    const refusal = earlyRefusal(file, this.#limits);
    if (refusal) {
      this.store.add({ ...item, phase: "refused", problem: refusal });
      return true;
    }
    const fileId = this.#hold(file, item.actionKey, known);
    if (fileId === null) return false;
    this.store.remove(item.actionKey);
    this.store.add(item);
    const lane = new Lane(item, fileId, file);
    this.#lanes.set(item.actionKey, lane);
    // What goes on after a reload was looked at before.
    void (known ? this.#drive(item.actionKey, lane) : this.#lookAndDrive(item.actionKey, lane));
    return true;
  }

  /** Gives the file to Uppy; null where it has that file already. */
  #hold(file: File, actionKey: string, known: RememberedUpload | undefined): string | null {
    const multipart = known?.multipart ?? undefined;
    try {
      const fileId = this.#uppy.addFile({
        name: file.name,
        type: file.type,
        data: file,
        meta: { actionKey, ...(multipart && { key: multipart.key }) },
      });
      if (multipart) this.#uppy.setFileState(fileId, { s3Multipart: multipart });
      return fileId;
    } catch {
      return null;
    }
  }

  /** U4: what admission would refuse isn't even announced. */
  async #lookAndDrive(actionKey: string, lane: Lane): Promise<void> {
    const tell = () => this.store.change(actionKey, { phase: "looking" });
    const timer = window.setTimeout(tell, silentLookMs);
    const problem = await lookInWorker(lane.file, this.#limits, lane.signal);
    window.clearTimeout(timer);
    if (lane.cancelled) return;
    this.store.change(actionKey, { phase: problem ? "refused" : "preparing", problem });
    if (problem) this.#forget(actionKey);
    else await this.#drive(actionKey, lane);
  }

  async #drive(actionKey: string, lane: Lane): Promise<void> {
    let tries = 0;
    let mayBeThere = false;
    while (!lane.cancelled) {
      const sentBefore = lane.sentBytesMax;
      try {
        if (!mayBeThere) await this.#send(lane);
        if (lane.cancelled) return;
        if (await this.#confirm(actionKey)) return;
        // The server says that bytes are missing: storage knows which.
        this.#reopen(lane);
        mayBeThere = false;
        tries += 1;
      } catch (error) {
        if (lane.cancelled) return;
        tries = lane.sentBytesMax > sentBefore ? 1 : tries + 1;
        const verdict = judgeFailure(error, lane.everythingSent);
        if (verdict === "refused") return this.#stop(actionKey, "refused", error);
        if (verdict === "stopped") return this.#stop(actionKey, "stopped", error);
        if (verdict === "await-network") {
          if (!(await lane.fileIsReadable())) return this.#stop(actionKey, "stopped", unreadable());
          this.store.change(actionKey, { phase: "disconnected", bytesPerSecond: null });
          await lane.rest(restMs(tries));
          continue;
        }
        if (tries > triesMax) return this.#stop(actionKey, "stopped", error);
        this.store.change(actionKey, { bytesPerSecond: null });
        mayBeThere = verdict === "ask-server" && !mayBeThere;
        if (isMissingMultipart(error)) this.#uppy.setFileState(lane.fileId, { s3Multipart: undefined });
        if (verdict === "sign-again" || mayBeThere) continue;
      }
      if (tries > triesMax) return this.#stop(actionKey, "stopped", problemOf("upload-incomplete"));
      await lane.rest(restMs(tries));
    }
  }

  /** One try to send what storage hasn't got yet. @throws whatever announcing, signing or storage threw. */
  async #send(lane: Lane): Promise<void> {
    await lane.whileNotPaused();
    if (lane.cancelled) return;
    lane.begin();
    try {
      // Not upload(): that would also start every other file that has failed.
      await this.#uppy.retryUpload(lane.fileId);
    } finally {
      lane.end();
    }
    if (lane.failure) throw lane.failure;
  }

  /** Lets Uppy send a file again that it takes for done. */
  #reopen({ fileId }: Lane): void {
    const { progress } = this.#uppy.getFile(fileId);
    this.#uppy.setFileState(fileId, { progress: { ...progress, uploadComplete: false, percentage: 0 } });
  }

  /** Runs before a file's first byte, and again before every retry: announced once is enough. */
  async #announce(lane: Lane): Promise<void> {
    const { actionKey, fileId, file } = lane;
    const itemNow = () => this.store.find(actionKey) ?? lane.item;
    if (this.#uppy.getFile(fileId).meta.key) return;
    let announced = itemNow();
    const answer = await announceUpload(file, this.#limits, () => {
      announced = itemNow();
      return announced;
    });
    if (lane.cancelled) return giveUp(actionKey);
    this.#uppy.setFileMeta(fileId, { ...this.#uppy.getFile(fileId).meta, key: answer.key });
    const { title, description } = itemNow();
    // A known video keeps its details: what was typed for this upload is a change of them.
    const saved = !announced.assetId && announced.title === title && announced.description === description;
    const phase = this.#isRoomToSend() ? "sending" : "waiting";
    this.store.change(actionKey, { assetId: answer.assetId, detailsSaved: saved, phase });
    this.#remember(actionKey);
    if (!saved) this.#details.schedule(actionKey);
    if (answer.status !== "url-created") throw problemOf("upload-closed");
  }

  /** Asks the server what became of the file. False: it hasn't fully arrived. */
  async #confirm(actionKey: string): Promise<boolean> {
    const sizeBytes = this.store.find(actionKey)?.sizeBytes ?? 0;
    this.store.change(actionKey, { phase: "confirming", bytesPerSecond: null, sentBytes: sizeBytes });
    const answer = await confirmUpload(actionKey).catch((error: unknown) => {
      if (error instanceof ProblemError && error.code === "upload-incomplete") return null;
      throw error;
    });
    if (answer === null || answer.status === "url-created") return false;
    await this.#details.save(actionKey);
    if (answer.status === "expired") {
      this.#stop(actionKey, "stopped", problemOf("upload-expired"));
      this.#remembered.forget(actionKey);
      return true;
    }
    const refused = answer.status === "rejected";
    this.store.change(actionKey, {
      phase: refused ? "refused" : "admitted",
      problem: refused ? answer.failure : null,
    });
    this.#forget(actionKey);
    return true;
  }

  #stop(actionKey: string, phase: "refused" | "stopped", error: unknown): void {
    const { code, message, next } = toProblemError(error);
    this.store.change(actionKey, { phase, problem: { code, message, next }, bytesPerSecond: null });
    if (phase === "refused") this.#forget(actionKey);
  }

  #listen(): void {
    this.#uppy.on("upload-progress", (file, progress) => {
      const lane = file && this.#lanes.get(file.meta.actionKey);
      if (!lane || lane.paused || !lane.running) return;
      lane.note(progress.bytesUploaded || 0);
      this.store.change(lane.actionKey, {
        phase: "sending",
        sentBytes: progress.bytesUploaded || 0,
        bytesPerSecond: lane.bytesPerSecond(),
      });
    });
    this.#uppy.on("upload-error", (file, error) => {
      const lane = file && this.#lanes.get(file.meta.actionKey);
      if (lane) lane.failure = error;
    });
    this.#uppy.on("s3-multipart:part-uploaded", (file) => this.#remember(file.meta.actionKey));
    // Between two requests Uppy waits for the network without a word.
    window.addEventListener("offline", () => {
      for (const lane of this.#lanes.values())
        if (lane.running && !lane.paused && !lane.everythingSent)
          this.store.change(lane.actionKey, { phase: "disconnected", bytesPerSecond: null });
    });
    window.addEventListener("online", () => {
      for (const lane of this.#lanes.values()) if (!lane.paused) lane.wake();
    });
    window.addEventListener("beforeunload", (event) => {
      if (this.isBusy()) event.preventDefault();
    });
    window.setInterval(() => this.#reopenStalled(), stalledMs / 4);
  }

  #reopenStalled(): void {
    if (!navigator.onLine) return;
    for (const lane of this.#lanes.values()) {
      if (!lane.isStalled(stalledMs)) continue;
      lane.restart();
      this.#uppy.pauseResume(lane.fileId);
      this.#uppy.pauseResume(lane.fileId);
    }
  }

  async #showInterrupted(): Promise<void> {
    for (const upload of await findInterrupted(this.#remembered))
      if (!this.store.find(upload.actionKey))
        this.store.add({ ...resumedItem(upload), phase: "file-needed" });
  }

  #remember(actionKey: string): void {
    const item = this.store.find(actionKey);
    if (!item?.assetId) return;
    const lane = this.#lanes.get(actionKey);
    const multipart = lane
      ? this.#uppy.getFile(lane.fileId)?.s3Multipart
      : this.#remembered.find(actionKey)?.multipart;
    if (lane || this.#remembered.find(actionKey))
      this.#remembered.keep(rememberedOf(item, multipart ?? null));
  }

  #forget(actionKey: string): void {
    this.#remembered.forget(actionKey);
    const lane = this.#lanes.get(actionKey);
    if (!lane) return;
    this.#lanes.delete(actionKey);
    lane.cancel();
    if (this.#uppy.getFile(lane.fileId)) this.#uppy.removeFile(lane.fileId);
  }

  #laneOf(fileId: string): Lane {
    const lane = this.#lanes.get(this.#uppy.getFile(fileId).meta.actionKey);
    if (!lane) throw new Error(`no upload holds the file ${fileId}`);
    return lane;
  }

  readonly #isRoomToSend = (): boolean =>
    this.store.items().filter(({ phase }) => phase === "sending" || phase === "paused").length < filesAtOnce;
}

/** A lost request is repaired by the server's sweep. */
function giveUp(actionKey: string): void {
  giveUpUpload(actionKey).catch(() => {});
}

const unreadable = () =>
  new ProblemError({
    code: "unreadable-file",
    message: "The browser can't read the file any more: it was moved, renamed or changed.",
    next: "Choose it again.",
    retryable: false,
  });
