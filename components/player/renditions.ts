import type Hls from "hls.js";

interface Rendition {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly bitrate: number;
}

/**
 * The film's renditions in the form in which the player's quality menu reads and chooses them: an array-like
 * list with `selectedIndex` (-1: automatic) on the video element. The controls look for it once, when they meet
 * the element, so it is there before any film is.
 * https://www.media-chrome.org/docs/en/reference/media-ui-attributes
 */
export class Renditions extends EventTarget {
  #hls: Hls | undefined;
  #list: readonly Rendition[] = [];
  #selectedIndex = -1;

  /** Reads what the manifest offered; choices go to `hls` from now on. */
  load(hls: Hls): void {
    this.#hls = hls;
    this.#selectedIndex = -1;
    this.#list = hls.levels.map(({ width, height, bitrate }, index) => ({
      id: String(index),
      width,
      height,
      bitrate,
    }));
    for (const [index, rendition] of this.#list.entries())
      Object.defineProperty(this, index, { value: rendition, configurable: true });
    this.dispatchEvent(new Event("addrendition"));
  }

  get length(): number {
    return this.#list.length;
  }

  [Symbol.iterator](): Iterator<Rendition> {
    return this.#list[Symbol.iterator]();
  }

  get selectedIndex(): number {
    return this.#selectedIndex;
  }

  /** Takes effect at the next segment: what is buffered plays on. */
  set selectedIndex(index: number) {
    this.#selectedIndex = index;
    if (this.#hls) this.#hls.nextLevel = index;
    this.dispatchEvent(new Event("change"));
  }
}

/** The list of a video element, made at the first asking. */
export function renditionsOf(video: HTMLVideoElement & { videoRenditions?: Renditions }): Renditions {
  video.videoRenditions ??= new Renditions();
  return video.videoRenditions;
}
