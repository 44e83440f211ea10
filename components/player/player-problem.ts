import { ProblemError } from "../api-client.ts";

/**
 * Why a film doesn't play. `expired`: the session's cookies ended and couldn't be renewed. `denied`: this
 * person may not watch it. `signed-out`: nobody is signed in any more. `offline`: this device has no network.
 * `unreachable`: the media host doesn't answer. `cors`: it answers, but not to this site. `missing`: a part of
 * the film isn't there. `media`: the browser can't decode it. `unsupported`: the browser can't play HLS at all.
 */
export type PlayerProblemKind =
  | "expired"
  | "denied"
  | "signed-out"
  | "offline"
  | "unreachable"
  | "cors"
  | "missing"
  | "media"
  | "unsupported";

/** What people read: what happened, and what to do next. `action` is the button that does it. */
export interface PlayerProblem {
  readonly kind: PlayerProblemKind;
  readonly message: string;
  readonly next: string;
  readonly action: "again" | "sign-in" | null;
}

const words: Record<PlayerProblemKind, Omit<PlayerProblem, "kind">> = {
  expired: { message: "Your viewing session ended.", next: "Continue where you were.", action: "again" },
  denied: { message: "This video is private.", next: "Ask its owner for access.", action: null },
  "signed-out": { message: "You are signed out.", next: "Sign in and continue.", action: "sign-in" },
  offline: {
    message: "You are offline.",
    next: "The film goes on when your connection is back.",
    action: "again",
  },
  unreachable: {
    message: "The film's server doesn't answer.",
    next: "Try again in a moment.",
    action: "again",
  },
  cors: {
    message: "The film's server doesn't allow this site to play it.",
    next: "Tell your admin: the media host's CORS rules lack this address.",
    action: "again",
  },
  missing: {
    message: "A part of this film is missing from storage.",
    next: "Tell its owner; trying again may help.",
    action: "again",
  },
  media: {
    message: "This browser can't decode the film.",
    next: "Try another browser, or a device with H.264 video.",
    action: "again",
  },
  unsupported: {
    message: "This browser can't play streamed video.",
    next: "Use a current browser.",
    action: null,
  },
};

export const playerProblem = (kind: PlayerProblemKind): PlayerProblem => ({ kind, ...words[kind] });

/** Why no permission to play was given. */
export function judgeGrantFailure(error: unknown): PlayerProblem {
  const code = error instanceof ProblemError ? error.code : "internal";
  switch (code) {
    case "unauthenticated":
      return playerProblem("signed-out");
    case "forbidden":
    case "not-found":
    case "asset-blocked":
    case "asset-deleted":
    case "account-blocked":
      return playerProblem("denied");
    case "unreachable":
      return playerProblem(navigator.onLine ? "unreachable" : "offline");
    default:
      return playerProblem("unreachable");
  }
}

/**
 * Why a request to the media host got no readable answer: with `no-cors` the browser still says whether the
 * host is there at all.
 */
export async function judgeSilence(url: string): Promise<PlayerProblem> {
  if (!navigator.onLine) return playerProblem("offline");
  try {
    await fetch(url, { mode: "no-cors", credentials: "include", cache: "no-store" });
    return playerProblem("cors");
  } catch {
    return playerProblem("unreachable");
  }
}
