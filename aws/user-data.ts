import { AppError } from "@reelkeep/core/errors";

/** Where a machine keeps what its one worker is told, as `NAME=value` lines; the boot script hands it on. */
export const workerEnvFile = "/etc/reelkeep/worker.env";

/** How the lines end inside the script; they all contain `=`, this doesn't. */
const endOfEnv = "END-OF-WORKER-ENV";

/** A word in a variable's name, or in its value, that says that it must not be told to everybody on the machine. */
const secretName = /SECRET|PASSWORD|TOKEN|CREDENTIAL|(^|_)KEY(_|$)|^DATABASE_URL$/;
const addressWithPassword = /\/\/[^/\s]*:[^/\s]*@/;

/** What a machine does from its first boot to its end. */
export interface FirstBoot {
  /**
   * Bash, without a `#!` line. It fetches what is secret with the machine's own role, and runs the worker in the
   * foreground: once the script ends, however that comes, the machine shuts down.
   */
  readonly bootScript: string;
  /** What the worker is told, as it is. Whoever may describe the instance can read it, so no secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** After so long the machine shuts down whatever it is doing. */
  readonly lifetimeMinutes: number;
}

/**
 * The script that a machine runs at its first boot: sets the end of its life, writes `env` to `workerEnvFile` without
 * interpreting it, then goes on with `bootScript`. EC2 refuses more than 16 KB.
 * @throws AppError `internal` for a name or value that doesn't fit on a line, or that looks like a secret.
 */
export function userDataFor({ bootScript, env, lifetimeMinutes }: FirstBoot): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Z][A-Z0-9_]*$/.test(name) || /[\r\n\0]/.test(value))
      throw new AppError("internal", { message: `${name} can't be handed to a worker.` });
    if ((secretName.test(name) && name !== "ACTION_KEY") || addressWithPassword.test(value))
      throw new AppError("internal", {
        message: `${name} is a secret. The boot script must fetch it with the machine's own role.`,
      });
    return `${name}=${value}\n`;
  });
  return `#!/bin/bash
trap 'shutdown -h now' EXIT
set -euo pipefail
shutdown -h +${lifetimeMinutes}
install -D -m 0600 /dev/stdin ${workerEnvFile} <<'${endOfEnv}'
${lines.join("")}${endOfEnv}
${bootScript}
`;
}
