import type { Actor } from "@reelkeep/core/access/policy";
import { travel } from "@reelkeep/db/testing/clock";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createActor, createTestContext, type TestContext } from "./testing/context.ts";
import { type Action, emptyModel, type Model, type Person } from "./testing/model/job-model.ts";
import { takeTurn } from "./testing/model/take-turn.ts";
import { atOnce, oneByOne, type Turn } from "./testing/model/turns.ts";
import { World } from "./testing/model/world.ts";

/** `MODEL_RUNS=5000 npx vitest run services/jobs-model` for long; `MODEL_SEED` repeats a run. */
const runs = Number(process.env.MODEL_RUNS ?? 60);
const seed = process.env.MODEL_SEED ? { seed: Number(process.env.MODEL_SEED) } : {};
const timeoutMs = 60_000 + runs * 2000;
/** One more than there may be machines. */
const assets = ["film-a", "film-b", "film-c"];

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let people: Record<Person, Actor>;
beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  people = {
    owner: await createActor(context),
    admin: await createActor(context, "admin"),
    stranger: await createActor(context),
  };
});
afterAll(async () => {
  await travel(context.db, 0);
  await context.close();
  await storage.stop();
  await database.drop();
});

async function follow(turns: fc.Arbitrary<Turn>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: beginning.length }),
      fc.commands([turns], { maxCommands: 40, size: "max" }),
      async (begun, taken) => {
        const world = await World.create(context, people, assets);
        const model = emptyModel(assets);
        for (const action of beginning.slice(0, begun)) await takeTurn(model, world, [action]);
        await fc.asyncModelRun(() => ({ model, real: world }), taken);
        await finish(model, world);
      },
    ),
    { numRuns, ...seed },
  );
}

/** What a run may find: nothing yet; two jobs on their way; a video of whose two files the older is tried again. */
const beginning: readonly Action[] = [
  ...["film-a", "film-b"].flatMap((asset, i): Action[] => {
    const job = `upload00${i + 1}`;
    const [attempt, machine] = [`${job}/first-worker`, `${job}/launch1`];
    return [
      { do: "admit", upload: job, asset },
      { do: "dispatch", answers: [] },
      { do: "claim", job, generation: 1, attempt, machine },
    ];
  }),
  { do: "admit", upload: "upload003", asset: "film-a" },
  { do: "cancel", job: "upload003", by: "owner" },
  { do: "retry", job: "upload001", generation: 1, by: "admin" },
];

/** From wherever the jobs are, sweeps, a fleet that has machines and willing workers bring each to its end. */
async function finish(m: Model, world: World): Promise<void> {
  const pass = async (seconds: number) => {
    m.now += seconds * 1000;
    await world.setClock(m.now);
  };
  const turn = (action: Action) => takeTurn(m, world, [action]);
  const reap: Action = { do: "reap", betweenLaunches: false };
  const isOpen = () =>
    Object.values(m.rows.jobs).some(
      ({ state }) => state === "file-processing-ready" || state === "job-received",
    );
  for (let round = 0; isOpen(); round++) {
    expect(round).toBeLessThan(12);
    await pass(601);
    await turn({ do: "recover" });
    await turn(reap);
    await pass(61);
    await turn(reap);
    await turn(reap);
    await turn({ do: "dispatch", answers: [] });
    for (const [job, { generation, launch, state }] of Object.entries(m.rows.jobs)) {
      if (state !== "file-processing-ready" || !launch) continue;
      const attempt = `${job}/last-worker${round}`;
      const [claimed] = await turn({ do: "claim", job, generation, attempt, machine: launch });
      expect(claimed).toBe("claimed");
      const [published] = await turn({ do: "publish", attempt });
      if (published !== "published") await turn({ do: "fail", attempt, retryable: false });
      await turn({ do: "machine-dies", launch });
    }
  }
}

it(
  "J1 J2 J3 J5 J6 J7 J8 J10 J11 P1 whatever workers, sweeps, admins, fleets and clocks do in whatever order, the jobs follow the model, and each reaches its end",
  {
    timeout: timeoutMs,
  },
  () => follow(oneByOne, runs),
);

it(
  "J1 J2 J6 J7 J8 J10 J11 P1 what workers, sweeps, dispatchers and admins do at once comes out as if they had taken turns",
  {
    timeout: timeoutMs,
  },
  () => follow(atOnce, Math.ceil(runs / 2)),
);
