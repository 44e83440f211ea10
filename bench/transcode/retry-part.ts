/** What a retry saves of a long film whose worker was killed (M7). */
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { checkpointName } from "@reelkeep/core/object-keys";
import { recoverJobs } from "@reelkeep/services/recover-jobs";
import type { Bench } from "./bench.ts";
import { makeFilm } from "./source.ts";
import { admitFilm, byWorker } from "./worker-way.ts";

const minutes = 40;
/** Two of four windows are done, so about half is left, with what starting costs. */
const shareMax = 0.65;
const env = { LEASE_SECONDS: "4", RETRY_BACKOFF_SECONDS: "0" };

export async function benchRetry({ stack, report, profileName }: Bench): Promise<void> {
  const film = makeFilm(stack.dataDir, { seconds: minutes * 60, size: "320x180" });
  const { cost: whole } = await byWorker(stack, profileName, film);
  await using admitted = await admitFilm(stack, profileName, film);
  const killed = await admitted.work({
    env,
    enough: async () => {
      const prefix = await admitted.prefix();
      return prefix !== null && (await admitted.store.head(prefix + checkpointName("window-002"))) !== null;
    },
  });
  const jobPolicy = { ...defaultJobPolicy, retryBackoffSeconds: 0 };
  const needs = { db: stack.db, jobPolicy, fleet: stack.fleet };
  while ((await recoverJobs(needs)).expiredLeases === 0)
    await new Promise((resolve) => setTimeout(resolve, 200));
  const retry = await admitted.work({ env });
  if (!retry.log.includes("went on from an earlier attempt")) throw new Error("The retry kept nothing.");
  const share = retry.cpuSeconds / whole.cpuSeconds;
  report.say(
    `RETRY: a film of ${minutes} minutes, 320x180, whose worker is killed once two of its four windows are whole.`,
  );
  report.table(
    ["", "CPU s", "wall s"],
    (
      [
        ["without a kill", whole],
        ["killed", killed],
        ["the retry", retry],
      ] as const
    ).map(([name, cost]) => [name, cost.cpuSeconds.toFixed(1), cost.wallSeconds.toFixed(1)]),
  );
  report.say(`The retry costs ${(share * 100).toFixed(0)} % of the whole.`);
  report.bound(share <= shareMax, `a retry after half of the film costs ${(share * 100).toFixed(0)} % of it`);
}
