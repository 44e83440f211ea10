import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

/** What a running server writes about itself. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly status: "starting" | "ready" | "stopping";
}

/**
 * Reads `postmaster.pid`: line 1 is the process, line 4 the port, line 8 the state.
 * Null while there is none or it is being written. Source: src/include/utils/pidfile.h of PostgreSQL.
 */
export function readPostmaster(clusterFolder: string): Postmaster | null {
  let lines: string[];
  try {
    lines = readFileSync(path.join(clusterFolder, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return null;
  }
  const [pid, , , port] = lines.map(Number);
  if (!pid) return null;
  const word = lines[7]?.trim();
  const status = word === "ready" || word === "stopping" ? word : "starting";
  return { pid, port: port || 0, status };
}

/** Whether this process number belongs to a running PostgreSQL: numbers are given again after a crash or a boot. */
export function isAlive(pid: number): boolean {
  if (process.platform === "linux") {
    try {
      // "pid (name) state …"; a zombie has ended and only waits for its parent.
      const [, name, state] = /^\d+ \((.*)\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return name === "postgres" && state !== "Z";
    } catch {
      return false;
    }
  }
  const { stdout } = spawnSync("ps", ["-o", "comm=", "-p", String(pid)], { encoding: "utf8" });
  return path.basename(stdout.trim()) === "postgres";
}
