/** What people read while the browser sends a file: states that the server can't know. */
import { formatBytes, formatPercent, formatSpeed, formatWait } from "./format.ts";
import type { StatusWords } from "./status.ts";

/**
 * Where an upload stands in this browser.
 * `looking`: its container is being read, which takes a while. `preparing`: being measured and announced.
 * `waiting`: others go first. `sending`, `paused`: as they say. `disconnected`: the network or the server doesn't
 * answer; it goes on by itself. `confirming`: all bytes are sent, the server decides. `admitted`: the server took
 * it over. `refused`: the server or the browser won't take this file. `stopped`: it failed in a way that a person
 * may retry. `file-needed`: the page was reloaded and the browser no longer holds the file.
 */
export const sendingPhases = [
  "looking",
  "preparing",
  "waiting",
  "sending",
  "paused",
  "disconnected",
  "confirming",
  "admitted",
  "refused",
  "stopped",
  "file-needed",
] as const;
export type SendingPhase = (typeof sendingPhases)[number];

/** In these phases leaving the page would interrupt something. */
export const busyPhases = [
  "looking",
  "preparing",
  "waiting",
  "sending",
  "disconnected",
  "confirming",
] as const satisfies SendingPhase[];

export interface SendingFacts {
  readonly phase: SendingPhase;
  readonly filename: string;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  readonly bytesPerSecond: number | null;
  readonly problem: { readonly message: string; readonly next: string } | null;
}

/** One upload as its sender reads it. */
export function describeSending(facts: SendingFacts): StatusWords {
  const fraction = facts.sizeBytes > 0 ? facts.sentBytes / facts.sizeBytes : 0;
  const amount = `${formatBytes(facts.sentBytes)} of ${formatBytes(facts.sizeBytes)}`;
  const problem = facts.problem ? `${facts.problem.message} ${facts.problem.next}` : "";
  switch (facts.phase) {
    case "looking":
      return {
        label: "Looking at the file",
        detail: "Nothing has been sent yet.",
        tone: "active",
        icon: "checking",
        fraction: 0,
      };
    case "preparing":
      return {
        label: "Preparing",
        detail: "Reading the file.",
        tone: "active",
        icon: "checking",
        fraction: 0,
      };
    case "waiting":
      return {
        label: "Waiting",
        detail: "Starts when the files before it are sent.",
        tone: "quiet",
        icon: "in-line",
        fraction,
      };
    case "sending":
      return {
        label: sendingLabel(facts, fraction),
        detail: sendingDetail(facts, amount),
        tone: "active",
        icon: "sending",
        fraction,
      };
    case "paused":
      return {
        label: `Paused at ${formatPercent(fraction)}`,
        detail: amount,
        tone: "quiet",
        icon: "paused",
        fraction,
      };
    case "disconnected":
      return {
        label: "Waiting for your connection",
        detail: "Nothing is lost; it goes on by itself.",
        tone: "quiet",
        icon: "waiting-for-network",
        fraction,
      };
    case "confirming":
      return {
        label: "Checking",
        detail: "Upload complete. Checking the file.",
        tone: "active",
        icon: "checking",
        fraction: 1,
      };
    case "admitted":
      return {
        label: "Upload complete",
        detail: "You may close this page.",
        tone: "good",
        icon: "ready",
        fraction: 1,
      };
    case "refused":
      return { label: "Not accepted", detail: problem, tone: "bad", icon: "failed", fraction: null };
    case "stopped":
      return {
        label: `Stopped at ${formatPercent(fraction)}`,
        detail: problem,
        tone: "bad",
        icon: "failed",
        fraction,
      };
    case "file-needed":
      return {
        label: `Interrupted at ${formatPercent(fraction)}`,
        detail: `Choose ${facts.filename} again; it goes on where it stopped.`,
        tone: "quiet",
        icon: "paused",
        fraction,
      };
  }
}

function secondsLeft({ sizeBytes, sentBytes, bytesPerSecond }: SendingFacts): number | null {
  return bytesPerSecond === null || bytesPerSecond <= 0 ? null : (sizeBytes - sentBytes) / bytesPerSecond;
}

function sendingLabel(facts: SendingFacts, fraction: number): string {
  const left = secondsLeft(facts);
  const percent = `Uploading ${formatPercent(fraction)}`;
  return left === null ? percent : `${percent} · ${formatWait(left)} left`;
}

const sendingDetail = ({ bytesPerSecond }: SendingFacts, amount: string): string =>
  bytesPerSecond === null || bytesPerSecond < 1 ? amount : `${amount} · ${formatSpeed(bytesPerSecond)}`;
