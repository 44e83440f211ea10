/** The real services on a real database and storage, driven by the model's actions and read as the model's rows. */

import type { LaunchRequest, Machine, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import type { Actor } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { sourceKey } from "@reelkeep/core/object-keys";
import { unknownFacts } from "@reelkeep/core/upload/container-facts";
import { insertAsset } from "@reelkeep/db/assets";
import { stopClock } from "@reelkeep/db/testing/clock";
import { findBreaches } from "@reelkeep/db/testing/invariants";
import { readJobRows, removeVideos } from "@reelkeep/db/testing/job-rows";
import { findUpload, insertUpload } from "@reelkeep/db/uploads";
import { writeAdmission } from "../../admit-upload.ts";
import { cancelJob } from "../../cancel-job.ts";
import { claimJob } from "../../claim-job.ts";
import { cleanStorage } from "../../clean-storage.ts";
import { dispatchLaunches } from "../../dispatch-outbox.ts";
import { endCancelledAttempt, failAttempt, handBackAttempt } from "../../fail-attempt.ts";
import { heartbeat } from "../../heartbeat.ts";
import { publishVersion } from "../../publish-version.ts";
import { reapMachines } from "../../reap-machines.ts";
import { recoverJobs } from "../../recover-jobs.ts";
import { retryJob } from "../../retry-job.ts";
import { setAssetState } from "../../set-asset-state.ts";
import { type TestContext, verifiedOutput } from "../context.ts";
import { machineOf } from "../fleet.ts";
import {
  type Action,
  type Answer,
  type FleetAnswer,
  modelPolicy,
  type Person,
  type Rows,
} from "./job-model.ts";
import { Names } from "./names.ts";
import { inOrder, toModelRows } from "./read-rows.ts";

/** A day far from midnight, so that no budget or quota turns over by itself. */
const start = Date.UTC(2026, 5, 1, 12);
const progress = { stage: "encode" as const, fraction: 0.5, renditions: [], processByResolution: {} };

export class World {
  readonly #context: TestContext;
  readonly #people: Record<Person, Actor>;
  readonly #names = new Names();
  readonly #machines = new Map<string, Machine>();
  readonly #launchCounts = new Map<string, number>();
  readonly #prefixes = new Map<string, string>();

  private constructor(context: TestContext, people: Record<Person, Actor>) {
    this.#context = { ...context, jobPolicy: modelPolicy, newId: this.#names.newId };
    this.#people = people;
  }

  /** A database without videos but these, and a storage without output. */
  static async create(
    context: TestContext,
    people: Record<Person, Actor>,
    assets: readonly string[],
  ): Promise<World> {
    const world = new World(context, people);
    await removeVideos(context.db);
    await context.store.removePrefix("processed/");
    await world.setClock(0);
    await context.db.transaction(async (tx) => {
      for (const title of assets)
        await insertAsset(tx, {
          id: world.#names.idOf(title),
          ownerId: people.owner.userId,
          title,
          description: "",
        });
    });
    return world;
  }

  /** `now`: milliseconds since the model's start. */
  setClock = (now: number): Promise<void> => stopClock(this.#context.db, new Date(start + now));

  /** Asks the service that does this. A refusal is an answer; anything else that is thrown is a fault. */
  async perform(action: Action): Promise<Answer> {
    try {
      return await this.#ask(action);
    } catch (error) {
      if (error instanceof AppError && error.code !== "internal") return { refused: error.code };
      throw error;
    }
  }

  async #ask(action: Action): Promise<Answer> {
    const context = this.#context;
    const { idOf } = this.#names;
    switch (action.do) {
      case "admit":
        return this.#admit(action.upload, action.asset);
      case "dispatch":
        return this.#dispatch(action.answers);
      case "claim": {
        const { job, generation, attempt, machine } = action;
        const claim = {
          actionKey: idOf(job),
          generation,
          attemptId: idOf(attempt),
          workerId: idOf(attempt),
          machineId: machine && machineOf({ provisioningToken: idOf(machine) }).machineId,
        };
        const claimed = await claimJob(context, claim);
        if (claimed.outcome === "claimed") this.#prefixes.set(attempt, claimed.attempt.outputPrefix);
        return claimed.outcome;
      }
      case "heartbeat":
        return heartbeat(context, { ...this.#leaseOf(action), progress });
      case "fail": {
        const error = new AppError(action.retryable ? "encoder-failed" : "undecodable-video");
        const failure = { error, stage: "encode" as const, completedRenditions: [] };
        return failAttempt(context, this.#leaseOf(action), failure);
      }
      case "hand-back":
        return handBackAttempt(context, this.#leaseOf(action));
      case "obey":
        return endCancelledAttempt(context, this.#leaseOf(action));
      case "publish":
        return (await publishVersion(context, this.#leaseOf(action), verifiedOutput)).outcome;
      case "write":
        await context.store.putText(`${this.#prefixes.get(action.attempt)!}1.ts`, "a segment", {
          contentType: "video/mp2t",
        });
        return null;
      case "recover": {
        const { expiredLeases, relaunches, failures } = await recoverJobs({
          ...context,
          fleet: this.#fleet(),
        });
        for (const { error } of failures) throw error;
        return [expiredLeases, relaunches];
      }
      case "reap": {
        const { betweenLaunches } = action;
        const reaping = await reapMachines({ ...context, fleet: this.#fleet() }, { betweenLaunches });
        for (const { error } of reaping.failures) throw error;
        return [reaping.gone, reaping.relaunches, reaping.ended];
      }
      case "clean":
        return [await cleanStorage(context), await this.#listOutputs()];
      case "machine-dies":
        this.#machines.delete(this.#machineOf(action.launch).machineId);
        return null;
      case "machine-comes":
        this.#comes(action.launch);
        return null;
      case "cancel":
        await cancelJob(context, this.#people[action.by], idOf(action.job));
        return null;
      case "retry": {
        const { job, generation, by } = action;
        await retryJob(context, this.#people[by], { actionKey: idOf(job), generation });
        return null;
      }
      default:
        await setAssetState(context, this.#people[action.by], idOf(action.asset), action.do);
        return null;
    }
  }

  /** Admission from where the file has been looked at; the look starts a process and has tests of its own. */
  async #admit(name: string, asset: string): Promise<Answer> {
    const { db, store } = this.#context;
    const { userId } = this.#people.owner;
    const actionKey = this.#names.idOf(name);
    const key = sourceKey({ userId, actionKey, extension: "mp4" });
    const { etag, sizeBytes } = await store.putText(key, name, { contentType: "video/mp4" });
    const upload = await db.transaction((tx) =>
      insertUpload(tx, {
        actionKey,
        assetId: this.#names.idOf(asset),
        userId,
        key,
        filename: "film.mp4",
        contentType: "video/mp4",
        sizeBytes,
        checksumSha256: null,
        method: "put",
        partSizeBytes: null,
      }),
    );
    await writeAdmission(this.#context, upload!, etag, { ...unknownFacts, durationSeconds: 10 });
    return (await findUpload(db, actionKey))!.state;
  }

  #dispatch(answers: readonly FleetAnswer[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fleet = this.#fleet([...answers], () => resolve("died"));
      dispatchLaunches({ ...this.#context, fleet }).then(resolve, reject);
    });
  }

  #fleet(answers: FleetAnswer[] = [], die = () => {}): WorkerFleet {
    return {
      listingLagSeconds: 0,
      launch: async (request) => {
        const launch = this.#nameLaunch(request);
        const answer = answers.shift() ?? "launched";
        if (answer === "launched" || answer === "lost-machine") this.#comes(launch);
        switch (answer) {
          case "launched":
            return { outcome: "launched", machine: machineOf(request) };
          case "lost":
          case "lost-machine":
            throw new Error("no answer");
          case "dispatcher-dies":
            die();
            return new Promise(() => {});
          default:
            return { outcome: "refused", reason: answer, message: answer };
        }
      },
      alive: async () => [...this.#machines.values()],
      terminate: async (machineId) => void this.#machines.delete(machineId),
    };
  }

  #nameLaunch({ actionKey, provisioningToken }: LaunchRequest): string {
    const job = this.#names.nameOf(actionKey);
    const number = (this.#launchCounts.get(job) ?? 0) + 1;
    this.#launchCounts.set(job, number);
    const name = `${job}/launch${number}`;
    this.#names.bind(name, provisioningToken);
    return name;
  }

  #machineOf = (launch: string): Machine => machineOf({ provisioningToken: this.#names.idOf(launch) });

  #comes(launch: string): void {
    const machine = this.#machineOf(launch);
    this.#machines.set(machine.machineId, machine);
  }

  #leaseOf = ({ attempt }: { attempt: string }) => ({
    actionKey: this.#names.idOf(attempt.slice(0, attempt.indexOf("/"))),
    attemptId: this.#names.idOf(attempt),
  });

  /** Attempts whose output lies in storage. */
  async #listOutputs(): Promise<string[]> {
    const left = new Set<string>();
    for await (const { key } of this.#context.store.list("processed/"))
      for (const [attempt, prefix] of this.#prefixes) if (key.startsWith(prefix)) left.add(attempt);
    return [...left].sort();
  }

  async readRows(): Promise<Rows> {
    const launchOf = (machineId: string) => this.#names.nameOf(machineId.replace(/^machine-/, ""));
    const rows = await readJobRows(this.#context.db);
    return inOrder({
      ...toModelRows(rows, {
        start,
        names: this.#names,
        launchOf,
        people: new Map(Object.entries(this.#people).map(([name, { userId }]) => [userId, name])),
      }),
      machines: [...this.#machines.keys()].map(launchOf),
    });
  }

  findBreaches = () => findBreaches(this.#context.db);
}
