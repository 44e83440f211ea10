"use client";
import { useMutation } from "@tanstack/react-query";
import { Clapperboard } from "lucide-react";
import { toast } from "sonner";
import { Button } from "../ui/button.tsx";
import { useAddFiles } from "./upload-context.ts";

const samplePath = "/sample/reelkeep-sample.mp4";

async function fetchSample(): Promise<File> {
  const response = await fetch(samplePath);
  if (!response.ok) throw new Error(`the sample clip answered ${response.status}`);
  return new File([await response.blob()], "Reelkeep sample.mp4", { type: "video/mp4", lastModified: 0 });
}

/** Uploads the clip that set-up generated, the same way as any other file. */
export function SampleButton() {
  const addFiles = useAddFiles();
  const sample = useMutation({
    mutationFn: fetchSample,
    onSuccess: (file) => addFiles([file], { title: "Sample clip" }),
    onError: () => toast.error("There is no sample clip on this server. Choose a video of your own."),
  });
  return (
    <Button onClick={() => sample.mutate()} disabled={sample.isPending}>
      <Clapperboard aria-hidden /> Use the sample clip
    </Button>
  );
}
