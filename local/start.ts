/** `npm start` and, with --dev, `npm run dev`: runs the stack until it is told to stop. */
import { readSettings } from "./settings.ts";
import { type Stack, startStack } from "./stack.ts";

/**
 * One press of Ctrl-C may arrive twice: from the terminal, and passed on by the parent. Only a later one is a second.
 */
const samePressMs = 1000;

/** Settles at the first request to stop; a later one ends everything at once. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onRequest = () => {
      firstAt ??= Date.now();
      if (Date.now() - firstAt > samePressMs) process.exit(1);
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onRequest);
    // Its parent (npm's side, or a test) is gone.
    process.on("disconnect", onRequest);
  });
}

function tell(stack: Stack): void {
  console.log(`\n  Reelkeep is ready: ${stack.url}`);
  if (stack.ownerCode) console.log(`  Your one-time code for the owner's account: ${stack.ownerCode}`);
  console.log(`  Data: ${stack.dataDir}   Stop: Ctrl-C\n`);
  // For tests that started this process.
  process.send?.({ stack: { ...stack, failed: undefined } });
}

async function main(): Promise<number> {
  const stopped = stopRequested();
  const stack = await startStack(readSettings(process.env), { dev: process.argv.includes("--dev") });
  tell(stack);
  const failure = await Promise.race([stopped, stack.failed]);
  console.error(failure ?? "Stopping …");
  await stack.stop();
  return failure === undefined ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
