import { VideoPage } from "@reelkeep/components/video/video-page";
import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { requireAccount } from "../../../require-account.ts";
import { findVisibleAsset } from "../../../server/context.ts";

interface Props {
  params: Promise<{ id: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const asset = await findVisibleAsset((await params).id);
  return { title: asset?.title ?? "Video" };
}

export default async function VideoRoute({ params }: Props) {
  const { id } = await params;
  const account = await requireAccount(`/videos/${id}`);
  const asset = await findVisibleAsset(id);
  if (!asset) notFound();
  // Viewers have no business with its states: for them it is just the film.
  if (asset.access === "invited") redirect(`/watch/${id}`);
  return <VideoPage initialAsset={asset} account={account} />;
}
