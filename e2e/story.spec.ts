import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "playwright/test";
import { makeVideo, realVideo } from "./media.ts";
import { introduce, openAs, stack } from "./people.ts";

/** The main job, told once from the first start to a stranger who is refused. */
test.describe.configure({ mode: "serial" });

let owner: Page;
let viewer: Page;
/** The first video's page, `/videos/{id}`. */
let videoPath: string;
let longVideoPath: string;
const idOf = (path: string) => path.split("/").at(-1)!;

const owning = { name: "Olive Owner", email: "olive@example.test" };

/** Plays what is in the player, muted, and waits until the picture moves. */
async function play(page: Page): Promise<void> {
  const video = page.locator("video");
  await expect(video).toBeVisible();
  await video.evaluate(async (element: HTMLVideoElement) => {
    element.muted = true;
    await element.play();
  });
  await advances(page, 0.5);
}

const currentTime = (page: Page) =>
  page.locator("video").evaluate((element: HTMLVideoElement) => element.currentTime);

async function advances(page: Page, beyondSeconds: number): Promise<void> {
  await expect.poll(() => currentTime(page), { timeout: 60_000 }).toBeGreaterThan(beyondSeconds);
}

/** Chooses a file as a person does and waits until its row says that the video is ready. */
async function upload(page: Page, file: string | { name: string; mimeType: string; buffer: Buffer }) {
  await page.locator('input[type="file"]').first().setInputFiles(file);
  return page.getByTestId("upload").last();
}

async function openReadyVideo(page: Page, row: Awaited<ReturnType<typeof upload>>): Promise<string> {
  await expect(row.getByTestId("upload-status")).toContainText("Ready", { timeout: 90_000 });
  await row.getByRole("link").click();
  await page.waitForURL(/\/videos\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname;
}

test("X4 the first start leads to the owner's account, which needs the one-time code", async ({
  browser,
}) => {
  owner = await openAs(browser, "/");
  await owner.waitForURL(/\/welcome$/);
  await introduce(owner, { ...owning, code: "WRONG-CODE" }, /owner's account/);
  await expect(owner.getByText("That isn't the one-time code.")).toBeVisible();
  await introduce(owner, { ...owning, code: stack.ownerCode }, /owner's account/);
  await expect(owner.getByText("No videos yet")).toBeVisible();
});

test("X1 an empty library offers a sample clip, which goes the way of every video", async () => {
  await owner.getByRole("button", { name: "Use the sample clip" }).click();
  const row = owner.getByTestId("upload").last();
  await expect(row.getByTestId("upload-status")).toContainText("Ready", { timeout: 90_000 });
  await expect(owner.getByRole("link", { name: /Sample clip/ }).first()).toBeVisible();
});

test("U3 U8 M3 a real file goes up in one piece, shows its progress and becomes Ready", async () => {
  const row = await upload(owner, realVideo());
  videoPath = await openReadyVideo(owner, row);
  await expect(owner.getByText(/version 1/i).first()).toBeVisible();
});

test("U8 a status that hasn't changed is a 304 without a body, and nobody else's business", async ({
  browser,
}) => {
  const asset = await (await owner.request.get(`/api/assets/${idOf(videoPath)}`)).json();
  const path = `/api/media/${asset.latest.actionKey}`;
  const first = await owner.request.get(path);
  expect(await first.json()).toMatchObject({
    status: "processing-completed",
    playback: { versionNumber: 1 },
  });
  const again = await owner.request.get(path, { headers: { "if-none-match": first.headers().etag! } });
  expect([again.status(), (await again.body()).length]).toEqual([304, 0]);
  const nobody = await browser.newContext({ baseURL: stack.url });
  expect((await nobody.request.get(path)).status()).toBe(401);
});

test("D2 D3 X3 it plays through signed cookies: the picture moves, no fatal error", async () => {
  const refused: string[] = [];
  owner.on("response", (response) => {
    if (response.url().startsWith(stack.mediaUrl) && response.status() >= 400) refused.push(response.url());
  });
  await owner.goto(videoPath);
  await play(owner);
  expect(refused).toEqual([]);
  await expect(owner.getByTestId("player").getByRole("alert")).toHaveCount(0);
});

test("U2 U3 a large file goes up in parts, straight to storage, and becomes Ready", async () => {
  const sent: string[] = [];
  owner.on("request", (request) => {
    if (request.method() === "PUT" && request.url().startsWith(stack.storageUrl)) sent.push(request.url());
  });
  await owner.goto("/");
  const row = await upload(owner, makeVideo("large.mp4", 32, { bitsPerSecond: 3_000_000 }));
  longVideoPath = await openReadyVideo(owner, row);
  expect(sent.filter((url) => new URL(url).searchParams.has("partNumber")).length).toBeGreaterThan(1);
});

test("U6 a ZIP archive named .mp4 is refused with a sentence, and nothing is processed", async () => {
  await owner.goto("/");
  const zip = {
    name: "holiday.mp4",
    mimeType: "video/mp4",
    buffer: Buffer.from("PK\u0003\u0004 not a film"),
  };
  const row = await upload(owner, zip);
  await expect(row.getByTestId("upload-status")).toContainText("Not accepted", { timeout: 30_000 });
  await expect(row).toContainText("It looks like a ZIP archive");
  await expect(row).toContainText("not-a-video");
});

test("X4 D4 the owner invites one person, who watches just that video; everybody else finds nothing", async ({
  browser,
}) => {
  await owner.goto(videoPath);
  await owner.getByRole("button", { name: "Share" }).click();
  await owner.getByRole("button", { name: /invitation link/ }).click();
  const link = await owner.getByLabel("Invitation link, shown this once").inputValue();

  viewer = await openAs(browser, link);
  await introduce(viewer, { name: "Vera Viewer", email: "vera@example.test" }, /make an account/i);
  await viewer.waitForURL(/\/watch\//);
  await play(viewer);

  const other = await viewer.request.post(`/api/assets/${idOf(longVideoPath)}/playback`, { data: {} });
  expect(other.status()).toBe(404);
  for (const path of [longVideoPath.replace("/videos/", "/watch/"), longVideoPath, "/watch/nothing"]) {
    expect((await viewer.goto(path))?.status(), path).toBe(404);
    await expect(viewer.locator("video")).toHaveCount(0);
  }

  const stranger = await openAs(browser, videoPath);
  await stranger.waitForURL(/\/sign-in/);
  const nobody = await stranger.request.post(`/api/assets/${idOf(videoPath)}/playback`, { data: {} });
  expect(nobody.status()).toBe(401);
  const second = await openAs(browser, link);
  await expect(second.getByText("This invitation isn't valid.")).toBeVisible();
});

test("D2 D4 without a cookie, and with another video's, playlists and segments are refused alike", async ({
  browser,
}) => {
  const grant = await (
    await owner.request.post(`/api/assets/${idOf(videoPath)}/playback`, { data: {} })
  ).json();
  const playlist = new URL("240p/playlist.m3u8", grant.manifestUrl).href;
  const segment = new URL("240p/segment_00001.ts", grant.manifestUrl).href;
  for (const url of [grant.manifestUrl, playlist, segment]) {
    expect((await owner.request.get(url)).status(), url).toBe(200);
    const bare = await browser.newContext();
    expect((await bare.request.get(url)).status(), url).toBe(403);
    await bare.close();
  }
  const cookies = (await owner.context().cookies(grant.manifestUrl)).filter(({ name }) =>
    name.startsWith("CloudFront"),
  );
  const header = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const other = await (
    await owner.request.post(`/api/assets/${idOf(longVideoPath)}/playback`, { data: {} })
  ).json();
  const stolen = await browser.newContext({ extraHTTPHeaders: { cookie: header } });
  expect((await stolen.request.get(grant.manifestUrl)).status()).toBe(200);
  for (const url of [other.manifestUrl, new URL("240p/segment_00001.ts", other.manifestUrl).href])
    expect((await stolen.request.get(url)).status(), url).toBe(403);
  const forged = header.replace(/CloudFront-Policy=[^;]*/, (pair) => `${pair.slice(0, -4)}AAA_`);
  const forger = await browser.newContext({ extraHTTPHeaders: { cookie: forged } });
  expect((await forger.request.get(grant.manifestUrl)).status()).toBe(403);
});

test("D2 D3 the same page plays on after its first cookies' end, because it renews", async () => {
  await owner.goto(longVideoPath.replace("/videos/", "/watch/"));
  await play(owner);
  // The stack of this run grants ten seconds at a time; this film is three times as long.
  await advances(owner, 25);
  await expect(owner.getByTestId("player").getByRole("alert")).toHaveCount(0);
});

test("D3 a viewer whose invitation was revoked can't go on", async () => {
  await owner.goto(videoPath);
  await owner.getByRole("button", { name: "Share" }).click();
  await owner
    .getByRole("button", { name: /revoke|remove|end/i })
    .first()
    .click();
  await expect
    .poll(async () =>
      (await viewer.request.post(`/api/assets/${idOf(videoPath)}/playback`, { data: {} })).status(),
    )
    .toBe(404);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`X6 no page breaks an axe rule (${colorScheme})`, async ({ browser }) => {
    const state = await owner.context().storageState();
    const page = await openAs(browser, "/", { colorScheme, storageState: state });
    const signedOut = await openAs(browser, "/sign-in", { colorScheme });
    const check = async (where: Page) => {
      await where.waitForLoadState("networkidle");
      const { violations } = await new AxeBuilder({ page: where as never }).analyze();
      expect(violations.map(({ id, nodes }) => `${where.url()} ${id}: ${nodes[0]?.html}`)).toEqual([]);
    };
    await check(signedOut);
    for (const path of ["/", videoPath, "/admin/people", "/account", "/nowhere"]) {
      await page.goto(path);
      await check(page);
    }
    await page.context().close();
  });
