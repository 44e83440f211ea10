import AxeBuilder from "@axe-core/playwright";
import { startTestStack, type TestStack } from "@reelkeep/local/testing/stack";
import { type Browser, expect, type Page, test } from "playwright/test";
import { makeVideo } from "./media.ts";
import { introduce, openAs } from "./people.ts";

/**
 * What people do about a job. The stack is this file's own: it has one worker, so that a long clip keeps every other
 * in line for as long as a test wants.
 */
test.describe.configure({ mode: "serial", timeout: 240_000 });

const owning = { name: "Olive Owner", email: "olive@example.test" };
/** In 4:4:4, so that nothing of it can be taken over. */
const longClip = () =>
  makeVideo("long.mp4", 120, { size: "1280x720", bitsPerSecond: 800_000, pixelFormat: "yuv444p" });
const shortClip = () => makeVideo("short.mp4", 3);
/** Processing takes so long where other programs share the machine. */
const patiently = { timeout: 120_000 };

let stack: TestStack;
let page: Page;
let longPath: string;
let shortPath: string;

test.beforeAll(async ({ browser }) => {
  stack = await startTestStack({
    env: { WORKERS_MAX: "1", LEASE_SECONDS: "6", RETRY_BACKOFF_SECONDS: "1" },
  });
  page = await open(browser, "/");
  await page.waitForURL(/\/welcome$/);
  await introduce(page, { ...owning, code: stack.ownerCode! }, /owner's account/);
  await expect(page.getByText("No videos yet")).toBeVisible();
});
test.afterAll(() => stack?.stop());

const open = (browser: Browser, path: string, options: Parameters<Browser["newContext"]>[0] = {}) =>
  openAs(browser, path, { baseURL: stack.url, ...options });

/** Sends a file from the library and opens its video's page. */
async function upload(file: string): Promise<string> {
  await page.goto("/");
  await page.locator('input[type="file"]').first().setInputFiles(file);
  const link = page.getByTestId("upload").last().getByRole("link");
  await expect(link).toBeVisible(patiently);
  await link.click();
  await page.waitForURL(/\/videos\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname;
}

const state = () => page.getByTestId("media-status");
const button = (name: string | RegExp) => page.getByRole("button", { name });
const dialog = () => page.getByRole("alertdialog");
const jobOf = (title: string) => page.getByRole("listitem").filter({ hasText: title });

/** No violation, in either theme, with the page as it stands. */
async function checkRules(): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // Colours in the middle of a transition are nobody's.
    await page.evaluate(() =>
      Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))),
    );
    const { violations } = await new AxeBuilder({ page: page as never }).analyze();
    const found = violations.map(({ id, nodes }) => `${page.url()} ${colorScheme} ${id}: ${nodes[0]?.html}`);
    expect(found).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** Presses Tab until the focus is on `name`, as somebody without a mouse does. */
async function tabTo(name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (name.test(focused.trim())) return;
  }
  throw new Error(`Tab never reached ${name}.`);
}

test("J10 X6 by keyboard alone: cancel while it is processed, confirm, and try again", async () => {
  longPath = await upload(longClip());
  await expect(state()).toContainText("Processing", patiently);
  await tabTo(/^Cancel$/);
  await page.keyboard.press("Enter");
  await expect(dialog()).toContainText("The original file stays");
  await expect(button("Go on processing")).toBeFocused();
  await checkRules();
  await tabTo(/^Cancel processing$/);
  await page.keyboard.press("Enter");
  await expect(dialog()).toBeHidden();
  await expect(state()).toContainText("Cancelled", patiently);
  await expect(page.getByText(/Cancelled by you at \d\d:\d\d\./)).toBeVisible();
  await checkRules();
  await tabTo(/^Try again$/);
  await page.keyboard.press("Enter");
  await expect(state()).toContainText(/In line|Starting|Processing/);
  await expect(state()).toContainText("Processing", patiently);
});

test("J8 J10 a waiting video shows its place and is cancelled at once, without a question", async () => {
  shortPath = await upload(shortClip());
  await expect(state()).toContainText("In line: 1st", patiently);
  await button("Cancel").click();
  await expect(state()).toContainText("Cancelled");
  await expect(dialog()).toHaveCount(0);
});

test("X2 J10 the list of jobs shows who works on what, and cancels", async () => {
  await page.goto("/");
  await button(/account of Olive Owner/).click();
  await page.getByRole("menuitem", { name: "Jobs" }).click();
  await page.waitForURL(/\/admin\/jobs$/);
  await expect(page.getByRole("list", { name: "Workers" })).toContainText("1 of 1 worker in use");
  const job = jobOf("long");
  await expect(job.getByTestId("job-status")).toContainText("Processing", patiently);
  await expect(job).toContainText(/Try 2 of 4.*Worker [0-9a-f]{8}.*lease until \d\d:\d\d:\d\d/);
  await job.getByRole("button", { name: "Cancel long" }).click();
  await expect(dialog()).toBeVisible();
  await checkRules();
  await button("Cancel processing").click();
  await expect(page.getByText("No job waits or runs")).toBeVisible(patiently);
  await checkRules();
});

test("J11 an admin tries again from the list, and the video becomes ready and plays", async () => {
  await page.getByRole("link", { name: "Ended" }).click();
  await expect(jobOf("long").getByTestId("job-status")).toContainText("Cancelled");
  await expect(jobOf("short").getByTestId("job-status")).toContainText("Cancelled");
  await checkRules();
  await page.getByRole("button", { name: "Try again short" }).click();
  await expect(page.getByText("“short” is tried again.")).toBeVisible();
  await page.goto(shortPath);
  await expect(page.getByText("Ready · version 1")).toBeVisible(patiently);
  const video = page.locator("video");
  await video.evaluate(async (element: HTMLVideoElement) => {
    element.muted = true;
    await element.play();
  });
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime), patiently)
    .toBeGreaterThan(0.5);
});

test("X1 a failed act says why, and what to do next, where it was asked for", async () => {
  await page.goto(longPath);
  await page.route("**/retry", (route) => route.abort("connectionreset"));
  await button("Try again").click();
  await expect(page.getByRole("alert").filter({ hasText: "The server can't be reached." })).toContainText(
    "unreachable",
  );
  await expect(state()).toContainText("Cancelled");
  await page.unroute("**/retry");
});

test("J10 an admin blocks a video and allows it again", async () => {
  await page.goto(shortPath);
  await button("More about this video").click();
  await page.getByRole("menuitem", { name: "Block…" }).click();
  await checkRules();
  await button("Block the video").click();
  await expect(page.getByText("This video is blocked: nobody can watch it.")).toBeVisible();
  await expect(page.locator("video")).toHaveCount(0);
  await button("Share").click();
  const sharing = page.getByRole("dialog");
  await expect(sharing).toContainText("Nobody can watch it while it is blocked.");
  await expect(sharing).toContainText("Nobody is invited yet.");
  await expect(sharing.getByRole("button", { name: /invit/i })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await button("More about this video").click();
  await page.getByRole("menuitem", { name: "Allow again…" }).click();
  await button("Allow it again").click();
  await expect(page.locator("video")).toBeVisible();
});

test("J10 a deleted video is gone from the library at once, and its address answers 404", async () => {
  await button("More about this video").click();
  await page.getByRole("menuitem", { name: "Delete video…" }).click();
  await expect(dialog()).toContainText("Its address stops working for everyone at once.");
  await checkRules();
  await page.keyboard.press("Escape");
  await expect(button("More about this video")).toBeFocused();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete video…" }).click();
  await button("Delete the video and all its versions").click();
  await page.waitForURL(`${stack.url}/`);
  await expect(page.getByText("“short” was deleted")).toBeVisible();
  await expect(page.getByRole("article", { name: "long" })).toBeVisible();
  await expect(page.getByRole("article", { name: "short" })).toHaveCount(0);
  for (const path of [shortPath, shortPath.replace("/videos/", "/watch/")])
    expect((await page.goto(path))?.status(), path).toBe(404);
  const id = shortPath.split("/").at(-1);
  expect((await page.request.post(`/api/assets/${id}/playback`, { data: {} })).status()).toBe(404);
});

test("U6 a refused upload can be deleted from its own page, and no longer needs anybody", async () => {
  await page.goto("/");
  // A browser without threads can't look for itself, so the server does.
  await page.evaluate("delete globalThis.Worker");
  const zip = {
    name: "holiday.mp4",
    mimeType: "video/mp4",
    buffer: Buffer.from("PK\u0003\u0004 not a film"),
  };
  await page.locator('input[type="file"]').first().setInputFiles(zip);
  await expect(page.getByTestId("upload-status").last()).toContainText("Not accepted", patiently);
  await page.goto("/?filter=needs-you");
  await page.getByRole("link", { name: "holiday" }).click();
  await expect(state()).toContainText("Not accepted");
  await button("Delete video…").click();
  await button("Delete this refused upload").click();
  await page.waitForURL(`${stack.url}/`);
  await page.goto("/?filter=needs-you");
  await expect(page.getByText("Nothing needs you")).toBeVisible();
});
