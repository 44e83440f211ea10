import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { canReach, makeOwnFolder, type ServerAccount } from "./account.ts";
import { type PostgresBinaries, sharedFolder } from "./binaries.ts";

/** The name of the only role. */
export const databaseUser = "reelkeep";

/** A database cluster on disk. */
export interface Cluster {
  /** PostgreSQL's own data directory. */
  readonly folder: string;
  readonly password: string;
}

/**
 * The cluster that belongs to `dataDir`, made there at the first call. `dataDir` also keeps the password (mode 0600)
 * and, where the server's account can't reach `dataDir`, a file `location` that names the folder below
 * {@link sharedFolder} which holds the cluster instead.
 *
 * @throws Error with initdb's own words when it fails.
 */
export async function prepareCluster(
  dataDir: string,
  { binaries, account, durable }: { binaries: PostgresBinaries; account: ServerAccount; durable: boolean },
): Promise<Cluster> {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const password = keptText(path.join(dataDir, "password"), () => randomBytes(24).toString("base64url"));
  const home = clusterHome(dataDir, account);
  makeOwnFolder(account, home);
  const folder = path.join(home, "cluster");
  if (existsSync(folder)) return { folder, password };

  // A start that was killed within initdb leaves a half-made cluster, so it gets its name only when it is complete.
  const half = path.join(home, "cluster.new");
  const passwordFile = path.join(home, "password.new");
  rmSync(half, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  try {
    await runInitdb(binaries.initdb, account, [
      `--pgdata=${half}`,
      `--username=${databaseUser}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      ...(durable ? [] : ["--no-sync"]),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(half, folder);
  return { folder, password };
}

function clusterHome(dataDir: string, account: ServerAccount): string {
  const location = path.join(dataDir, "location");
  if (existsSync(location)) return readFileSync(location, "utf8");
  if (canReach(account, dataDir)) return path.join(dataDir, "server");
  mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
  return keptText(location, () => path.join(sharedFolder, `data-${randomUUID()}`));
}

/** A small file's text; made and written at the first call. */
function keptText(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const half = `${file}.${process.pid}`;
    writeFileSync(half, make(), { mode: 0o600, flush: true });
    renameSync(half, file);
  }
  return readFileSync(file, "utf8");
}

async function runInitdb(initdb: string, account: ServerAccount, args: string[]): Promise<void> {
  const child = spawn(initdb, args, { ...account, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, output, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`PostgreSQL's data could not be set up: ${errors.trim() || output.trim()}`);
}
