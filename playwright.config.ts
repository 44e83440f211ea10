import { defineConfig } from "playwright/test";

/** A real browser on a real local stack, which the global set-up starts once for the run. */
export default defineConfig({
  testDir: "e2e",
  testMatch: "**/*.spec.ts",
  outputDir: "dist/playwright",
  globalSetup: "./local/testing/browser-setup.ts",
  // The tests share one stack, whose one worker is the narrow place.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"], ["json"]],
  use: {
    browserName: "chromium",
    headless: true,
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
    launchOptions: {
      // Playwright's own build has no H.264.
      executablePath: process.env.CHROMIUM_PATH || "/usr/bin/chromium",
      // A container has no namespaces for Chromium's sandbox; the only pages here are ours.
      args: ["--no-sandbox"],
    },
  },
});
