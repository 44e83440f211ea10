import { defineConfig } from "vitest/config";

/** `npm run test:faults`: each file breaks a stack of its own. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["kit/global-setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Encoders need the machine; two at once would only make leases run out by themselves.
    fileParallelism: false,
    tags: [{ name: "short", description: "Runs in npm test too." }],
    pool: "forks",
  },
});
