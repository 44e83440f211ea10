import { existsSync } from "node:fs";
import { gpuDevices } from "./cage.ts";
import { cpuEngine, type EncoderEngine, engineFor } from "./engines.ts";
import { type GpuAbilities, tryGpu } from "./gpu.ts";
import { listParts } from "./parts.ts";
import type { MediaTools } from "./tools.ts";

/** What this machine encodes with, and why: null where no card was asked, because there is none. */
export interface ChosenEngine {
  readonly engine: EncoderEngine;
  readonly abilities: GpuAbilities | null;
}

/**
 * Chooses once per process start. A machine without a card is known by its devices, so that it pays nothing for the
 * question.
 * @throws AppError `worker-failed` when FFmpeg can't be started.
 */
export async function chooseEngine(tools: MediaTools): Promise<ChosenEngine> {
  if (!gpuDevices.some((path) => existsSync(path))) return { engine: cpuEngine, abilities: null };
  const abilities = await tryGpu(tools, await listParts(tools));
  return { engine: engineFor(abilities), abilities };
}
