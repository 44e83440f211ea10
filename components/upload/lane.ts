import { SpeedMeter } from "./speed-meter.ts";
import { holdUpload } from "./upload-lock.ts";
import type { UploadItem } from "./upload-store.ts";

/** One file that this tab holds, and how its sending stands between and during tries. */
export class Lane {
  readonly actionKey: string;
  /** As it was when its sending began. */
  readonly item: UploadItem;
  readonly fileId: string;
  readonly file: File;
  paused = false;
  /** Whether Uppy is at work on it right now. */
  running = false;
  /** What the last try failed with. */
  failure: unknown;
  sentBytesMax = 0;
  everythingSent = false;
  readonly #meter = new SpeedMeter();
  readonly #release: () => void;
  readonly #end = new AbortController();
  #movedAtMs = 0;
  #wake = () => {};

  constructor(item: UploadItem, fileId: string, file: File) {
    this.actionKey = item.actionKey;
    this.item = item;
    this.fileId = fileId;
    this.file = file;
    this.#release = holdUpload(item.actionKey);
  }

  /** Aborted when the upload is given up, refused or done with. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get cancelled(): boolean {
    return this.#end.signal.aborted;
  }

  begin(): void {
    this.running = true;
    this.failure = undefined;
    this.everythingSent = false;
    this.restart();
  }

  end(): void {
    this.running = false;
  }

  /** Measures anew: what came before (a pause, a dead connection) says nothing about the speed. */
  restart(): void {
    this.#meter.reset();
    this.#movedAtMs = performance.now();
  }

  note(sentBytes: number): void {
    this.#movedAtMs = performance.now();
    this.#meter.note(sentBytes, this.#movedAtMs);
    this.sentBytesMax = Math.max(this.sentBytesMax, sentBytes);
    this.everythingSent = sentBytes >= this.file.size;
  }

  bytesPerSecond = (): number | null => this.#meter.bytesPerSecond();

  isStalled(afterMs: number): boolean {
    return (
      this.running &&
      !this.paused &&
      !this.everythingSent &&
      this.sentBytesMax > 0 &&
      performance.now() - this.#movedAtMs > afterMs
    );
  }

  /** Waits for `ms`, or until it is woken. */
  rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, ms);
      this.#wake = () => {
        window.clearTimeout(timer);
        resolve();
      };
    });
  }

  async whileNotPaused(): Promise<void> {
    while (this.paused && !this.cancelled)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  wake(): void {
    this.#wake();
  }

  cancel(): void {
    this.#end.abort();
    this.#release();
    this.#wake();
  }

  /** Whether the browser can still read the file; a moved or changed one looks like a network error otherwise. */
  async fileIsReadable(): Promise<boolean> {
    try {
      await this.file.slice(0, 1).arrayBuffer();
      return true;
    } catch {
      return false;
    }
  }
}
