import { AppError } from "@reelkeep/core/errors";

/** Where a machine keeps what its one worker is told, as `NAME=value` lines; the boot script hands it on. */
export const workerEnvFile = "/etc/reelkeep/worker.env";

/** How the lines end inside the script; they all contain `=`, this doesn't. */
const endOfEnv = "END-OF-WORKER-ENV";

/**
 * The script that a machine runs at its first boot: writes `env` to `workerEnvFile` without interpreting it, then
 * goes on with `bootScript` (bash, without its `#!` line). Whoever may describe the instance can read it, so it takes
 * no secrets. EC2 refuses more than 16 KB.
 * @throws AppError `internal` for a name or value that doesn't fit on a line.
 */
export function userDataFor(bootScript: string, env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Z][A-Z0-9_]*$/.test(name) || /[\r\n\0]/.test(value))
      throw new AppError("internal", { message: `${name} can't be handed to a worker.` });
    return `${name}=${value}\n`;
  });
  return `#!/bin/bash
set -euo pipefail
install -D -m 0644 /dev/stdin ${workerEnvFile} <<'${endOfEnv}'
${lines.join("")}${endOfEnv}
${bootScript}
`;
}
