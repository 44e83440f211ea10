/**
 * What the jobs' rows must be, without a database: a specification that can be run. The services are compared with it
 * after each action of a worker, a sweep, an admin or a clock. Times are milliseconds since the model's start.
 */
import type { AssetMove } from "@reelkeep/core/asset/machine";
import type { attemptStates } from "@reelkeep/core/job/attempt-machine";
import type { JobState, WaitingReason } from "@reelkeep/core/job/machine";
import { defaultJobPolicy, type JobPolicy } from "@reelkeep/core/job/policy";
import type { uploadStates } from "@reelkeep/core/upload/machine";

/** Two machines at once, so that the ceiling is often reached. */
export const modelPolicy: JobPolicy = { ...defaultJobPolicy, workersMax: 2 };

export interface ModelAsset {
  state: "active" | "blocked" | "deleted";
  sourceRevision: number;
  /** Attempts that published, in order; the last one's version is what plays. */
  versions: string[];
  active: string | null;
}

export interface ModelJob {
  readonly asset: string;
  readonly revision: number;
  readonly admittedAt: number;
  state: JobState;
  generation: number;
  attemptCount: number;
  attemptLimit: number;
  /** The attempt that holds the lease. */
  holder: string | null;
  leaseUntil: number | null;
  cancelRequested: boolean;
  cancelledBy: string | null;
  waitingReason: WaitingReason | null;
  retryAt: number | null;
  launch: string | null;
  /** A machine bears the name of the launch that gave it. */
  machine: string | null;
  launchedAt: number | null;
  launchCount: number;
  errorCode: string | null;
  endedAt: number | null;
}

export interface ModelAttempt {
  readonly job: string;
  readonly number: number;
  readonly generation: number;
  readonly machine: string | null;
  state: (typeof attemptStates)[number];
  readonly startedAt: number;
  endedAt: number | null;
  errorCode: string | null;
}

export interface ModelLaunch {
  readonly job: string;
  readonly generation: number;
  readonly beganAt: number;
  machine: string | null;
  unwantedSince: number | null;
  goneAt: number | null;
  refused: boolean;
}

/** A launch intent that is pending. */
export interface ModelMessage {
  readonly job: string;
  readonly generation: number;
  availableAt: number;
  lockedUntil: number | null;
  tries: number;
}

export interface ModelEvent {
  readonly job: string;
  readonly generation: number;
  readonly state: JobState;
  readonly code: string | null;
}

/** `target`: an attempt (its output) or an upload (its source). */
export interface ModelDeletion {
  readonly target: string;
  dueAt: number;
  deletedAt: number | null;
  confirmedAt: number | null;
  kept: boolean;
}

/** Everything that is compared with the database and the fleet, by name. */
export interface Rows {
  readonly assets: Record<string, ModelAsset>;
  /** An upload and its job share a name. */
  readonly uploads: Record<string, { asset: string; state: (typeof uploadStates)[number] }>;
  readonly jobs: Record<string, ModelJob>;
  readonly attempts: Record<string, ModelAttempt>;
  readonly launches: Record<string, ModelLaunch>;
  messages: ModelMessage[];
  readonly events: ModelEvent[];
  readonly deletions: ModelDeletion[];
  machines: string[];
}

export interface Model {
  now: number;
  /** How many new uploads and workers may have had a name. */
  namesGiven: number;
  readonly rows: Rows;
  /** A dispatcher looks at the ceiling and at the line; one does so at a time. */
  isChoosing: boolean;
  /** Launches without an answer, whose machine may still come. */
  late: string[];
  /** Attempts whose output lies in storage. */
  outputs: string[];
}

export const emptyModel = (assets: readonly string[]): Model => ({
  now: 0,
  namesGiven: 9,
  rows: {
    assets: Object.fromEntries(
      assets.map((name) => [name, { state: "active", sourceRevision: 0, versions: [], active: null }]),
    ),
    uploads: {},
    jobs: {},
    attempts: {},
    launches: {},
    messages: [],
    events: [],
    deletions: [],
    machines: [],
  },
  isChoosing: false,
  late: [],
  outputs: [],
});

/** How a fleet answers a launch. `lost` and `lost-machine`: no answer; then no machine came, or one did. */
export const fleetAnswers = [
  "launched",
  "no-capacity",
  "throttled",
  "invalid",
  "lost",
  "lost-machine",
  "dispatcher-dies",
] as const;
export type FleetAnswer = (typeof fleetAnswers)[number];

export type Person = "owner" | "admin" | "stranger";

/** Everything that anybody does to jobs. Names are those of the rows. */
export type Action =
  | { readonly do: "admit"; readonly upload: string; readonly asset: string }
  | { readonly do: "dispatch"; readonly answers: readonly FleetAnswer[] }
  | {
      readonly do: "claim";
      readonly job: string;
      readonly generation: number;
      readonly attempt: string;
      readonly machine: string | null;
    }
  | { readonly do: "heartbeat" | "hand-back" | "obey" | "publish" | "write"; readonly attempt: string }
  | { readonly do: "fail"; readonly attempt: string; readonly retryable: boolean }
  | { readonly do: "recover" | "clean" }
  | { readonly do: "reap"; readonly betweenLaunches: boolean }
  | { readonly do: "machine-dies" | "machine-comes"; readonly launch: string }
  | { readonly do: "cancel"; readonly job: string; readonly by: Person }
  | { readonly do: "retry"; readonly job: string; readonly generation: number; readonly by: Person }
  | { readonly do: AssetMove; readonly asset: string; readonly by: Person };

/** What an action is answered with: an outcome, a count, or why it was refused. */
export type Answer = string | number | boolean | null | { readonly refused: string } | readonly unknown[];
