// The first step of every npm script: `node local/setup.mjs TASK [arguments]`. Plain JavaScript for any Node from 18
// on, without packages, because it is what installs them. It then runs the task on the Node among the packages.
// It says what it does on stderr and is silent when there is nothing to do: stdout belongs to the task.
import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages } from "./setup/packages.mjs";
import { requireBrowser, requireFfmpeg } from "./setup/programs.mjs";
import { SetupError, say } from "./setup/say.mjs";

/**
 * needs: programs that npm can't install. steps: scripts that run one after the other until one fails; the last is
 * the task itself and gets the arguments. inCallersFolder: relative paths among them are the caller's.
 *
 * @type {Record<string, { needs?: (() => void)[], steps: string[][], inCallersFolder?: boolean }>}
 */
const tasks = {
  start: { needs: [requireFfmpeg], steps: [["local/prepare.ts", "start"], ["dist/start.js"]] },
  dev: {
    needs: [requireFfmpeg],
    steps: [
      ["local/prepare.ts", "dev"],
      ["dist/start.js", "--dev"],
    ],
  },
  build: { needs: [requireFfmpeg], steps: [["local/prepare.ts", "start"]] },
  test: { needs: [requireFfmpeg, requireBrowser], steps: [["local/test.ts"]] },
  "test:faults": { needs: [requireFfmpeg], steps: [["local/test.ts", "--only-faults"]] },
  "test:corpus": { needs: [requireFfmpeg], steps: [["local/test.ts", "--only-corpus"]] },
  "fuzz:media": { needs: [requireFfmpeg], steps: [["worker/testing/fuzz/media.ts"]] },
  "test:mutations": { needs: [requireFfmpeg], steps: [["e2e/faults/mutations/run.ts"]] },
  e2e: { needs: [requireFfmpeg, requireBrowser], steps: [["local/test.ts", "--only-browser"]] },
  check: { steps: [["local/check.ts"]] },
  // Without FFmpeg it says so, and installs nothing.
  doctor: { steps: [["local/doctor.ts"]] },
  "bench:jobs": {
    needs: [requireFfmpeg],
    steps: [["local/prepare.ts", "start"], ["bench/jobs.ts"]],
  },
  "bench:transcode": {
    needs: [requireFfmpeg],
    steps: [["local/prepare.ts", "bundle"], ["bench/transcode.ts"]],
  },
  transcode: {
    needs: [requireFfmpeg],
    steps: [["local/prepare.ts", "transcode"], ["dist/transcode.js"]],
    inCallersFolder: true,
  },
};

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// npm runs scripts in the clone's root and tells where it was called itself.
const callersFolder = (process.env.npm_lifecycle_event && process.env.INIT_CWD) || process.cwd();

async function main() {
  const [name = "", ...args] = process.argv.slice(2);
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  if (!task) throw new SetupError(`There is no task "${name}". There are: ${Object.keys(tasks).join(", ")}.`);
  const node = await installPackages(root);
  for (const requireProgram of task.needs ?? []) requireProgram();
  for (const [index, step] of task.steps.entries()) {
    const isLast = index === task.steps.length - 1;
    const code = await run(node, [path.join(root, step[0]), ...step.slice(1), ...(isLast ? args : [])], {
      cwd: isLast && task.inCallersFolder ? callersFolder : root,
      stdout: isLast ? "inherit" : 2,
    });
    if (code !== 0) return code;
  }
  return 0;
}

/** Runs a step to its end and answers its exit code; signals are passed on. */
function run(node, args, { cwd, stdout }) {
  // The channel tells the step when this process was killed, so that nothing goes on without its terminal.
  const child = spawn(node, args, { cwd, stdio: ["inherit", stdout, "inherit", "ipc"] });
  const pass = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error instanceof SetupError ? error.message : error);
    process.exit(1);
  },
);
