import { Library } from "@reelkeep/components/library/library";
import { mayDo } from "@reelkeep/core/access/policy";
import type { Metadata } from "next";
import { requireAccount } from "../require-account.ts";

export const metadata: Metadata = { title: "Library" };

export default async function LibraryPage() {
  const account = await requireAccount("/");
  return <Library mayUpload={mayDo({ userId: account.id, role: account.role }, "create-asset")} />;
}
