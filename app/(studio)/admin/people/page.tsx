import { People } from "@reelkeep/components/admin/people";
import { mayDo } from "@reelkeep/core/access/policy";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requireAccount } from "../../../require-account.ts";

export const metadata: Metadata = { title: "People" };

export default async function PeoplePage() {
  const account = await requireAccount("/admin/people");
  if (!mayDo({ userId: account.id, role: account.role }, "see-people")) notFound();
  return (
    <div className="mx-auto max-w-3xl">
      <People />
    </div>
  );
}
