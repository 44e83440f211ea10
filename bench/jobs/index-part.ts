import { settingsWithoutDurability } from "../../local/postgres/server.ts";
import { median, type Report } from "../report.ts";
import { fillHistory, finishedJob, longTables } from "./history.ts";
import { formLine, type Line, type LoopQuery, loopQueries } from "./loop-queries.ts";
import { openSession, type Session } from "./plans.ts";
import { startBenchServer } from "./server.ts";

const shortHistory = 10_000;
const longHistory = 1_000_000;
const ratioMax = 1.5;

/** So that a million jobs are there in a minute or two; what is measured touches a few pages. */
const fastFill = { ...settingsWithoutDurability, shared_buffers: "512MB", max_wal_size: "8GB" };

const rounds = 9;
const callsPerBatch = 200;
/** A query that doesn't scale shows that soon enough. */
const batchMsMax = 2000;

/** A session on a database with a history of one length. */
interface Subject {
  readonly session: Session;
  readonly line: Line;
}

/** The queries of the control loop and the status poll cost the same, however many jobs have ended. */
export async function benchIndex(report: Report): Promise<void> {
  report.say(
    `INDEX: the same short line with ${shortHistory} and ${longHistory} finished jobs behind it, two databases of one
PostgreSQL. Each figure is the median of ${rounds} batches of ${callsPerBatch} calls, taken in turns on both; a call
is the product's own function from question to answer on one connection, and what it wrote is undone outside the
measured time. Pages are what EXPLAIN (ANALYZE, BUFFERS) of its statements touches.`,
  );
  const server = await startBenchServer(fastFill);
  const open: Session[] = [];
  try {
    const prepare = async (count: number): Promise<Subject> => {
      const session = await openSession(await server.database(`history_${count}`));
      open.push(session);
      const started = performance.now();
      await fillHistory(session.client, count);
      const { rows } = await session.client.query<{ key: string }>(finishedJob);
      const line = await formLine(session.db, rows[0]!.key);
      await session.client.query("vacuum analyze");
      console.error(`filled ${count} jobs in ${((performance.now() - started) / 1000).toFixed(0)} s`);
      return { session, line };
    };
    const short = await prepare(shortHistory);
    const long = await prepare(longHistory);
    const rows: string[][] = [];
    for (const query of loopQueries) rows.push(await compare(report, query, short, long));
    report.table(["query", "10 k", "1 M", "ratio", "pages", "pages at 1 M", "index"], rows);
  } finally {
    for (const session of open) await session.close();
    await server.stop();
  }
}

/** Measures one query on both, checks its bounds, and answers its row of the table. */
async function compare(report: Report, query: LoopQuery, short: Subject, long: Subject): Promise<string[]> {
  const explain = ({ session, line }: Subject) => session.explain((tx) => query.run(tx, line));
  const plan = await explain(long);
  const { pages } = await explain(short);
  const scanned = longTables.filter((table) => plan.scannedTables.has(table));
  report.bound(scanned.length === 0, `${query.name} reads all of ${scanned.join(", ")}`);
  const used = query.indexes.find((index) => plan.indexes.has(index));
  report.bound(
    used !== undefined,
    `${query.name} uses ${[...plan.indexes].join(", ") || "no index"}, not ${query.indexes.join(" or ")}`,
  );

  const shortMs: number[] = [];
  const longMs: number[] = [];
  await batch(query, short);
  await batch(query, long);
  for (let round = 0; round < rounds; round++) {
    shortMs.push(await batch(query, short));
    longMs.push(await batch(query, long));
  }
  const ratio = median(longMs) / median(shortMs);
  report.bound(ratio <= ratioMax, `${query.name} takes ${ratio.toFixed(2)} times as long at 1 M`);
  const ms = (figure: number) => `${figure.toFixed(3)} ms`;
  return [
    query.name,
    ms(median(shortMs)),
    ms(median(longMs)),
    ratio.toFixed(2),
    String(pages),
    String(plan.pages),
    used ?? "-",
  ];
}

/** Milliseconds a call, on average over one batch. */
async function batch(query: LoopQuery, { session, line }: Subject): Promise<number> {
  let spentMs = 0;
  let calls = 0;
  while (calls < callsPerBatch && spentMs < batchMsMax) {
    spentMs += await session.undone(async (tx) => {
      const started = performance.now();
      await query.run(tx, line);
      return performance.now() - started;
    });
    calls++;
  }
  return spentMs / calls;
}
