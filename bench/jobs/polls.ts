import { readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { openDatabase } from "@reelkeep/db/client";
import { seedJob } from "@reelkeep/db/testing/seed";
import { listUsers } from "@reelkeep/db/users";
import { sql } from "drizzle-orm";
import { startTestStack, type TestStack } from "../../local/testing/stack.ts";
import { quantile, type Report } from "../report.ts";
import { inParallel } from "./callers.ts";

const pollers = 200;
const rounds = 12;
const pollsPerRound = 5 * pollers;
const countedPolls = 50;
const ratioMax = 2;

/** What a poll of a job's status costs, beside the least that a signed-in person can ask the site for. */
export async function benchPolls(report: Report): Promise<void> {
  report.say(
    `POLLS: ${pollers} pollers at once, each asking again once it was answered, signed in on the real local stack. A is
GET /api/session, an empty route for whoever is signed in: it reads the session and answers who that is; B is
GET /api/media/{actionKey} of a job that waits in line, whole, without an ETag. ${rounds} rounds of
${pollsPerRound} requests of each, in turns; the first is left out.`,
  );
  const stack = await startTestStack({ env: { WORKERS_MAX: "1" } });
  try {
    await measure(report, stack);
  } finally {
    await stack.stop();
  }
}

async function measure(report: Report, stack: TestStack): Promise<void> {
  const cookie = await signUp(stack);
  const { db, close } = openDatabase(stack.databaseUrl, { applicationName: "reelkeep-bench" });
  const agent = new http.Agent({ keepAlive: true, maxSockets: pollers });
  try {
    const [owner] = await listUsers(db);
    // Nothing asks for its launch, so it waits for as long as it is looked at.
    const { job } = await seedJob(db, "file-processing-ready", { userId: owner!.user.id });
    const get = async (route: string, etag?: string) => {
      const headers = { cookie, ...(etag ? { "if-none-match": etag } : {}) };
      const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
        http.get(`${stack.url}${route}`, { agent, headers }, resolve).once("error", reject);
      });
      await text(answer);
      if (answer.statusCode !== (etag ? 304 : 200)) throw new Error(`${route} answered ${answer.statusCode}`);
      return answer;
    };
    const status = `/api/media/${job.actionKey}`;
    const routes = [
      { name: "A GET /api/session", ask: () => get("/api/session") },
      { name: "B GET /api/media/{actionKey}", ask: () => get(status) },
    ];
    const { etag } = (await get(status)).headers;
    const unchanged = { name: "B with its ETag (304)", ask: () => get(status, etag) };

    const times = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++)
      for (const { name, ask } of [...routes, unchanged]) {
        const figures: number[] = [];
        await inParallel(pollers, pollsPerRound, async () => {
          const started = performance.now();
          await ask();
          figures.push(performance.now() - started);
        });
        if (round > 0) times.set(name, [...(times.get(name) ?? []), ...figures]);
      }

    const base = times.get(routes[0]!.name)!;
    const rows: string[][] = [];
    for (const { name, ask } of [...routes, unchanged]) {
      const figures = times.get(name)!;
      const [p50, p99] = [0.5, 0.99].map((fraction) => {
        const ratio = quantile(figures, fraction) / quantile(base, fraction);
        report.bound(ratio <= ratioMax, `${name} takes ${ratio.toFixed(2)} of A at p${fraction * 100}`);
        return { ms: quantile(figures, fraction).toFixed(0), ratio: ratio.toFixed(2) };
      });
      const queries = await countQueries(stack, db, ask);
      rows.push([name, queries.toFixed(1), p50!.ms, p50!.ratio, p99!.ms, p99!.ratio]);
    }
    report.table(["", "SQL queries", "p50 ms", "of A", "p99 ms", "of A"], rows);
  } finally {
    agent.destroy();
    await close();
  }
}

/** Makes the owner's account as the first page does; answers the cookies of its browser. */
async function signUp({ url, ownerCode }: TestStack): Promise<string> {
  const person = { name: "Olive Owner", email: "olive@example.test", password: "correct horse battery" };
  const answer = await fetch(`${url}/api/welcome`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: ownerCode, ...person }),
  });
  if (!answer.ok) throw new Error(`signing up was answered with ${answer.status}`);
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
}

/** SQL statements that the site sends for one request, as the database's own log tells them. */
async function countQueries(
  { dataDir }: TestStack,
  db: ReturnType<typeof openDatabase>["db"],
  ask: () => Promise<unknown>,
): Promise<number> {
  const logFile = path.join(dataDir, "postgres", "postgres.log");
  const set = async (...settings: string[]) => {
    for (const setting of settings) await db.execute(sql.raw(`alter system ${setting}`));
    await db.execute(sql`select pg_reload_conf()`);
    // A session reads new settings before its next statement, this one's here and the site's there.
    await ask();
  };
  await set("set log_statement = 'all'", "set log_line_prefix = '%a '");
  const before = readFileSync(logFile).length;
  for (let n = 0; n < countedPolls; n++) await ask();
  const told = readFileSync(logFile).subarray(before).toString("utf8");
  await set("reset log_statement", "reset log_line_prefix");
  return told.match(/^reelkeep-web LOG: {2}(execute|statement)/gm)!.length / countedPolls;
}
