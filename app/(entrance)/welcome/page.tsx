import { EntranceHeading } from "@reelkeep/components/account/entrance-heading";
import { WelcomeForm } from "@reelkeep/components/account/welcome-form";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { ownerExists } from "../../server/context.ts";

export const metadata: Metadata = { title: "Welcome" };

export default async function WelcomePage() {
  if (await ownerExists()) redirect("/");
  return (
    <>
      <EntranceHeading title="Welcome to Reelkeep">
        Make the owner’s account. You can invite everyone else from inside.
      </EntranceHeading>
      <WelcomeForm />
    </>
  );
}
