import type { ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { LaunchOutcome, Machine, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { workerEnvironment, workerNodeFlags } from "@reelkeep/worker/process-settings";
import { endChild, killGroup, startChild, whenGone } from "./child.ts";
import { makePrivateFolder } from "./private-folder.ts";

/** How long a worker may take to hand its lease back. */
const graceSeconds = 15;
const logsMax = 100;

export interface LocalFleetOptions {
  readonly script: string;
  /** Scratch of workers and their logs go below it. */
  readonly dataDir: string;
  /** What every worker gets: database, storage, limits. */
  readonly env: Readonly<Record<string, string>>;
  /** What an hour of a worker is taken to cost, for the budget; 0 where it isn't told. */
  readonly usdPerHour?: number;
  /** Told when a worker is gone: there is room for another. */
  readonly onGone?: (machineId: string) => void;
  /** Awaited before each launch; development brings the bundle up to date. */
  readonly beforeLaunch?: () => Promise<void>;
}

/** Workers as processes of this machine, one for each job. */
export interface LocalFleet extends WorkerFleet {
  /** Ends all workers, which hand their leases back, and launches none any more. */
  stopAll(): Promise<void>;
}

/**
 * Launches a worker process for each provisioning token. A worker also ends when this process dies, since its
 * channel closes; what a killed worker left running or lying about is removed here at the next start.
 */
export function createLocalFleet(options: LocalFleetOptions): LocalFleet {
  const scratch = path.join(options.dataDir, "scratch");
  const logs = path.join(options.dataDir, "logs", "workers");
  for (const folder of [scratch, path.dirname(logs), logs]) makePrivateFolder(folder);
  for (const left of readdirSync(scratch)) clear(path.join(scratch, left));

  const running = new Map<string, { child: ChildProcess; machine: Machine }>();
  const ending = new Map<string, Promise<void>>();
  /** Tokens of this process's life: a second launch with one is the first. */
  const launched = new Set<string>();
  let closing = false;

  const launch: WorkerFleet["launch"] = async ({ actionKey, generation, provisioningToken }) => {
    const machineId = `local-${provisioningToken}`;
    const machine: Machine = {
      machineId,
      provisioningToken,
      machineType: "local-process",
      usdPerHour: options.usdPerHour ?? 0,
    };
    const outcome: LaunchOutcome = { outcome: "launched", machine };
    if (launched.has(machineId)) return outcome;
    launched.add(machineId);
    try {
      await options.beforeLaunch?.();
      if (closing) {
        launched.delete(machineId);
        return { outcome: "refused", reason: "throttled", message: "This machine stops its workers." };
      }
      removeOldLogs(logs);
      const folder = path.join(scratch, machineId);
      mkdirSync(folder, { recursive: true });
      const child = startChild({
        script: options.script,
        nodeFlags: workerNodeFlags,
        logFile: path.join(logs, `${new Date().toISOString().replaceAll(":", "-")}-${actionKey}.log`),
        env: {
          ...workerEnvironment,
          ...options.env,
          ACTION_KEY: actionKey,
          GENERATION: String(generation),
          MACHINE_ID: machineId,
          SCRATCH_DIR: folder,
        },
      });
      running.set(machineId, { child, machine });
      void whenGone(child).then(() => {
        killGroup(child);
        clear(folder);
        running.delete(machineId);
        ending.delete(machineId);
        options.onGone?.(machineId);
      });
      return outcome;
    } catch (error) {
      launched.delete(machineId);
      const message = error instanceof Error ? error.message : String(error);
      return { outcome: "refused", reason: "invalid", message };
    }
  };

  /** Once for each; a worker that is frozen takes the whole grace. */
  const end = (machineId: string): Promise<void> => {
    const worker = running.get(machineId);
    const ended =
      ending.get(machineId) ?? (worker ? endChild(worker.child, graceSeconds) : Promise.resolve());
    if (worker) ending.set(machineId, ended);
    return ended;
  };

  return {
    listingLagSeconds: 0,
    launch,
    // Nobody waits for it: the machine is alive until its process is gone.
    terminate: async (machineId) => void end(machineId),
    alive: async () => [...running.values()].map(({ machine }) => machine),
    stopAll: async () => {
      closing = true;
      await Promise.all([...running.keys()].map(end));
    },
  };
}

/**
 * Removes a worker's scratch, and ends FFmpeg that still works there: it may outlive a worker that was killed. What
 * can't be removed now is removed at the next start.
 */
function clear(folder: string): void {
  if (process.platform === "linux")
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      if (isEncoderOf(folder, pid)) tolerate(() => process.kill(Number(pid), "SIGKILL"));
  // Retries, because a killed program may still write for a moment.
  tolerate(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}

/** For clearing up, where failing must not end the stack: the program is gone already, a file is another account's. */
function tolerate(work: () => unknown): void {
  try {
    work();
  } catch {}
}

/** What a worker starts in its scratch, by its own name or by that of the cage around it. */
const encoders = ["ffmpeg", "ffprobe", "bwrap", "unshare", "setpriv", "prlimit", "nice"];

function isEncoderOf(folder: string, pid: string): boolean {
  const [program = "", ...words] = commandLineOf(pid);
  const names = [...encoders, process.env.FFMPEG_PATH, process.env.FFPROBE_PATH].map((name) =>
    path.basename(name ?? ""),
  );
  return names.includes(path.basename(program)) && words.some((word) => word.includes(folder));
}

function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function removeOldLogs(folder: string): void {
  // Their names begin with the time.
  for (const name of readdirSync(folder).sort().slice(0, -logsMax)) rmSync(path.join(folder, name));
}
