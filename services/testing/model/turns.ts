/** What may happen in one turn, drawn by fast-check: one action, several at once, or time that passes. */
import fc from "fast-check";
import {
  type Action,
  type FleetAnswer,
  fleetAnswers,
  type Model,
  type ModelAttempt,
  type ModelJob,
  modelPolicy,
  type Person,
} from "./job-model.ts";
import { takeTurn } from "./take-turn.ts";
import type { World } from "./world.ts";

const { launchSeconds, idleMachineSeconds } = modelPolicy;

/** Something that somebody would do, as soon as it is known what there is to do it with. Null: nothing. */
type Plan = (model: Readonly<Model>, names: NewNames) => Action | null;
/** Names that nobody has yet. */
type NewNames = (kind: "upload" | "worker") => string;

/** A choice of the newest (0), the one before (1) … of a list of any length; mostly a new one. */
const choice = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.nat({ max: 7 }) },
);
/** What nothing is due for is done all the same, but seldom. */
const anyway = fc.nat({ max: 9 }).map((drawn) => drawn === 9);
const pick = <T>(list: readonly T[], chosen: number): T | undefined =>
  list[list.length - 1 - (chosen % list.length)];
const named = <T>(rows: Record<string, T>, chosen: number): (T & { readonly name: string }) | undefined => {
  const entry = pick(Object.entries(rows), chosen);
  return entry && { ...entry[1], name: entry[0] };
};

/** Mostly one of those that `isLive` names, else any. */
const preferring = <T>(
  rows: Record<string, T>,
  isLive: (row: T) => boolean,
  any: boolean,
): Record<string, T> => {
  const live = Object.entries(rows).filter(([, row]) => isLive(row));
  return any || live.length === 0 ? rows : Object.fromEntries(live);
};
const any = fc.nat({ max: 2 }).map((drawn) => drawn === 2);
const isRunning = ({ state }: ModelAttempt) => state === "running";

const person = fc.constantFrom<Person>("admin", "admin", "owner", "owner", "stranger");
const assetMove = fc.constantFrom(
  "block" as const,
  "unblock" as const,
  "unblock" as const,
  "delete" as const,
);
const answers = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<FleetAnswer>("launched") },
    { weight: 1, arbitrary: fc.constantFrom<FleetAnswer>("lost", "lost-machine") },
    { weight: 2, arbitrary: fc.constantFrom(...fleetAnswers) },
  ),
  { maxLength: 3 },
);
const byWorker = fc.constantFrom("heartbeat", "publish", "hand-back", "write", "obey" as const);

const admit = choice.map<Plan>((which) => ({ rows }, newName) => {
  const asset = named(rows.assets, which);
  return asset ? { do: "admit", upload: newName("upload"), asset: asset.name } : null;
});

const dispatch = fc.record({ answers, anyway }).map<Plan>(({ anyway, ...given }) => ({ now, rows }) => {
  const isDue = rows.messages.some(({ availableAt }) => availableAt <= now);
  return isDue || anyway ? { do: "dispatch", ...given } : null;
});

/** A worker claims for the launch that started it, also late, without a machine's name, of an older generation, or once more. */
const claim = fc
  .record({ which: choice, knowsMachine: fc.boolean(), again: fc.nat({ max: 5 }), off: fc.nat({ max: 7 }) })
  .map<Plan>(({ which, knowsMachine, again, off }) => ({ rows }, newName) => {
    const launch = named(rows.launches, which);
    if (!launch || launch.refused) return null;
    const { job } = launch;
    const generation = launch.generation - (off === 7 ? 1 : 0);
    const own = Object.keys(rows.attempts).filter((attempt) => attempt.startsWith(`${job}/`));
    const attempt = again === 5 && own.length > 0 ? own.at(-1)! : `${job}/${newName("worker")}`;
    return { do: "claim", job, generation, attempt, machine: knowsMachine ? launch.name : null };
  });

/** Any worker that ever claimed, also one that has lost its lease. It stops only once it was told to. */
const work = fc
  .record({ action: byWorker, which: choice, any })
  .map<Plan>(({ action, which, any }) => ({ rows }) => {
    const attempt = named(preferring(rows.attempts, isRunning, any), which);
    if (!attempt) return null;
    if (action === "obey" && !rows.jobs[attempt.job]!.cancelRequested) return null;
    return { do: action, attempt: attempt.name };
  });

const fail = fc
  .record({ which: choice, retryable: fc.boolean() })
  .map<Plan>(({ which, retryable }) => (m) => {
    const attempt = named(m.rows.attempts, which);
    return attempt ? { do: "fail", attempt: attempt.name, retryable } : null;
  });

const recover = anyway.map<Plan>((anyway) => ({ now, rows }) => {
  const isLate = Object.values(rows.jobs).some(
    ({ leaseUntil, launchedAt }) =>
      (leaseUntil ?? now + 1) <= now || (launchedAt ?? now) <= now - launchSeconds * 1000,
  );
  return isLate || anyway ? { do: "recover" } : null;
});

const hasOpen = ({ rows }: Model) => Object.values(rows.launches).some(({ goneAt }) => goneAt === null);
const reap = fc.constant<Plan>((m) => (hasOpen(m) ? { do: "reap", betweenLaunches: false } : null));
/** Not beside a dispatcher: its caller promises that nothing is launched meanwhile. */
const reapBetween = fc.constant<Plan>((m) => (hasOpen(m) ? { do: "reap", betweenLaunches: true } : null));

const clean = anyway.map<Plan>((anyway) => ({ now, rows }) => {
  const isDue = rows.deletions.some(({ dueAt, confirmedAt }) => confirmedAt === null && dueAt <= now);
  return isDue || anyway ? { do: "clean" } : null;
});

const machines = fc
  .record({ which: choice, comes: fc.boolean() })
  .map<Plan>(({ which, comes }) => ({ rows, late }) => {
    const launch = pick(comes ? late : rows.machines, which);
    return launch ? { do: comes ? "machine-comes" : "machine-dies", launch } : null;
  });

const cancel = fc.record({ which: choice, by: person, any }).map<Plan>(({ which, by, any }) => ({ rows }) => {
  const job = named(
    preferring(rows.jobs, ({ state }) => state === "job-received", any),
    which,
  );
  return job ? { do: "cancel", job: job.name, by } : null;
});

/** Often of a video that has several files, of which only the newest may be on its way. */
const retry = fc
  .record({
    which: choice,
    by: fc.oneof({ weight: 2, arbitrary: fc.constant<Person>("admin") }, person),
    off: fc.constantFrom(0, 0, 0, 0, -1, 1),
    amongFiles: fc.boolean(),
    any,
  })
  .map<Plan>(({ which, by, off, amongFiles, any }) => ({ rows }) => {
    const hasEnded = ({ state }: ModelJob) => state === "failed" || state === "cancelled";
    const isOneOfSeveral = ({ asset, revision }: ModelJob) =>
      Object.values(rows.jobs).some((other) => other.asset === asset && other.revision !== revision);
    const among = preferring(rows.jobs, (job) => hasEnded(job) && (!amongFiles || isOneOfSeveral(job)), any);
    const job = named(among, which);
    return job ? { do: "retry", job: job.name, generation: job.generation + off, by } : null;
  });

const moveAsset = fc
  .record({ which: choice, move: assetMove, by: person })
  .map<Plan>(({ which, move, by }) => ({ rows }) => {
    const asset = named(rows.assets, which);
    return asset ? { do: move, asset: asset.name, by } : null;
  });

const together = fc.oneof(
  { weight: 3, arbitrary: admit },
  { weight: 5, arbitrary: dispatch },
  { weight: 6, arbitrary: claim },
  { weight: 7, arbitrary: work },
  { weight: 3, arbitrary: fail },
  { weight: 3, arbitrary: recover },
  { weight: 3, arbitrary: reap },
  { weight: 2, arbitrary: machines },
  { weight: 2, arbitrary: cancel },
  { weight: 3, arbitrary: retry },
  { weight: 1, arbitrary: moveAsset },
);
const alone = fc.oneof(
  { weight: 1, arbitrary: reapBetween },
  { weight: 2, arbitrary: clean },
  { weight: 20, arbitrary: together },
);
/** The first of three that can be done, so that few turns pass unused. */
const possible = (plan: fc.Arbitrary<Plan>): fc.Arbitrary<Plan> =>
  fc.tuple(plan, plan, plan).map<Plan>((plans) => (m, newName) => {
    for (const each of plans) {
      const action = each(m, newName);
      if (action) return action;
    }
    return null;
  });

/** Until `off` milliseconds beside one of the next times at which something becomes due, or by whole seconds. */
const passing = fc.oneof(
  fc.record({ deadline: fc.nat({ max: 3 }), off: fc.constantFrom(-1, 0, 0, 1) }),
  fc.record({ seconds: fc.constantFrom(1, 16, 25, 61, 91, 601, 3601, 25 * 3600) }),
);
type Passing = typeof passing extends fc.Arbitrary<infer T> ? T : never;

const deadlines = ({ now, rows }: Model): number[] => {
  const times = [
    ...Object.values(rows.jobs).flatMap(({ leaseUntil, retryAt, launchedAt, launch }) => [
      leaseUntil,
      retryAt,
      launch && launchedAt !== null ? launchedAt + launchSeconds * 1000 : null,
    ]),
    ...rows.messages.flatMap(({ availableAt, lockedUntil }) => [availableAt, lockedUntil]),
    ...rows.deletions.map(({ dueAt, confirmedAt }) => (confirmedAt === null ? dueAt : null)),
    ...Object.values(rows.launches).map(({ unwantedSince }) =>
      unwantedSince === null ? null : unwantedSince + idleMachineSeconds * 1000,
    ),
  ];
  return [...new Set(times.filter((time) => time !== null && time > now + 1))].sort(
    (a, b) => a! - b!,
  ) as number[];
};

function after(m: Model, time: Passing): number {
  if ("seconds" in time) return m.now + time.seconds * 1000;
  const next = deadlines(m);
  const at = next[Math.min(time.deadline, next.length - 1)];
  return at === undefined ? m.now : at + time.off;
}

/** One turn; each has a millisecond of its own, so that what happened earlier also has the earlier time. */
export class Turn implements fc.AsyncCommand<Model, World> {
  readonly #time: Passing | null;
  readonly #plans: readonly Plan[];
  #told = "";

  constructor({ time = null, plans = [] }: { time?: Passing | null; plans?: readonly Plan[] }) {
    this.#time = time;
    this.#plans = plans;
  }

  check = (m: Readonly<Model>): boolean => this.#time !== null || this.#actions(m).length > 0;

  async run(m: Model, world: World): Promise<void> {
    if (this.#time) {
      m.now = after(m, this.#time);
      this.#told = `the time is ${m.now / 1000} s`;
      return world.setClock(m.now);
    }
    const actions = this.#actions(m);
    m.namesGiven += actions.length;
    this.#told = actions.map((action) => JSON.stringify(action)).join(" beside ");
    await takeTurn(m, world, actions);
  }

  toString = (): string => this.#told || "(not taken)";

  #actions(m: Readonly<Model>): Action[] {
    let given = m.namesGiven;
    const newName: NewNames = (kind) => `${kind}${String(++given).padStart(3, "0")}`;
    return this.#plans.map((plan) => plan(m, newName)).filter((action) => action !== null);
  }
}

/** Turns of one action each. */
export const oneByOne = fc.oneof(
  { weight: 1, arbitrary: passing.map((time) => new Turn({ time })) },
  { weight: 3, arbitrary: possible(alone).map((plan) => new Turn({ plans: [plan] })) },
);

/** Turns of up to three actions at once. */
export const atOnce = fc.oneof(
  { weight: 1, arbitrary: passing.map((time) => new Turn({ time })) },
  {
    weight: 3,
    arbitrary: fc
      .array(possible(together), { minLength: 1, maxLength: 3 })
      .map((plans) => new Turn({ plans })),
  },
);
