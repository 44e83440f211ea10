import type { ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { LaunchOutcome, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { workerEnvironment, workerNodeFlags } from "@reelkeep/worker/process-settings";
import { endChild, killGroup, startChild, whenGone } from "./child.ts";

/** How long a worker may take to hand its lease back. */
const graceSeconds = 15;
const logsMax = 100;

export interface LocalFleetOptions {
  readonly script: string;
  /** Scratch of workers and their logs go below it. */
  readonly dataDir: string;
  /** What every worker gets: database, storage, limits. */
  readonly env: Readonly<Record<string, string>>;
  /** Told when a worker is gone: there is room for another. */
  readonly onGone?: (machineId: string) => void;
  /** Awaited before each launch; development brings the bundle up to date. */
  readonly beforeLaunch?: () => Promise<void>;
}

/** Workers as processes of this machine, one for each job. */
export interface LocalFleet extends WorkerFleet {
  /** Ends all workers; they hand their leases back. */
  stopAll(): Promise<void>;
}

/**
 * Launches a worker process for each provisioning token. A worker also ends when this process dies, since its
 * channel closes; what a killed worker left running or lying about is removed here at the next start.
 */
export function createLocalFleet(options: LocalFleetOptions): LocalFleet {
  const scratch = path.join(options.dataDir, "scratch");
  const logs = path.join(options.dataDir, "logs", "workers");
  mkdirSync(logs, { recursive: true });
  mkdirSync(scratch, { recursive: true });
  for (const left of readdirSync(scratch)) clear(path.join(scratch, left));

  const running = new Map<string, ChildProcess>();
  /** Tokens of this process's life: a second launch with one is the first. */
  const launched = new Set<string>();

  const launch: WorkerFleet["launch"] = async ({ actionKey, generation, provisioningToken }) => {
    const machineId = `local-${provisioningToken}`;
    const outcome: LaunchOutcome = { outcome: "launched", machineId };
    if (launched.has(machineId)) return outcome;
    launched.add(machineId);
    try {
      await options.beforeLaunch?.();
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
      running.set(machineId, child);
      void whenGone(child).then(() => {
        killGroup(child);
        clear(folder);
        running.delete(machineId);
        options.onGone?.(machineId);
      });
      return outcome;
    } catch (error) {
      launched.delete(machineId);
      const message = error instanceof Error ? error.message : String(error);
      return { outcome: "refused", reason: "invalid", message };
    }
  };

  const terminate = async (machineId: string) => {
    const child = running.get(machineId);
    if (child) await endChild(child, graceSeconds);
  };

  return {
    launch,
    terminate,
    alive: async () => [...running.keys()],
    stopAll: async () => {
      await Promise.all([...running.keys()].map(terminate));
    },
  };
}

/** Removes a worker's scratch, and ends programs that still work there: FFmpeg outlives a worker that was killed. */
function clear(folder: string): void {
  if (process.platform === "linux")
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      if (commandLineOf(pid).includes(folder)) process.kill(Number(pid), "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function removeOldLogs(folder: string): void {
  // Their names begin with the time.
  for (const name of readdirSync(folder).sort().slice(0, -logsMax)) rmSync(path.join(folder, name));
}
