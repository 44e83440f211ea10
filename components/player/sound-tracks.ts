import type Hls from "hls.js";

/** One of the film's sound tracks; setting `enabled` chooses it. */
interface SoundTrack {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly language: string;
  enabled: boolean;
}

/** The language that somebody chose is heard in the next film too. */
const languageKey = "reelkeep-sound-language";

/**
 * The film's sound tracks in the form in which HTML has them (AudioTrackList) and the player's menu reads them;
 * browsers that play by hls.js have no such list of their own. As `Renditions`, it is there before any film is.
 */
export class SoundTracks extends EventTarget {
  #hls: Hls | undefined;
  #list: readonly SoundTrack[] = [];

  /** Reads what the manifest offered, and takes the language that was chosen before where there is one. */
  load(hls: Hls): void {
    this.#hls = hls;
    this.#list = hls.audioTracks.map((track, index) => this.#describe(index, track.name, track.lang ?? ""));
    const wanted = window.localStorage.getItem(languageKey);
    const index = hls.audioTracks.findIndex(({ lang }) => lang && lang === wanted);
    if (index >= 0) hls.audioTrack = index;
    this.dispatchEvent(new Event("addtrack"));
  }

  #describe(index: number, label: string, language: string): SoundTrack {
    const choose = (enabled: boolean) => {
      if (!enabled || !this.#hls || this.#hls.audioTrack === index) return;
      this.#hls.audioTrack = index;
      if (language) window.localStorage.setItem(languageKey, language);
      this.dispatchEvent(new Event("change"));
    };
    const isEnabled = () => this.#hls?.audioTrack === index;
    return {
      ...{ id: String(index), kind: index === 0 ? "main" : "alternative", label, language },
      get enabled() {
        return isEnabled();
      },
      set enabled(enabled) {
        choose(enabled);
      },
    };
  }

  get length(): number {
    return this.#list.length;
  }

  [Symbol.iterator](): Iterator<SoundTrack> {
    return this.#list[Symbol.iterator]();
  }
}

/** The list of a video element, made at the first asking; null where the browser has one of its own. */
export function soundTracksOf(video: HTMLVideoElement & { audioTracks?: unknown }): SoundTracks | null {
  if (video.audioTracks === undefined)
    Object.defineProperty(video, "audioTracks", { value: new SoundTracks(), configurable: true });
  return video.audioTracks instanceof SoundTracks ? video.audioTracks : null;
}
