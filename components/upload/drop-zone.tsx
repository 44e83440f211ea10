"use client";
import { Upload } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { useAddFiles } from "./upload-context.ts";

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

/** The whole window takes files; while one hovers with some, it says so. */
export function DropZone() {
  const [hovering, setHovering] = useState(false);
  const addFiles = useAddFiles();
  const onDrop = useEffectEvent((files: File[]) => addFiles(files));

  useEffect(() => {
    // Entering a child comes before leaving its parent, so enters and leaves are counted.
    let depth = 0;
    function step(event: DragEvent, change: 1 | -1) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth += change;
      setHovering(depth > 0);
    }
    const enter = (event: DragEvent) => step(event, 1);
    const leave = (event: DragEvent) => step(event, -1);
    const over = (event: DragEvent) => hasFiles(event) && event.preventDefault();
    function drop(event: DragEvent) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setHovering(false);
      onDrop([...(event.dataTransfer?.files ?? [])]);
    }
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, []);

  if (!hovering) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 grid animate-appear place-items-center bg-scrim p-4">
      <p className="flex items-center gap-3 rounded-md border-2 border-dashed border-accent bg-surface px-8 py-6 text-lead font-semibold">
        <Upload aria-hidden className="size-5" /> Drop to upload
      </p>
    </div>
  );
}
