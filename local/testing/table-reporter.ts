import { stdout } from "node:process";
import type { Reporter, TestCase, TestModule } from "vitest/node";

const signs = { passed: "held", failed: "BROKEN", skipped: "skipped", pending: "not run" } as const;

/**
 * The table that a long run ends with: each guarantee, whether it held, how long it took, and what the test noted
 * of it (`annotate`).
 *
 * @public Vitest loads it by its path.
 */
export default class TableReporter implements Reporter {
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
  const notes = test.annotations().map(({ message }) => `\n${" ".repeat(20)}${message}`);
  const title = test.fullName.replaceAll(" > ", ": ");
  return `  ${signs[test.result().state].padEnd(7)} ${seconds.padStart(6)} s  ${title}${notes.join("")}`;
}
