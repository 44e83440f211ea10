import { type ChildProcess, spawn } from "node:child_process";

/**
 * A run that is killed can't tear down; this shell does when the pipe from here closes: it ends the PostgreSQL on
 * `dataDir` and removes `folder`. Kill it after an orderly end.
 */
export const endWithThisProcess = (folder: string): ChildProcess =>
  spawn(
    "/bin/sh",
    [
      "-c",
      'cat; find "$1" -name postmaster.pid | while read -r file; do kill -INT "$(head -n 1 "$file")"; done; sleep 1; rm -rf "$1"',
      "sh",
      folder,
    ],
    { detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
