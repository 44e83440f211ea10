import { TransactionRollbackError } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";

/** A statement as the product sent it. */
interface Statement {
  readonly text: string;
  readonly parameters: unknown[];
}

/** One node of EXPLAIN's answer; only what is looked at. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** What the plans of a call's statements do together. */
export interface CallPlan {
  readonly indexes: ReadonlySet<string>;
  readonly scannedTables: ReadonlySet<string>;
  /** Pages of 8 KiB that were touched, in memory or not. */
  readonly pages: number;
}

/** One session, which can tell how the database answers what is asked on it. */
export interface Session {
  readonly client: pg.Client;
  readonly db: NodePgDatabase;
  /** Runs `work` and takes back what it wrote. */
  undone<T>(work: (tx: SessionTransaction) => Promise<T>): Promise<T>;
  /** The plans of all statements that `work` sends, as they run. */
  explain(work: (tx: SessionTransaction) => Promise<unknown>): Promise<CallPlan>;
  close(): Promise<void>;
}

export type SessionTransaction = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0];

export async function openSession(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let statements: Statement[] | null = null;
  const logQuery = (text: string, parameters: unknown[]) => void statements?.push({ text, parameters });
  const db = drizzle(client, { logger: { logQuery } });

  async function undone<T>(work: (tx: SessionTransaction) => Promise<T>): Promise<T> {
    let result: T | undefined;
    try {
      await db.transaction(async (tx) => {
        result = await work(tx);
        tx.rollback();
      });
    } catch (error) {
      if (!(error instanceof TransactionRollbackError)) throw error;
    }
    return result as T;
  }

  return {
    client,
    db,
    undone,
    async explain(work) {
      statements = [];
      const told = await undone(async (tx) => {
        await work(tx);
        return statements ?? [];
      });
      statements = null;
      const plans = await undone(async () => {
        const roots: PlanNode[] = [];
        for (const { text, parameters } of told)
          if (/^(select|update|insert|delete|with)\b/i.test(text.trim()))
            roots.push(await explainOne(client, { text, parameters }));
        return roots;
      });
      const nodes = plans.flatMap((root) => [...walk(root)]);
      const names = (of: (node: PlanNode) => string | undefined) =>
        new Set(nodes.map(of).filter((name) => name !== undefined));
      return {
        indexes: names((node) => node["Index Name"]),
        scannedTables: names((node) =>
          node["Node Type"] === "Seq Scan" ? node["Relation Name"] : undefined,
        ),
        pages: plans.reduce((sum, root) => sum + root["Shared Hit Blocks"] + root["Shared Read Blocks"], 0),
      };
    },
    close: () => client.end(),
  };
}

async function explainOne(client: pg.Client, { text, parameters }: Statement): Promise<PlanNode> {
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    parameters,
  );
  return rows[0]!["QUERY PLAN"][0].Plan;
}

function* walk(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* walk(child);
}
