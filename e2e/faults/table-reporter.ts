import { stdout } from "node:process";
import type { Reporter, TestCase, TestModule } from "vitest/node";

const signs = { passed: "held", failed: "BROKEN", skipped: "skipped", pending: "not run" } as const;

/** The table that `npm run test:faults` ends with: each guarantee, whether it held, and how long its fault took. */
export default class FaultTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => [
      "",
      module.relativeModuleId,
      ...[...module.children.allTests()].map(row),
    ]);
    stdout.write(`${lines.join("\n")}\n\n`);
  }
}

function row(test: TestCase): string {
  const seconds = ((test.diagnostic()?.duration ?? 0) / 1000).toFixed(1);
  return `  ${signs[test.result().state].padEnd(7)} ${seconds.padStart(6)} s  ${test.fullName.replaceAll(" > ", ": ")}`;
}
