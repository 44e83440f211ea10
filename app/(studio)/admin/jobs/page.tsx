import { Jobs } from "@reelkeep/components/jobs/jobs";
import { mayDo } from "@reelkeep/core/access/policy";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requireAccount } from "../../../require-account.ts";

export const metadata: Metadata = { title: "Jobs" };

export default async function JobsPage() {
  const account = await requireAccount("/admin/jobs");
  const actor = { userId: account.id, role: account.role };
  if (!mayDo(actor, "see-jobs")) notFound();
  return (
    <div className="mx-auto max-w-5xl">
      <Jobs actor={actor} />
    </div>
  );
}
