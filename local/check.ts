/** `npm run check`: format, lint and layer rules (Biome), types (tsc; Next first writes the
 * types of routes and of its own file kinds), dead code (knip). All run, whatever fails. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";

const checks = [
  { what: "format, lint, layers", command: ["biome", "check", "--error-on-warnings", "."] },
  { what: "routes", command: ["next", "typegen"] },
  { what: "types", command: ["tsc", "--noEmit"] },
  { what: "dead code", command: ["knip"] },
];

const results = checks.map(({ what, command: [program = "", ...args] }) => {
  const startedAt = performance.now();
  const { status } = spawnSync(path.join(repositoryRoot, "node_modules", ".bin", program), args, {
    cwd: repositoryRoot,
    stdio: "inherit",
  });
  return { what, passed: status === 0, seconds: (performance.now() - startedAt) / 1000 };
});

for (const { what, passed, seconds } of results)
  console.log(`${passed ? "ok    " : "FAILED"}  ${what} (${seconds.toFixed(1)} s)`);
process.exit(results.every(({ passed }) => passed) ? 0 : 1);
