import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SetupError, say } from "./say.mjs";

/**
 * Installs the packages unless what is installed is what the lock file asks for, and answers the full path of the
 * Node among them. Two at once take turns.
 */
export async function installPackages(root) {
  const node = path.join(root, "node_modules", "node", "bin", "node");
  if (isInstalled(root) && existsSync(node)) return node;
  await withLock(path.join(root, ".data", "setup.lock"), () => {
    if (!isInstalled(root)) {
      say("Installing packages. This takes a minute and happens once …");
      npm(root, ["ci", "--include=dev", "--no-progress", "--loglevel=error"]);
    }
    // Install scripts may be switched off on this machine; this package is nothing without its own.
    if (!existsSync(node)) npm(root, ["rebuild", "node", "--ignore-scripts=false", "--loglevel=error"]);
  });
  if (!existsSync(node)) throw new SetupError("The package `node` has no binary for this system.");
  return node;
}

/** npm's record of what it installed, compared with the lock; a record is only written when all went well. */
function isInstalled(root) {
  const installed = readLock(path.join(root, "node_modules", ".package-lock.json"));
  const wanted = readLock(path.join(root, "package-lock.json"));
  if (!wanted) throw new SetupError("package-lock.json is missing: this isn't a complete clone.");
  if (!installed) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (!name.includes("node_modules/")) return true;
    const found = installed[name];
    // Packages for other systems are left out.
    if (!found) return Boolean(entry.optional || entry.devOptional);
    return found.version === entry.version && existsSync(path.join(root, name));
  });
}

function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function npm(root, args) {
  const cli = process.env.npm_execpath;
  const [command, ...first] = cli ? [process.execPath, cli] : ["npm"];
  const { status, error } = spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (error) throw new SetupError(`npm can't be started: ${error.message}`);
  if (status !== 0)
    throw new SetupError(
      `\`npm ${args.join(" ")}\` failed. Its message above says why; then run this again.`,
    );
}

/** A folder as a lock: making one is atomic. A lock whose process has died is taken over. */
async function withLock(lock, work) {
  mkdirSync(path.dirname(lock), { recursive: true });
  const owner = path.join(lock, "pid");
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(owner, String(process.pid));
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (ownerIsGone(owner)) rmSync(lock, { recursive: true, force: true });
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function ownerIsGone(owner) {
  try {
    process.kill(Number(readFileSync(owner, "utf8")), 0);
    return false;
  } catch (error) {
    // EPERM: somebody else's process, alive. ENOENT: made this moment, its owner is still writing.
    return error.code === "ESRCH";
  }
}
