import { Screening } from "@reelkeep/components/player/screening";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requireAccount } from "../../require-account.ts";
import { findVisibleAsset } from "../../server/context.ts";

interface Props {
  params: Promise<{ id: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const asset = await findVisibleAsset((await params).id);
  return { title: asset?.title ?? "Private video" };
}

export default async function WatchPage({ params }: Props) {
  const { id } = await params;
  await requireAccount(`/watch/${id}`);
  const asset = await findVisibleAsset(id);
  if (!asset) notFound();
  return <Screening asset={asset} />;
}
