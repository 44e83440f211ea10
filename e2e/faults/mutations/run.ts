/**
 * `npm run test:mutations [words]`: puts each bug of `list.ts` (or those whose line has the words) into a copy of the
 * working tree and runs the test that must catch it. Ends with a table, and badly where a bug survives.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "@reelkeep/local/repository";
import { mutations } from "./list.ts";
import type { Mutation } from "./mutation.ts";

/** Sources alone; packages are linked, ours to the copy, so that a bug in one reaches the tests of all. */
function copyTree(): string {
  const copy = mkdtempSync(path.join(tmpdir(), "reelkeep-mutations-"));
  const list = execFileSync("git", ["ls-files", "-coz", "--exclude-standard"], {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  for (const file of new Set(list.split("\0").filter(Boolean)))
    cpSync(path.join(repositoryRoot, file), path.join(copy, file), { force: true, errorOnExist: false });
  const packages = path.join(repositoryRoot, "node_modules");
  const links = path.join(copy, "node_modules");
  mkdirSync(path.join(links, "@reelkeep"), { recursive: true });
  for (const name of readdirSync(packages))
    if (name !== "@reelkeep") symlinkSync(path.join(packages, name), path.join(links, name));
  for (const name of readdirSync(path.join(packages, "@reelkeep")))
    symlinkSync(path.join(copy, name), path.join(links, "@reelkeep", name));
  // Where npm kept a package's other version beside its user.
  for (const name of readdirSync(path.join(packages, "@reelkeep"))) {
    const nested = path.join(repositoryRoot, name, "node_modules");
    if (existsSync(nested)) symlinkSync(nested, path.join(copy, name, "node_modules"));
  }
  return copy;
}

/** A `%s` or `$name` stands for whatever a table of cases puts there. */
const patternOf = (title: string) => title.replace(/[.*+?^{}()|[\]\\]/g, "\\$&").replace(/%s|\$\w+/g, ".*");

type Verdict = "caught" | "SURVIVED" | "not there";

function judge(copy: string, { file, from, to, caughtBy }: Mutation): Verdict {
  const target = path.join(copy, file);
  const code = readFileSync(target, "utf8");
  if (code.split(from).length !== 2) return "not there";
  writeFileSync(
    target,
    code.replace(from, () => to),
  );
  try {
    const isFault = caughtBy.file.startsWith("e2e/faults/");
    const config = isFault ? ["--config", "e2e/faults/vitest.config.ts"] : [];
    const results = path.join(copy, "results.json");
    rmSync(results, { force: true });
    const { status } = spawnSync(
      path.join(copy, "node_modules", ".bin", "vitest"),
      [
        "run",
        ...config,
        "--reporter=json",
        `--outputFile=${results}`,
        "-t",
        patternOf(caughtBy.title),
        caughtBy.file,
      ],
      { cwd: copy, stdio: "ignore" },
    );
    if (!existsSync(results)) return "not there";
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(results, "utf8"));
    if (numFailedTests > 0) return "caught";
    if (numPassedTests === 0) return "not there";
    // An error outside any test fails the run too.
    return status === 0 ? "SURVIVED" : "caught";
  } finally {
    writeFileSync(target, code);
  }
}

const words = process.argv.slice(2).join(" ").toLowerCase();
const chosen = mutations.filter(({ bug, file }) => `${bug} ${file}`.toLowerCase().includes(words));
const copy = copyTree();
let survivors = 0;
try {
  for (const mutation of chosen) {
    const verdict = judge(copy, mutation);
    if (verdict !== "caught") survivors++;
    console.log(`${verdict.padEnd(9)}  ${mutation.bug}  (${mutation.file}; ${mutation.caughtBy.title})`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${chosen.length - survivors} of ${chosen.length} bugs caught`);
process.exit(survivors === 0 && chosen.length > 0 ? 0 : 1);
