import { EntranceHeading } from "@reelkeep/components/account/entrance-heading";
import { SignInForm } from "@reelkeep/components/account/sign-in-form";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { safeReturnPath } from "../../return-path.ts";
import { currentAccount, ownerExists } from "../../server/context.ts";

export const metadata: Metadata = { title: "Sign in" };

export default async function SignInPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const returnPath = safeReturnPath((await searchParams).next);
  if (await currentAccount()) redirect(returnPath);
  if (!(await ownerExists())) redirect("/welcome");
  return (
    <>
      <EntranceHeading title="Sign in">Accounts are by invitation. Ask the owner for one.</EntranceHeading>
      <SignInForm returnPath={returnPath} />
    </>
  );
}
