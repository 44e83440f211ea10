import { createServer } from "node:net";
import type { LocalSettings } from "./settings.ts";

/** A port that another program holds. */
export class PortTakenError extends Error {
  readonly port: number;

  constructor(port: number) {
    super(`Port ${port} is taken by another program.`);
    this.port = port;
  }
}

/**
 * Makes sure that a port on loopback can be had. 0 answers a free one, which the system won't give again for a while.
 *
 * @throws PortTakenError
 */
export async function requireFreePort(port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new PortTakenError(port) : error),
    );
    probe.listen(port, "127.0.0.1", resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return address && typeof address === "object" ? address.port : port;
}

/** Runs `start` and, where a port is taken, says by which variable another can be chosen. */
export async function namingPort<T>(variable: keyof LocalSettings, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error;
    throw new Error(
      `${error.message} Stop that program, or choose another port: ${variable}=${error.port + 1000} npm start`,
      { cause: error },
    );
  }
}

/**
 * The same settings with real ports in place of zeros. The database's port is left alone: its server may run already.
 *
 * @throws Error that names the port and the variable.
 */
export async function settlePorts(settings: LocalSettings): Promise<LocalSettings> {
  const settled = { ...settings };
  const variables = [
    "REELKEEP_PORT",
    "REELKEEP_CDN_PORT",
    "REELKEEP_S3_PORT",
    "REELKEEP_EVENTS_PORT",
  ] as const;
  for (const variable of variables)
    settled[variable] = await namingPort(variable, () => requireFreePort(settings[variable]));
  return settled;
}
