import { startTestStack } from "@reelkeep/local/testing/stack";
import { expect, type Page, test } from "playwright/test";
import { makeVideo } from "./media.ts";
import { introduce, password } from "./people.ts";
import { memoryBytes, treeOf } from "./processes.ts";

/** `npm start`'s own stack, as a person's machine treats it. Processes are counted as Linux tells them. */
test.skip(process.platform !== "linux", "reads /proc");

const owner = { name: "Olive Owner", email: "olive@example.test" };
const sizes = { MULTIPART_THRESHOLD_BYTES: "104857600", LEASE_SECONDS: "6", RETRY_BACKOFF_SECONDS: "1" };

async function signUp(page: Page, stack: { url: string; ownerCode: string | null }): Promise<void> {
  await page.goto(`${stack.url}/welcome`);
  await introduce(page, { ...owner, code: stack.ownerCode! }, /owner's account/);
  await expect(page.getByText("No videos yet")).toBeVisible();
}

test("J6 U3 after kill -9 of the whole tree in the middle of the work, the next start goes on with all data", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const first = await startTestStack({ env: sizes });
  await signUp(page, first);
  const film = makeVideo("killed.mp4", 60, { size: "1280x720", bitsPerSecond: 1_000_000 });
  await page.locator('input[type="file"]').first().setInputFiles(film);
  const row = page.getByTestId("upload").last();
  await expect(row.getByTestId("upload-status")).toContainText("Processing", { timeout: 60_000 });
  for (const pid of treeOf(first.supervisor.pid!)) process.kill(pid, "SIGKILL");

  const second = await startTestStack({ dataDir: first.dataDir, env: sizes });
  try {
    expect(second.ownerCode).toBeNull();
    const signIn = await page.request.post(`${second.url}/api/session`, {
      data: { email: owner.email, password },
    });
    expect(signIn.status()).toBe(200);
    const library = async () => (await (await page.request.get(`${second.url}/api/assets`)).json()).assets;
    await expect
      .poll(
        async () => (await library()).map((asset: { latest: { status: string } }) => asset.latest.status),
        {
          timeout: 180_000,
        },
      )
      .toEqual(["processing-completed"]);
  } finally {
    await second.stop();
  }
});

test("the stack at rest takes less than 700 MB", async ({ page }) => {
  const stack = await startTestStack({ env: sizes });
  try {
    await signUp(page, stack);
    const tree = treeOf(stack.supervisor.pid!);
    const bytes = tree.reduce((sum, pid) => sum + memoryBytes(pid), 0);
    expect(tree.length).toBeGreaterThan(4);
    expect(bytes).toBeLessThan(700_000_000);
  } finally {
    await stack.stop();
  }
});
