import { configDefaults, defineConfig } from "vitest/config";

/** Segments end in .ts and data may lie in the clone, so data and build output are kept from the search for tests. */
const exclude = [
  ...configDefaults.exclude,
  "**/.data/**",
  "**/.next/**",
  "**/.sst/**",
  "**/dist/**",
  "e2e/**",
];

export default defineConfig({
  test: {
    exclude,
    include: ["**/*.test.{ts,tsx}"],
    globalSetup: ["local/testing/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two: encoders and databases that tests start need the rest of a small machine.
    maxWorkers: 2,
    // Real processes leave handles that a thread would share with the next file.
    pool: "forks",
  },
});
