import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs, { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createLocalFleet, type LocalFleet } from "./fleet.ts";
import { temporaryFolder } from "./testing/folder.ts";

/** A worker that appends its process id to a file and works until it is told to stop. */
function fleetOf(body: string, onGone?: (machineId: string) => void): { fleet: LocalFleet; dataDir: string } {
  const dataDir = temporaryFolder();
  const script = path.join(dataDir, "worker.mjs");
  writeFileSync(script, `import fs from "node:fs";\n${body}`);
  const fleet = createLocalFleet({
    script,
    dataDir,
    env: { STARTS: path.join(dataDir, "starts") },
    ...(onGone ? { onGone } : {}),
  });
  onTestFinished(() => fleet.stopAll());
  return { fleet, dataDir };
}

const works = `fs.appendFileSync(process.env.STARTS, process.env.ACTION_KEY + "\\n");
process.on("SIGTERM", () => process.exit(0)); process.on("disconnect", () => process.exit(1)); setInterval(() => {}, 1000);`;

const request = () => ({
  actionKey: randomUUID(),
  generation: 1,
  provisioningToken: randomUUID(),
  sourceSizeBytes: 1,
  sourceDurationSeconds: null,
  profile: "hls-ts-v1",
});

it("J6 launching twice with one provisioning token gives one worker", async () => {
  const { fleet } = fleetOf(works);
  const launch = request();
  const [first, second] = await Promise.all([fleet.launch(launch), fleet.launch(launch)]);
  expect(first).toEqual(second);
  expect(await fleet.alive()).toHaveLength(1);
});

it("J8 a worker counts as alive until its process is gone, and then its scratch is gone too", async () => {
  const onGone = vi.fn();
  const { fleet, dataDir } = fleetOf(`fs.writeFileSync(process.env.SCRATCH_DIR + "/half", "x");`, onGone);
  const outcome = await fleet.launch(request());
  expect(await fleet.alive()).toHaveLength(1);
  await vi.waitFor(() => expect(onGone).toHaveBeenCalledOnce(), { timeout: 20_000 });
  expect(outcome).toMatchObject({ machine: { machineId: onGone.mock.calls[0]?.[0] } });
  expect(await fleet.alive()).toEqual([]);
  expect(readdirSync(path.join(dataDir, "scratch"))).toEqual([]);
});

it("J6 a machine that is ended is alive until its process is gone; an unknown one is no error", async () => {
  const { fleet } = fleetOf(works);
  const outcome = await fleet.launch(request());
  if (outcome.outcome !== "launched") throw new Error(outcome.message);
  await fleet.terminate(outcome.machine.machineId);
  expect(await fleet.alive()).toHaveLength(1);
  await fleet.terminate(outcome.machine.machineId);
  await vi.waitFor(async () => expect(await fleet.alive()).toEqual([]), { timeout: 20_000 });
  await fleet.terminate("local-unknown");
});

it("J8 programs that a killed worker left working in its scratch are ended at the next start", async () => {
  const dataDir = temporaryFolder();
  const scratch = path.join(dataDir, "scratch", "local-dead");
  mkdirSync(scratch, { recursive: true });
  const start = (argv0: string) => {
    const child = spawn("/bin/sh", ["-c", "sleep 300; :", scratch], {
      stdio: "ignore",
      argv0,
      detached: true,
    });
    onTestFinished(() => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It was killed before it had started anything.
      }
    });
    return child;
  };
  const orphan = start("/usr/bin/ffmpeg");
  const reader = start("less");
  const ended = new Promise((resolve) => orphan.once("exit", (_code, signal) => resolve(signal)));
  createLocalFleet({ script: "", dataDir, env: {} });
  expect(await ended).toBe("SIGKILL");
  // Somebody who looks at a file there is no program of ours.
  expect(reader.signalCode).toBeNull();
  expect(existsSync(scratch)).toBe(false);
});

it("J4 a fleet that stops launches nothing more, not even when a worker's end makes room", async () => {
  const relaunched: unknown[] = [];
  const { fleet } = fleetOf(
    works,
    () => void fleet.launch(request()).then((outcome) => relaunched.push(outcome)),
  );
  await fleet.launch(request());
  await fleet.stopAll();
  await vi.waitFor(() => expect(relaunched).toMatchObject([{ outcome: "refused", reason: "throttled" }]));
  expect(await fleet.alive()).toEqual([]);
});

it("J8 what can't be removed of a worker's scratch keeps nothing from going on", async () => {
  const onGone = vi.fn();
  const body = `fs.mkdirSync(process.env.SCRATCH_DIR + "/kept"); fs.writeFileSync(process.env.SCRATCH_DIR + "/kept/file", "");`;
  const { fleet, dataDir } = fleetOf(body, onGone);
  const removal = vi.spyOn(fs, "rmSync").mockImplementation(() => {
    throw Object.assign(new Error("busy"), { code: "EBUSY" });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    removal.mockRestore();
    syncBuiltinESMExports();
  });
  await fleet.launch(request());
  await vi.waitFor(() => expect(onGone).toHaveBeenCalledOnce(), { timeout: 20_000 });
  expect(await fleet.alive()).toEqual([]);
  expect(readdirSync(path.join(dataDir, "scratch"))).toHaveLength(1);
});

it("nobody else enters the folders of scratch and logs, whatever their mode was", () => {
  const dataDir = temporaryFolder();
  const folders = ["scratch", "logs"].map((name) => path.join(dataDir, name));
  for (const folder of folders) {
    mkdirSync(folder);
    chmodSync(folder, 0o755);
  }
  createLocalFleet({ script: "", dataDir, env: {} });
  for (const folder of folders) expect(statSync(folder).mode & 0o777, folder).toBe(0o700);
});
