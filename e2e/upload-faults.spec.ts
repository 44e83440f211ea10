import { type Cookie, expect, type Page, type Route, test } from "playwright/test";
import { makeLongVideo, makeSound, makeVideo, writeHostile, writeText } from "./media.ts";
import { introduce, openAs, stack } from "./people.ts";

/** What people meet between the first byte and the last: each fault ends in a video, or in nothing at all. */
const person = { name: "Olive Owner", email: "olive@example.test" };
const threeParts = () => makeVideo("three-parts.mp4", 36, { bitsPerSecond: 3_000_000 });
const onePiece = () => makeVideo("one-piece.mp4", 6);

let page: Page;
/** The first test's cookies, for the others: signing in anew for each would be too often in a short time. */
let cookies: Cookie[] | undefined;

test.beforeEach(async ({ browser }) => {
  page = await openAs(browser, "/", cookies ? { storageState: { cookies, origins: [] } } : {});
  if (!cookies) {
    await page.waitForURL(/\/(welcome|sign-in)/);
    if (page.url().includes("/welcome"))
      await introduce(page, { ...person, code: stack.ownerCode }, /owner's account/);
    else await introduce(page, { email: person.email }, /sign in/i);
  }
  await expect(page.getByRole("navigation", { name: "Filter" })).toBeVisible();
  cookies ??= await page.context().cookies();
});
test.afterEach(() => page.context().close());

const row = () => page.getByTestId("upload").last();
const status = () => row().getByTestId("upload-status");
const choose = (file: string) => page.locator('input[type="file"]').first().setInputFiles(file);
const arrives = () =>
  expect(status()).toContainText(/In line|Starting|Processing|Ready/, { timeout: 60_000 });

const isPart = (route: Route, partNumber: number) =>
  route.request().method() === "PUT" &&
  new URL(route.request().url()).searchParams.get("partNumber") === String(partNumber);

/** Does `fault` to the first request to storage that `matches`, and answers which parts were sent how often. */
async function faultOnce(matches: (route: Route) => boolean, fault: (route: Route) => Promise<unknown>) {
  const sent: number[] = [];
  let done = false;
  await page.route(`${stack.storageUrl}/**`, async (route) => {
    const partNumber = Number(new URL(route.request().url()).searchParams.get("partNumber"));
    if (partNumber && route.request().method() === "PUT") sent.push(partNumber);
    if (done || !matches(route)) return route.continue();
    done = true;
    await fault(route);
  });
  return sent;
}

/** Keeps every second part back until it is let go, so that a test can act in the middle of a file. */
async function holdSecondPart() {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(`${stack.storageUrl}/**`, async (route) => {
    if (isPart(route, 2)) await gate;
    await route.continue().catch(() => {});
  });
  return letGo;
}

test("U2 after a 403 the file is signed again and goes on with the refused part", async () => {
  const sent = await faultOnce(
    (route) => isPart(route, 2),
    (route) => route.fulfill({ status: 403 }),
  );
  await choose(threeParts());
  await arrives();
  expect(sent).toEqual([1, 2, 2, 3]);
});

test("U3 an answer that is lost after the last byte is no failure: the server decides", async () => {
  await faultOnce(
    (route) => route.request().method() === "PUT",
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    },
  );
  await choose(onePiece());
  await arrives();
});

test("U3 a lost connection is waited for in words, and the upload goes on by itself", async () => {
  const letGo = await holdSecondPart();
  await choose(threeParts());
  await expect(status()).toContainText("Uploading");
  await page.context().setOffline(true);
  await expect(status()).toContainText("Waiting for your connection");
  await expect(row()).toContainText("Nothing is lost");
  letGo();
  await page.context().setOffline(false);
  await arrives();
});

test("U3 after a reload the same file, chosen again, goes on where it stopped, with its title", async () => {
  await holdSecondPart();
  await choose(threeParts());
  await row()
    .getByRole("button", { name: /^Title and description/ })
    .click();
  await row().getByLabel("Title", { exact: true }).fill("Typed before the crash");
  await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage))).toContain("uploadId");
  await expect(status()).toContainText(/Uploading [1-9]/);
  page.on("dialog", (dialog) => dialog.accept());
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.reload();
  await expect(status()).toContainText("Interrupted");
  const sent = await faultOnce(
    () => false,
    (route) => route.continue(),
  );
  await page.getByLabel(/^Choose three-parts.mp4 again/).setInputFiles(threeParts());
  await arrives();
  expect(sent).not.toContain(1);
  await expect(row()).toContainText("Typed before the crash");
});

test("U3 a paused upload sends nothing until it is resumed", async () => {
  const letGo = await holdSecondPart();
  await choose(threeParts());
  await expect(status()).toContainText(/Uploading [1-9]/);
  await row()
    .getByRole("button", { name: /^Pause/ })
    .click();
  await expect(status()).toContainText("Paused");
  letGo();
  await row()
    .getByRole("button", { name: /^Resume/ })
    .click();
  await arrives();
});

test("U3 U7 a cancelled upload leaves the list, and the server gives it up", async () => {
  await holdSecondPart();
  const answered = page.waitForResponse(
    (response) => response.request().method() === "DELETE" && response.url().includes("/api/media/"),
  );
  await choose(threeParts());
  await expect(status()).toContainText(/Uploading [1-9]/);
  await row()
    .getByRole("button", { name: /^Cancel/ })
    .click();
  expect((await answered).status()).toBe(204);
  await expect(page.getByTestId("upload")).toHaveCount(0);
});

/** Whatever is said to the server about uploads from now on. */
function watchAnnouncements(): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/media/upload")) asked.push(request.method());
  });
  return asked;
}

for (const { what, file, code } of [
  { what: "a text that is named .mp4", file: () => writeText("notes.mp4"), code: "not-a-video" },
  { what: "an MP4 with sound alone", file: () => makeSound("sound.mp4"), code: "no-video-track" },
  { what: "a video of 13 hours", file: () => makeLongVideo("long.mp4"), code: "video-too-long" },
])
  test(`U4 ${what} is refused by what it holds, before the server hears of it`, async () => {
    const asked = watchAnnouncements();
    await choose(file());
    await expect(status()).toContainText("Not accepted");
    await expect(row()).toContainText(code);
    await expect(row().getByRole("button", { name: "Choose another file" })).toBeVisible();
    expect(asked).toEqual([]);
  });

test("U4 a video that the browser has looked into is sent, beside one that it has refused", async () => {
  const asked = watchAnnouncements();
  await page
    .locator('input[type="file"]')
    .first()
    .setInputFiles([writeText("notes.mp4"), onePiece()]);
  await arrives();
  await expect(page.getByTestId("upload").first()).toContainText("not-a-video");
  expect(asked).toEqual(["POST"]);
});

test("U4 a file on which the look would work for ever is left to the server, and the page goes on meanwhile", async () => {
  const asked = watchAnnouncements();
  await choose(writeHostile("endless.mp4"));
  await expect(status()).toContainText("Looking at the file");
  await row()
    .getByRole("button", { name: /^Title/ })
    .click();
  await row().getByLabel("Title", { exact: true }).fill("Typed meanwhile");
  await expect(row().locator("p").first()).toHaveText("Typed meanwhile");
  expect(asked).toEqual([]);
  await expect.poll(() => asked).toEqual(["POST"]);
});
