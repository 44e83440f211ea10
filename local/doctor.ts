/** `npm run doctor`: says in plain words what this machine, or an installation, can do, and what to do about the rest. */
import { parseArgs } from "node:util";
import type { Findings } from "./doctor/findings.ts";
import { examineGpu } from "./doctor/gpu.ts";

const parts: Readonly<Record<string, { readonly what: string; readonly examine: () => Promise<Findings> }>> =
  {
    gpu: { what: "whether a graphics card can decode, scale and encode videos here", examine: examineGpu },
  };

const list = Object.entries(parts).map(([name, { what }]) => `  ${name.padEnd(8)}${what}`);
const usage = `Usage: npm run doctor -- PART [--json]

Parts:
${list.join("\n")}

Exit status: 0 it can be used, 1 it can't, 64 wrong usage.
`;
const usageStatus = 64;

async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = readOptions(args);
  const [name, ...more] = positionals;
  if (name === undefined || values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (!part || more.length > 0) throw new UsageError(`There is no part "${positionals.join(" ")}".`);
  const { usable, lines, facts } = await part.examine();
  process.stdout.write(
    values.json ? `${JSON.stringify({ part: name, usable, ...facts })}\n` : `${lines.join("\n")}\n`,
  );
  return usable ? 0 : 1;
}

class UsageError extends Error {}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = usageStatus;
}
