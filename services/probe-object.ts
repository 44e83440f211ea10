import { type ChildProcess, spawn } from "node:child_process";
import type { ObjectStore } from "@reelkeep/aws/object-store";
import { type ContainerFacts, isLegible, unknownFacts } from "@reelkeep/core/upload/container-facts";
import type { VideoContainer } from "@reelkeep/core/upload/signature";
import type { ServiceContext } from "./context.ts";
import type { FromProbe, ProbeTask, ToProbe } from "./probe-protocol.ts";

/** The index of a film of hours takes some tens of megabytes. */
const heapMb = 128;
/** Processes at once, so that many files which arrive together don't take the machine's memory. */
const processesMax = 2;

/** What a probe stands on. */
export interface ProbeNeeds extends Pick<ServiceContext, "probeScript"> {
  readonly store: Pick<ObjectStore, "readRange">;
}

interface ProbedObject {
  readonly key: string;
  readonly etag: string;
  readonly sizeBytes: number;
  readonly container: VideoContainer;
}

const underWay = new Map<string, Promise<ContainerFacts>>();

/**
 * U5: duration, size and tracks of a stored object over ranged reads, before any worker is paid for. It can only
 * say what it is sure of; a container that it can't read is admitted, and ffprobe decides.
 *
 * The file is read by a process of its own, because a few bytes can make a reader loop or fill its memory. A thread
 * wouldn't do: an array that outgrows a thread's `resourceLimits` in one step aborts the whole process. Whoever asks
 * for the same object meanwhile gets the same look.
 *
 * @param limitMs For the look, its wait for a free process included; after that it is ffprobe's.
 * @throws AppError `source-changed` or `storage-unavailable`; never for what the file holds.
 */
export function probeObject(
  needs: ProbeNeeds,
  object: ProbedObject,
  limitMs = 20_000,
): Promise<ContainerFacts> {
  if (!isLegible(object.container)) return Promise.resolve(unknownFacts);
  const name = `${object.key} ${object.etag}`;
  const look = underWay.get(name) ?? probe(needs, object, limitMs).finally(() => underWay.delete(name));
  underWay.set(name, look);
  return look;
}

async function probe(needs: ProbeNeeds, object: ProbedObject, limitMs: number): Promise<ContainerFacts> {
  const signal = AbortSignal.timeout(limitMs);
  if (!(await takePlace(signal))) return unknownFacts;
  try {
    return await probeInProcess(needs, object, signal, limitMs);
  } finally {
    leavePlace();
  }
}

let processes = 0;
const line = new Set<() => void>();

/** False when the signal came first. */
function takePlace(signal: AbortSignal): Promise<boolean> {
  if (processes < processesMax) {
    processes++;
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const next = () => resolve(true);
    line.add(next);
    signal.addEventListener("abort", () => resolve(!line.delete(next)), { once: true });
  });
}

/** The place goes straight to whoever has waited longest. */
function leavePlace(): void {
  const [next] = line;
  if (!next) processes--;
  else {
    line.delete(next);
    next();
  }
}

/** However the process ends by itself, out of memory too, nothing is known. */
async function probeInProcess(
  { store, probeScript }: ProbeNeeds,
  object: ProbedObject,
  signal: AbortSignal,
  limitMs: number,
): Promise<ContainerFacts> {
  const { sizeBytes, container } = object;
  const child = startProbe(probeScript, { sizeBytes, container, lifeMs: limitMs });
  const end = () => child.kill("SIGKILL");
  signal.addEventListener("abort", end, { once: true });
  try {
    return await new Promise<ContainerFacts>((resolve, reject) => {
      const serve = async (id: number, start: number, until: number) => {
        const bytes = await store.readRange(object.key, start, until, object.etag);
        // It may be gone by now.
        if (child.connected) child.send({ id, bytes } satisfies ToProbe, () => {});
      };
      child.on("message", (message: FromProbe) => {
        if ("facts" in message) resolve(message.facts);
        else serve(message.id, message.start, message.end).catch(reject);
      });
      child.on("error", () => resolve(unknownFacts));
      child.once("exit", () => resolve(unknownFacts));
    });
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Without our environment: the process has no use for credentials. */
const startProbe = (script: string, task: ProbeTask): ChildProcess =>
  spawn(process.execPath, [`--max-old-space-size=${heapMb}`, script, JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    env: {} as NodeJS.ProcessEnv,
  });
