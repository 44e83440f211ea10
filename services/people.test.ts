import type { Actor } from "@reelkeep/core/access/policy";
import { openDatabase } from "@reelkeep/db/client";
import { travel } from "@reelkeep/db/testing/clock";
import { seedJob } from "@reelkeep/db/testing/seed";
import { listUsers } from "@reelkeep/db/users";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Accounts,
  actorOf,
  createAccount,
  createAccounts,
  createOwner,
  listPeople,
  openSession,
  readSession,
  signIn,
  signOut,
} from "./accounts.ts";
import { grantPlayback } from "./grant-playback.ts";
import {
  acceptInvitation,
  inviteCreator,
  inviteViewer,
  listViewers,
  previewInvitation,
  revokeInvitation,
} from "./invite-people.ts";
import { getAsset, listAssets } from "./list-library.ts";
import { publishVersion } from "./publish-version.ts";
import { setAssetState } from "./set-asset-state.ts";
import { createActor, createTestContext, type TestContext, verifiedOutput } from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let accounts: Accounts;
const ownerCode = "ABCD-EFGH";
const request = { headers: new Headers({ origin: "http://localhost:3000" }) };
const person = (name: string) => ({
  name,
  email: `${name.toLowerCase()}@example.test`,
  password: "correct horse battery",
});
const code = (value: string) => expect.objectContaining({ code: value });

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  accounts = createAccounts({ db: context.db, secret: "s".repeat(32), appUrl: context.appUrl });
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});

const needs = () => ({ db: context.db, accounts, ownerCode });
const cookieOf = (setCookies: string[]) =>
  new Headers({
    cookie: setCookies.map((cookie) => cookie.split(";")[0]).join("; "),
    origin: "http://localhost:3000",
  });

describe("accounts", () => {
  it("X4 the owner's account needs the one-time code, and of eight at once one becomes the owner", async () => {
    const wrong = createOwner(needs(), { ...person("Eve"), code: "WRONG" }, request);
    await expect(wrong).rejects.toEqual(code("owner-code-wrong"));
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        createOwner(needs(), { ...person(`Owner${i}`), code: " abcd-efgh " }, request),
      ),
    );
    const made = tries.filter((result) => result.status === "fulfilled");
    expect(made).toHaveLength(1);
    expect(made[0]!.value.account.role).toBe("admin");
    await expect(createOwner(needs(), { ...person("Late"), code: ownerCode }, request)).rejects.toEqual(
      code("owner-exists"),
    );
    expect(await readSession(accounts, cookieOf(made[0]!.value.setCookies))).toEqual(made[0]!.value.account);
    expect((await listUsers(context.db)).map(({ user }) => user.email)).toEqual([
      made[0]!.value.account.email,
    ]);
  });

  it("X4 signing in sets a session that reads back, and signing out ends it", async () => {
    await createAccount(needs(), person("Sam"));
    const { account, setCookies } = await signIn(needs(), person("Sam"), request);
    expect(setCookies.join()).toMatch(/HttpOnly/i);
    expect(await readSession(accounts, cookieOf(setCookies))).toEqual(account);
    await signOut(accounts, cookieOf(setCookies));
    expect(await readSession(accounts, cookieOf(setCookies))).toBeNull();
    expect(await readSession(accounts, new Headers())).toBeNull();
  });

  it("X4 a program, which sends no Origin, signs out as well, and in again over an old cookie", async () => {
    const { setCookies } = await signIn(needs(), person("Sam"), { headers: new Headers() });
    const headers = cookieOf(setCookies);
    headers.delete("origin");
    expect((await signIn(needs(), person("Sam"), { headers })).account.name).toBe("Sam");
    expect((await signOut(accounts, headers)).join()).toMatch(/Max-Age=0/i);
    expect(await readSession(accounts, headers)).toBeNull();
  });

  it("X4 a fault of the database is no wrong password, no taken address and no end of a session", async () => {
    const away = openDatabase("postgresql://nobody@127.0.0.1:1/nothing");
    const broken = {
      db: away.db,
      accounts: createAccounts({ db: away.db, secret: "s".repeat(32), appUrl: context.appUrl }),
    };
    const { setCookies } = await signIn(needs(), person("Sam"), request);
    try {
      await expect(signIn(broken, person("Sam"), request)).rejects.toEqual(code("internal"));
      await expect(createAccount(broken, person("Nora"))).rejects.not.toEqual(code("email-taken"));
      await expect(signOut(broken.accounts, cookieOf(setCookies))).rejects.toThrow();
    } finally {
      await away.close();
    }
  });

  it("X4 an account and its password are made together or not at all", async () => {
    const claim = async () => {
      throw new Error("the claim was lost");
    };
    await expect(createAccount(needs(), person("Half"), claim)).rejects.toThrow("the claim was lost");
    await createAccount(needs(), person("Half"));
    expect((await signIn(needs(), person("Half"), request)).account.name).toBe("Half");
  });

  it("X4 a wrong password and an unknown address answer the same", async () => {
    for (const credentials of [{ ...person("Sam"), password: "not this one" }, person("Nobody")])
      await expect(signIn(needs(), credentials, request)).rejects.toEqual(code("sign-in-failed"));
  });

  it("X4 an address has one account", async () => {
    await expect(createAccount(needs(), person("Sam"))).rejects.toEqual(code("email-taken"));
  });

  it("X4 nobody can sign up, or give themselves a role, by better-auth's own calls", async () => {
    const signUp = accounts.api.signUpEmail({ body: { ...person("Mallory") } });
    await expect(signUp).rejects.toThrow();
    const { setCookies, account } = await signIn(needs(), person("Sam"), request);
    const update = { role: "admin", isOwner: true, name: "Sam" } as never;
    await accounts.api.updateUser({ body: update, headers: cookieOf(setCookies) }).catch(() => {});
    expect((await readSession(accounts, cookieOf(setCookies)))?.role).toBe(account.role);
  });
});

describe("invitations", () => {
  let creator: Actor;
  let assetId: string;
  beforeAll(async () => {
    creator = await createActor(context);
    const seeded = await seedJob(context.db, "job-received", { userId: creator.userId });
    assetId = seeded.assetId;
    await publishVersion(
      context,
      { actionKey: seeded.job.actionKey, attemptId: seeded.attempt!.id },
      verifiedOutput,
    );
  });
  const tokenOf = (url: string) => url.split("/").at(-1)!;
  const noSignUp = async () => {
    throw new Error("nobody signs up here");
  };
  const newViewer = (name: string) => createAccount(needs(), person(name));

  it("X4 D5 an invited person watches that video, in their library too; before it and after revoking there is nothing", async () => {
    const viewer = await newViewer("Vera");
    const actor = actorOf(viewer);
    await expect(grantPlayback(context, actor, assetId)).rejects.toEqual(code("not-found"));
    await expect(getAsset(context, actor, assetId)).rejects.toEqual(code("not-found"));
    const { invitation, url } = await inviteViewer(context, creator, assetId, {});
    expect(url.startsWith(`${context.appUrl}/invite/`)).toBe(true);
    expect(await previewInvitation(context, tokenOf(url), null)).toMatchObject({ assetTitle: "A film" });
    await acceptInvitation(context, { token: tokenOf(url) }, viewer, noSignUp);

    const { grant, cookies } = await grantPlayback(context, actor, assetId);
    expect(grant.manifestUrl).toMatch(/attempt-1\/master\.m3u8$/);
    expect(new Set(cookies.map(({ path }) => path))).toEqual(
      new Set([new URL(grant.manifestUrl).pathname.replace("master.m3u8", "")]),
    );
    const library = await listAssets(context, actor, { filter: "all", q: "" });
    expect(library.assets.map(({ id, access }) => [id, access])).toEqual([[assetId, "invited"]]);
    expect(library.assets[0]).toMatchObject({ latest: null });

    await revokeInvitation(context, creator, invitation.id);
    await expect(grantPlayback(context, actor, assetId)).rejects.toEqual(code("not-found"));
    expect((await listAssets(context, actor, { filter: "all", q: "" })).assets).toEqual([]);
    expect((await listViewers(context, creator, assetId)).map(({ state }) => state)).toContain("revoked");
  });

  it("X4 one invitation lets one person in; the second, and a guess, are refused", async () => {
    const [first, second] = [await newViewer("First"), await newViewer("Second")];
    const { url } = await inviteViewer(context, creator, assetId, {});
    const accept = (account: typeof first) =>
      acceptInvitation(context, { token: tokenOf(url) }, account, noSignUp);
    await accept(first);
    await accept(first);
    await expect(accept(second)).rejects.toEqual(code("invitation-invalid"));
    expect(await previewInvitation(context, tokenOf(url), null)).toBeNull();
    expect(await previewInvitation(context, tokenOf(url), first.id)).not.toBeNull();
    const guess = acceptInvitation(context, { token: "a".repeat(32) }, second, noSignUp);
    await expect(guess).rejects.toEqual(code("invitation-invalid"));
  });

  it("X4 of five new people at once on one link, one has an account, and the others can still have one", async () => {
    const { url } = await inviteViewer(context, creator, assetId, {});
    const people = Array.from({ length: 5 }, (_, i) => person(`Guest${i}`));
    const tries = await Promise.allSettled(
      people.map((account) =>
        acceptInvitation(context, { token: tokenOf(url), account }, null, (one, claim) =>
          createAccount(needs(), one, claim),
        ),
      ),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const [i, result] of tries.entries())
      if (result.status === "rejected") {
        expect(result.reason).toEqual(code("invitation-invalid"));
        await createAccount(needs(), people[i]!);
      }
  });

  it("X4 whoever makes an account is signed in, however many have guessed passwords from there", async () => {
    const headers = new Headers({ "x-forwarded-for": "203.0.113.50" });
    const guess = () => signIn(needs(), person("Nobody"), { headers });
    for (let i = 0; i < 10; i++) await expect(guess()).rejects.toEqual(code("sign-in-failed"));
    await expect(guess()).rejects.toEqual(code("rate-limited"));
    const account = await createAccount(needs(), person("Gail"));
    const setCookies = await openSession(accounts, person("Gail"), { headers });
    expect(await readSession(accounts, cookieOf(setCookies))).toEqual(account);
  });

  it("X4 an invitation that has made a creator can't be taken back, and says so; an open one can, twice", async () => {
    const admin = await createActor(context, "admin");
    const open = await inviteCreator(context, admin, {});
    await revokeInvitation(context, admin, open.invitation.id);
    await revokeInvitation(context, admin, open.invitation.id);
    const { invitation, url } = await inviteCreator(context, admin, {});
    await acceptInvitation(context, { token: tokenOf(url) }, await newViewer("Cora"), noSignUp);
    await expect(revokeInvitation(context, admin, invitation.id)).rejects.toEqual(code("conflict"));
    const { invitations } = await listPeople(context, admin);
    expect(invitations.find(({ id }) => id === invitation.id)?.state).toBe("accepted");
  });

  it("X4 an invitation for an address is that person's alone, and ends after two weeks", async () => {
    const anna = await newViewer("Anna");
    const { url } = await inviteViewer(context, creator, assetId, { email: "bert@example.test" });
    const accept = () => acceptInvitation(context, { token: tokenOf(url) }, anna, noSignUp);
    await expect(accept()).rejects.toEqual(code("invitation-invalid"));
    const late = await inviteViewer(context, creator, assetId, {});
    await travel(context.db, 15 * 24 * 3600);
    try {
      const tooLate = acceptInvitation(context, { token: tokenOf(late.url) }, anna, noSignUp);
      await expect(tooLate).rejects.toEqual(code("invitation-expired"));
    } finally {
      await travel(context.db, 0);
    }
  });

  it("X4 P1 while a video is blocked its invitations show nothing and let nobody in, and can still be seen and revoked", async () => {
    const admin = await createActor(context, "admin");
    const { url, invitation } = await inviteViewer(context, creator, assetId, {});
    const dora = await newViewer("Dora");
    await setAssetState(context, admin, assetId, "block");
    try {
      expect(await previewInvitation(context, tokenOf(url), null)).toBeNull();
      await expect(acceptInvitation(context, { token: tokenOf(url) }, dora, noSignUp)).rejects.toEqual(
        code("invitation-invalid"),
      );
      await expect(inviteViewer(context, creator, assetId, {})).rejects.toEqual(code("forbidden"));
      await revokeInvitation(context, creator, invitation.id);
      const viewers = await listViewers(context, creator, assetId);
      expect(viewers.find(({ id }) => id === invitation.id)?.state).toBe("revoked");
    } finally {
      await setAssetState(context, admin, assetId, "unblock");
    }
  });

  it("X4 only its owner and admins share a video; only admins invite creators and see people", async () => {
    const stranger = await createActor(context);
    const admin = await createActor(context, "admin");
    await expect(inviteViewer(context, stranger, assetId, {})).rejects.toEqual(code("not-found"));
    await inviteViewer(context, admin, assetId, {});
    await expect(inviteCreator(context, creator, {})).rejects.toEqual(code("forbidden"));
    await expect(listPeople(context, creator)).rejects.toEqual(code("forbidden"));
    const { url } = await inviteCreator(context, admin, {});
    const carl = await newViewer("Carl");
    const accepted = await acceptInvitation(context, { token: tokenOf(url) }, carl, noSignUp);
    expect(accepted.account.role).toBe("creator");
    const { people } = await listPeople(context, admin);
    expect(people.find(({ id }) => id === carl.id)?.role).toBe("creator");
  });
});
