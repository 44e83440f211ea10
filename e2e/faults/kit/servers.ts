import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "@reelkeep/local/postgres/server";
import { waitUntilGone } from "./processes.ts";

/** The database's server: the same port and data each time. */
export interface PostgresServerControl {
  /** Orderly: sessions end, a checkpoint is written. */
  stop(): Promise<void>;
  /** SIGKILL of the server and its sessions. */
  kill(): Promise<void>;
  /** Does nothing where it runs. */
  start(): Promise<void>;
}

export function postgresServerControl(first: PostgresServer, dataDir: string): PostgresServerControl {
  let server = first;
  return {
    stop: () => server.stop(),
    async kill() {
      process.kill(server.pid, "SIGKILL");
      await server.ended;
    },
    async start() {
      server = await startPostgres({ dataDir: path.join(dataDir, "postgres"), port: server.port });
    },
  };
}

/** The storage's process, which its parent starts again when it ends. */
export interface StorageServerControl {
  pid(): number;
  /** SIGKILL; answers when the next process serves on the same port. */
  killAndAwaitRestart(): Promise<void>;
  /** SIGSTOP: connections open and nobody answers. */
  freeze(): void;
  thaw(): void;
}

export function storageServerControl(port: number): StorageServerControl {
  const pid = () => {
    const found = readdirSync("/proc").find((name) => /^\d+$/.test(name) && isStorageAt(port, name));
    if (!found) throw new Error("The storage doesn't run.");
    return Number(found);
  };
  return {
    pid,
    async killAndAwaitRestart() {
      const old = pid();
      process.kill(old, "SIGKILL");
      await waitUntilGone(old);
      for (let tries = 0; tries < 600; tries++) {
        // Any answer will do.
        if (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) return;
        await wait(50);
      }
      throw new Error("The storage doesn't come back.");
    },
    freeze: () => process.kill(pid(), "SIGSTOP"),
    thaw: () => process.kill(pid(), "SIGCONT"),
  };
}

function isStorageAt(port: number, pid: string): boolean {
  try {
    return (
      /dist\/s3\.js/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8")) &&
      readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`REELKEEP_S3_PORT=${port}`)
    );
  } catch {
    return false;
  }
}
