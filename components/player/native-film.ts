import type { Film, FilmEvents } from "./hls-film.ts";
import { judgeSilence, playerProblem } from "./player-problem.ts";

/** Plays HLS by the browser itself, as Safari does. It tells no status, so the first fault asks for new cookies. */
export function openNativeFilm(video: HTMLVideoElement, manifestUrl: string, events: FilmEvents): Film {
  let url = manifestUrl;
  let deniedOnce = false;

  function fail() {
    if (!deniedOnce) {
      deniedOnce = true;
      events.onDenied();
      return;
    }
    if (video.error?.code === MediaError.MEDIA_ERR_DECODE) events.onProblem(playerProblem("media"));
    else void judgeSilence(url).then(events.onProblem);
  }
  function progress() {
    deniedOnce = false;
    events.onProgress();
  }
  video.addEventListener("error", fail);
  video.addEventListener("timeupdate", progress);
  video.src = url;

  return {
    renewed(newUrl) {
      url = newUrl;
      const { currentTime, paused } = video;
      video.src = url;
      video.addEventListener(
        "loadedmetadata",
        () => {
          video.currentTime = currentTime;
          if (!paused) void video.play().catch(() => {});
        },
        { once: true },
      );
    },
    close() {
      video.removeEventListener("error", fail);
      video.removeEventListener("timeupdate", progress);
      video.removeAttribute("src");
      video.load();
    },
  };
}
