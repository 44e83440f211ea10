import AxeBuilder from "@axe-core/playwright";
import { startTestStack, type TestStack } from "@reelkeep/local/testing/stack";
import { expect, type Page, test } from "playwright/test";
import { makeBilingualFilm } from "./media.ts";
import { introduce, openAs } from "./people.ts";

/** What a film offers its creator: seen while it is made, with its sounds, its words and its pictures. */
test.describe.configure({ mode: "serial", timeout: 240_000 });

let stack: TestStack;
let page: Page;
const patiently = { timeout: 180_000 };

test.beforeAll(async ({ browser }) => {
  stack = await startTestStack({ env: { WORKERS_MAX: "1" } });
  page = await openAs(browser, "/", { baseURL: stack.url });
  await page.waitForURL(/\/welcome$/);
  const owner = { name: "Olive Owner", email: "olive@example.test", code: stack.ownerCode! };
  await introduce(page, owner, /owner's account/);
  await expect(page.getByText("No videos yet")).toBeVisible();
});
test.afterAll(() => stack?.stop());

const video = () => page.locator("video");
const currentTime = () => video().evaluate((element: HTMLVideoElement) => element.currentTime);
async function play(): Promise<void> {
  await video().evaluate(async (element: HTMLVideoElement) => {
    element.muted = true;
    await element.play();
  });
}

test("M10 its first part plays on its page while the rest is still being made", async () => {
  await page.locator('input[type="file"]').first().setInputFiles(makeBilingualFilm("film.mkv"));
  const link = page.getByTestId("upload").last().getByRole("link");
  await expect(link).toBeVisible(patiently);
  await link.click();
  await page.waitForURL(/\/videos\/[0-9a-f-]{36}$/);
  await expect(page.getByTestId("film-preview")).toBeVisible(patiently);
  await expect(page.getByTestId("film-preview")).toContainText("A preview of what is ready");
  await play();
  await expect.poll(currentTime, patiently).toBeGreaterThan(0.5);
  // It began at the beginning, and isn't the published film.
  expect(await currentTime()).toBeLessThan(10);
  await expect(page.getByTestId("media-status")).toContainText("Processing");
});

test("M10 P2 the published film takes its place, and goes on from there", async () => {
  await expect(page.getByTestId("film-preview")).toHaveCount(0, patiently);
  await expect(video()).toBeVisible(patiently);
  await play();
  await expect.poll(currentTime, patiently).toBeGreaterThan(0.5);
});

test("M3 hls.js plays it to its end", async () => {
  await video().evaluate((element: HTMLVideoElement) => {
    element.currentTime = element.duration - 3;
  });
  await play();
  await expect
    .poll(() => video().evaluate((element: HTMLVideoElement) => element.ended), patiently)
    .toBe(true);
  expect(Math.abs((await currentTime()) - 40)).toBeLessThan(0.5);
});

test("M4 X3 its languages can be chosen, and its captions", async () => {
  const player = page.getByTestId("player");
  await player.hover();
  const tracks = () =>
    video().evaluate((element) => {
      const { audioTracks } = element as unknown as {
        audioTracks: Iterable<{ label: string; enabled: boolean }>;
      };
      return [...audioTracks].map(({ label, enabled }) => [label, enabled]);
    });
  expect(await tracks()).toEqual([
    ["English", true],
    ["German", false],
  ]);
  await player.locator("media-audio-track-menu-button").click();
  await player.locator("media-audio-track-menu").getByText("German").click();
  await expect.poll(tracks).toEqual([
    ["English", false],
    ["German", true],
  ]);
  await player.locator("media-captions-menu-button").click();
  await player.locator("media-captions-menu").getByText("French").click();
  await video().evaluate((element: HTMLVideoElement) => {
    element.currentTime = 10;
  });
  const shown = () =>
    video().evaluate((element: HTMLVideoElement) =>
      [...element.textTracks]
        .filter(({ kind, mode }) => kind === "subtitles" && mode === "showing")
        .flatMap(({ activeCues }) => [...(activeCues ?? [])].map((cue) => (cue as VTTCue).text)),
    );
  await expect.poll(shown, patiently).toEqual(["Words below the film"]);
});

test("M11 X3 a picture of the film shows over the time line", async () => {
  const range = page.getByTestId("player").locator("media-time-range");
  await range.hover();
  const image = page.getByTestId("player").locator("media-preview-thumbnail[slot=preview] img");
  await expect
    .poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth))
    .toBeGreaterThan(1000);
});

test("M11 one of three pictures is chosen to stand for it, by keyboard", async () => {
  await page.reload();
  const choices = page.getByRole("radio", { name: /Picture \d of 3/ });
  await expect(choices).toHaveCount(3);
  await expect(choices.first()).toBeChecked();
  await choices.first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(choices.nth(1)).toBeChecked();
  await expect.poll(() => video().getAttribute("poster")).toMatch(/poster-2\.jpg/);
  await page.goto("/");
  await expect(page.locator('img[src*="poster-2.jpg"]').first()).toBeVisible();
  await page.goBack();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(choices).toHaveCount(3);
    const { violations } = await new AxeBuilder({ page }).exclude("media-controller").analyze();
    expect(violations.map(({ id }) => id)).toEqual([]);
  }
});
