/** What FFmpeg is started in, so that a decoder that was taken over finds nothing and reaches nobody. */
import { execFile } from "node:child_process";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

/** A way to start a program, and what it keeps from it. */
export interface Cage {
  /** The words before every command, e.g. `["unshare", "--user", "--net", "setpriv", "--no-new-privs"]`. */
  readonly words: readonly string[];
  /** Whether the program sees the files of its call alone (`RunFiles`), and no process but its own. */
  readonly confinesFiles: boolean;
  readonly isOffline: boolean;
  /** Whether the kernel ends the program with whoever started it, even with one that was killed. */
  readonly endsWithParent: boolean;
  /** Whether its processes are counted apart from all others of our user. */
  readonly countsProcesses: boolean;
}

/** What a call may use of the file system, beside what programs need to start. Paths are absolute. */
export interface RunFiles {
  /** Files and folders. One that is missing is missing there too. */
  readonly read?: readonly string[];
  /** Folders that exist. */
  readonly write?: readonly string[];
  /** Whether it may use NVIDIA's cards. */
  readonly gpu?: boolean;
}

export const noCage: Cage = {
  words: [],
  confinesFiles: false,
  isOffline: false,
  endsWithParent: false,
  countsProcesses: false,
};

/** All that a child gets of an environment: no proxies, no credentials, no language of the user's. */
export const bareEnvironment = (path: string): NodeJS.ProcessEnv =>
  ({ PATH: path, LC_ALL: "C", AV_LOG_FORCE_NOCOLOR: "1" }) as unknown as NodeJS.ProcessEnv;

/** Where programs and their libraries lie; /usr as a whole may hold an application too. */
const systemFolders = [
  ...["/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/bin", "/usr/local/lib"],
  ...["/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/nix/store"],
];

/**
 * An empty, read-only file system with the system's programs, devices such as /dev/null, and namespaces of its own
 * for users, processes, network and the rest: bwrap(1). There is no /proc: FFmpeg needs none, and in a container
 * there would be no mounting it. Not `--new-session`: `run` makes the session, which keeps bubblewrap and FFmpeg in
 * the process group that it stops, continues and ends.
 */
const bubblewrap = [
  ...["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"],
  ...systemFolders.flatMap((folder) => ["--ro-bind-try", folder, folder]),
];

/**
 * What NVIDIA's driver talks to, in a container and on WSL too. The kernel's side of it is code that a decoder which
 * was taken over may call: only runs that use a card get it.
 */
export const gpuDevices: readonly string[] = [
  ...["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/dxg"],
  ...Array.from({ length: 16 }, (_, card) => `/dev/nvidia${card}`),
];
/** Where the driver looks up how it was loaded. */
const driverFacts = ["/proc/driver/nvidia", "/proc/devices"];

/** The last words, because the kernel forgets the signal when credentials change: prctl(2), PR_SET_PDEATHSIG. */
const leash = ["setpriv", "--pdeathsig", "KILL"];

/**
 * The best first. A child of the same user could read our environment and memory in /proc, where our credentials
 * are: the kernel refuses that to whoever is in another user namespace, or has fewer capabilities than we. ptrace(2),
 * "Ptrace access mode checking"; user_namespaces(7).
 */
export const cages: readonly Cage[] = [
  // With a lock on further namespaces, which give capabilities over parts of the kernel. From bubblewrap 0.8 on.
  caged([...bubblewrap, "--unshare-user", "--disable-userns"], { confinesFiles: true, endsWithParent: true }),
  caged(bubblewrap, { confinesFiles: true, endsWithParent: true }),
  caged(["unshare", "--user", "--net", "setpriv", "--no-new-privs", ...leash], { endsWithParent: true }),
  // Root, where user namespaces are off: root without root's powers.
  caged(
    [
      ...["unshare", "--net", "setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"],
      ...leash,
    ],
    { endsWithParent: true, countsProcesses: false },
  ),
  // Systems without setpriv.
  caged(["unshare", "--user", "--net"], {}),
  // A container that forbids namespaces: at least nothing outlives us.
  caged(leash, { isOffline: false, endsWithParent: true, countsProcesses: false }),
];

function caged(words: readonly string[], has: Partial<Cage>): Cage {
  return { ...noCage, isOffline: true, countsProcesses: true, ...has, words };
}

/** The command that runs `command` in the cage with these files, from its folder `cwd`. */
export function cagedCommand(
  cage: Cage,
  files: RunFiles,
  cwd: string | undefined,
  command: readonly string[],
): readonly [string, ...string[]] {
  const words = [...cage.words, ...(cage.confinesFiles ? bindings(files, cwd) : []), ...command];
  return words as [string, ...string[]];
}

/** Folders to write first, so that a source within one of them is read-only all the same. */
function bindings({ read = [], write = [], gpu = false }: RunFiles, cwd: string | undefined): string[] {
  return [
    ...["--dev", "/dev"],
    ...(gpu ? gpuDevices.flatMap((path) => ["--dev-bind-try", path, path]) : []),
    ...["--remount-ro", "/dev"],
    ...(gpu ? driverFacts.flatMap((path) => ["--ro-bind-try", path, path]) : []),
    ...write.map((path) => resolve(path)).flatMap((path) => ["--bind", path, path]),
    ...read.map((path) => resolve(path)).flatMap((path) => ["--ro-bind-try", path, path]),
    // Last, because what hasn't been mounted yet needs a place.
    ...["--remount-ro", "/"],
    ...(cwd === undefined ? [] : ["--chdir", cwd]),
    "--",
  ];
}

/** What a program needs that isn't the system's: itself, and the libraries beside its folder. */
export function filesOfProgram(program: string): string[] {
  if (!isAbsolute(program) || systemFolders.some((folder) => program.startsWith(`${folder}/`))) return [];
  const folder = dirname(program);
  return basename(folder) === "bin" ? [program, join(dirname(folder), "lib")] : [program];
}

/**
 * The best cage in which all these commands work. One is tried after the other, because what a kernel, a container
 * and a distribution allow is told by nothing else.
 */
export async function findCage(path: string, programs: readonly string[]): Promise<Cage> {
  for (const cage of cages) {
    const starts = programs.map((program) => [program, "-version"]);
    const worked = await Promise.all(starts.map((command) => worksIn(cage, path, command)));
    if (worked.every(Boolean)) return cage;
  }
  return noCage;
}

/** Whether a command ends well in the cage. */
export async function worksIn(cage: Cage, path: string, command: readonly string[]): Promise<boolean> {
  const [program, ...words] = cagedCommand(cage, { read: filesOfProgram(command[0]!) }, undefined, command);
  return execFileAsync(program, words, { env: bareEnvironment(path) }).then(
    () => true,
    () => false,
  );
}
