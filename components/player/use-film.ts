"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { FilmGrant, FilmSource } from "./film-source.ts";
import { type Film, type FilmEvents, openHlsFilm } from "./hls-film.ts";
import { openNativeFilm } from "./native-film.ts";
import { judgeGrantFailure, type PlayerProblem, playerProblem } from "./player-problem.ts";
import { renditionsOf } from "./renditions.ts";
import { soundTracksOf } from "./sound-tracks.ts";

/** How the permission to play stands. */
export type FilmState =
  | { readonly phase: "asking" }
  | { readonly phase: "granted"; readonly grant: FilmGrant }
  | { readonly phase: "problem"; readonly problem: PlayerProblem };

/**
 * Opens a film: asks for permission (which sets the cookies), attaches the video element that `attach` is given,
 * renews the cookies before they end, and after a 403 once more. `again` starts over where the viewer was.
 * `startAtSeconds` is asked for once there is something to play; `source` may be another object for the same film.
 */
export function useFilm(source: FilmSource, startAtSeconds: () => number = () => 0) {
  const [state, setState] = useState<FilmState>({ phase: "asking" });
  const [attempt, setAttempt] = useState(0);
  const resumeAtSeconds = useRef<number | null>(null);
  const film = useRef({ source, startAtSeconds });
  film.current = { source, startAtSeconds };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again.
  useEffect(() => {
    const asking = new AbortController();
    setState({ phase: "asking" });
    film.current.source.ask(null, asking.signal).then(
      (grant) => setState({ phase: "granted", grant }),
      (error: unknown) => {
        if (!asking.signal.aborted) setState({ phase: "problem", problem: judgeGrantFailure(error) });
      },
    );
    return () => asking.abort();
  }, [source.key, attempt]);

  const grant = state.phase === "granted" ? state.grant : null;
  const attach = useCallback(
    (video: HTMLVideoElement | null) => {
      if (!video || !grant) return;
      const position = resumeAtSeconds.current ?? film.current.startAtSeconds();
      if (position > 0)
        video.addEventListener(
          "loadedmetadata",
          () => {
            video.currentTime = position;
          },
          { once: true },
        );
      return playWhileGranted(video, film.current.source, grant, (problem) => {
        resumeAtSeconds.current = video.currentTime;
        setState({ phase: "problem", problem });
      });
    },
    [grant],
  );
  const again = useCallback(() => setAttempt((count) => count + 1), []);
  return { state, attach, again };
}

/** Plays until a problem comes or the returned function is called. */
function playWhileGranted(
  video: HTMLVideoElement,
  source: FilmSource,
  firstGrant: FilmGrant,
  onProblem: (problem: PlayerProblem) => void,
): () => void {
  let film: Film | undefined;
  let closed = false;
  let timer: number | undefined;
  let held = firstGrant;
  renditionsOf(video);
  soundTracksOf(video);
  /** After a 403 the cookies are renewed once; only media that arrives allows it again. */
  let renewedAfterDenial = false;

  function end() {
    closed = true;
    window.clearTimeout(timer);
    film?.close();
  }
  function fail(problem: PlayerProblem) {
    if (closed) return;
    end();
    onProblem(problem);
  }
  function scheduleRenewal(grant: FilmGrant) {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void renew(false), grant.renewAfterSeconds * 1_000);
  }
  async function renew(denied: boolean) {
    try {
      const grant = await source.ask(held);
      if (closed) return;
      scheduleRenewal(grant);
      // A version published meanwhile shows at the next opening. This one is renewed for a day; then it plays on
      // while its cookies last, and the active one takes over at the 403.
      if (!denied) return;
      held = grant;
      film?.renewed(grant.manifestUrl);
    } catch (error) {
      const problem = judgeGrantFailure(error);
      // Renewing early has time: a missing answer is asked for again, and a 403 would come first.
      if (!denied && problem.kind !== "denied" && problem.kind !== "signed-out") {
        timer = window.setTimeout(() => void renew(false), retryMs);
        return;
      }
      fail(problem);
    }
  }
  const events: FilmEvents = {
    onDenied() {
      if (renewedAfterDenial) return fail(playerProblem("expired"));
      renewedAfterDenial = true;
      void renew(true);
    },
    onProblem: fail,
    onProgress() {
      renewedAfterDenial = false;
    },
  };

  void openFilm(video, firstGrant.manifestUrl, source, events, () => closed).then(
    (opened) => {
      if (closed) opened?.close();
      else if (opened) film = opened;
      else fail(playerProblem("unsupported"));
    },
    () => fail(playerProblem("unreachable")),
  );
  scheduleRenewal(firstGrant);
  return end;
}

const retryMs = 5_000;

/** hls.js first: browsers that claim HLS of their own don't all mean it. Null where neither can. */
async function openFilm(
  video: HTMLVideoElement,
  manifestUrl: string,
  { isGrowing }: FilmSource,
  events: FilmEvents,
  isClosed: () => boolean,
): Promise<Film | null> {
  const { default: Hls } = await import("hls.js");
  if (isClosed()) return null;
  if (Hls.isSupported()) return openHlsFilm(Hls, video, manifestUrl, events, isGrowing);
  if (video.canPlayType("application/vnd.apple.mpegurl")) return openNativeFilm(video, manifestUrl, events);
  return null;
}
