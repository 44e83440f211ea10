/**
 * The account that PostgreSQL runs as. It refuses to run as root, so root hands it to the account without rights;
 * that account can't enter a home of mode 0700, and so the places that it needs are tried as that account.
 */
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";

/** What to spawn with: another user and group, or nothing where one's own account will do. */
export type ServerAccount = { readonly uid: number; readonly gid: number } | undefined;

/** "nobody" on Linux, without needing an entry in the password file. */
const nobody = 65534;

/** @throws Error on macOS as root, where there is no account that fits. */
export function serverAccount(): ServerAccount {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== "linux")
    throw new Error("PostgreSQL doesn't run as root: start Reelkeep as yourself.");
  return { uid: nobody, gid: nobody };
}

/** Whether the account can enter the folder or run the program. Tried, not computed: access lists and mounts count. */
export function canReach(account: ServerAccount, target: string): boolean {
  if (!account) return true;
  const probe = spawnSync("/bin/sh", ["-c", '[ -x "$1" ]', "sh", target], {
    ...account,
    cwd: "/",
    stdio: "ignore",
  });
  return probe.status === 0;
}

/** Makes a folder that the account owns and nobody else enters, as PostgreSQL demands of its data. */
export function makeOwnFolder(account: ServerAccount, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
}
