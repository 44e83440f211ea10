import type { Browser, Page } from "playwright/test";

/** Where the stack of this run is; local/testing/browser-setup.ts tells it. */
export const stack = JSON.parse(process.env.REELKEEP_TEST_STACK ?? "{}") as {
  readonly url: string;
  readonly mediaUrl: string;
  readonly storageUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly ownerCode: string;
};

export const password = "correct horse battery";

/** A person with a browser of their own, on the page `path`. */
export async function openAs(
  browser: Browser,
  path = "/",
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Page> {
  const context = await browser.newContext({ baseURL: stack.url, ...options });
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

/** Fills the form that asks who one is, and sends it. */
export async function introduce(
  page: Page,
  person: { code?: string; name?: string; email: string },
  submit: RegExp,
) {
  if (person.code) await page.getByLabel("One-time code").fill(person.code);
  if (person.name) await page.getByLabel("Your name").fill(person.name);
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: submit }).click();
}
