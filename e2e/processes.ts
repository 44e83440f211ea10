import { readdirSync, readFileSync } from "node:fs";

/** A process and all below it, by what the kernel says now. Linux only. */
export function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc"))
    if (/^\d+$/.test(name)) {
      const parent = field(Number(name), "status", "PPid");
      if (parent !== null) parents.set(Number(name), parent);
    }
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

/** Memory of a process in bytes, each shared page counted in parts, so that a sum over processes is true. */
export const memoryBytes = (pid: number): number => (field(pid, "smaps_rollup", "Pss") ?? 0) * 1024;

function field(pid: number, file: "status" | "smaps_rollup", name: string): number | null {
  try {
    const value = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(
      readFileSync(`/proc/${pid}/${file}`, "utf8"),
    )?.[1];
    return value === undefined ? null : Number(value);
  } catch {
    // It has ended meanwhile.
    return null;
  }
}
