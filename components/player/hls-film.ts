import type Hls from "hls.js";
import type { ErrorData } from "hls.js";
import { judgeSilence, type PlayerProblem, playerProblem } from "./player-problem.ts";
import { renditionsOf } from "./renditions.ts";
import { soundTracksOf } from "./sound-tracks.ts";

/** A film on a video element, whichever way the browser plays it. */
export interface Film {
  /** Goes on after the cookies were renewed; with another manifest where a newer version took over. */
  renewed(manifestUrl: string): void;
  close(): void;
}

/** What a film tells its player. */
export interface FilmEvents {
  /** The media host said 403: the cookies ended. */
  onDenied(): void;
  /** Something that renewing can't help. */
  onProblem(problem: PlayerProblem): void;
  /** Media arrived: whatever was wrong is over. */
  onProgress(): void;
}

/** Plays by hls.js, with cookies on every request. A film that is growing is seen from its beginning. */
export function openHlsFilm(
  HlsClass: typeof Hls,
  video: HTMLVideoElement,
  manifestUrl: string,
  events: FilmEvents,
  isGrowing: boolean,
): Film {
  const hls = new HlsClass({
    xhrSetup: (xhr) => {
      xhr.withCredentials = true;
    },
    // A picture larger than its place costs the viewer bytes and shows nothing.
    capLevelToPlayerSize: true,
    // hls.js takes what grows for live, whose end it would go to.
    ...(isGrowing ? { startPosition: 0 } : {}),
  });
  let currentUrl = manifestUrl;
  let mediaRecoveries = 0;

  hls.on(HlsClass.Events.MANIFEST_PARSED, () => renditionsOf(video).load(hls));
  hls.on(HlsClass.Events.AUDIO_TRACKS_UPDATED, () => soundTracksOf(video)?.load(hls));
  hls.on(HlsClass.Events.FRAG_BUFFERED, () => {
    mediaRecoveries = 0;
    events.onProgress();
  });
  hls.on(HlsClass.Events.ERROR, (_event, data) => {
    if (isDenied(data)) {
      // Loading stops until the cookies are new; what is buffered plays on.
      hls.stopLoad();
      events.onDenied();
      return;
    }
    if (!data.fatal) return;
    if (data.type === HlsClass.ErrorTypes.MEDIA_ERROR && mediaRecoveries < 2) {
      mediaRecoveries += 1;
      hls.recoverMediaError();
      return;
    }
    void judgeFatal(HlsClass, data, currentUrl).then(events.onProblem);
  });
  hls.loadSource(manifestUrl);
  hls.attachMedia(video);

  return {
    renewed(url) {
      const hasManifest = hls.levels.length > 0;
      if (hasManifest && url === currentUrl) {
        hls.startLoad(video.currentTime);
        return;
      }
      currentUrl = url;
      const { currentTime, paused } = video;
      hls.loadSource(url);
      if (currentTime > 0)
        video.addEventListener(
          "loadedmetadata",
          () => {
            video.currentTime = currentTime;
            if (!paused) void video.play().catch(() => {});
          },
          { once: true },
        );
    },
    close: () => hls.destroy(),
  };
}

const isDenied = ({ response }: ErrorData): boolean => response?.code === 403 || response?.code === 401;

async function judgeFatal(
  HlsClass: typeof Hls,
  data: ErrorData,
  manifestUrl: string,
): Promise<PlayerProblem> {
  if (data.type !== HlsClass.ErrorTypes.NETWORK_ERROR) return playerProblem("media");
  const status = data.response?.code ?? 0;
  if (status === 404 || status === 410) return playerProblem("missing");
  if (status >= 400) return playerProblem("unreachable");
  return judgeSilence(data.url ?? manifestUrl);
}
