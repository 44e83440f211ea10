"use client";
import { Upload } from "lucide-react";
import { useRef } from "react";
import { Button } from "../ui/button.tsx";
import { FileInput } from "./file-input.tsx";
import { useAddFiles } from "./upload-context.ts";

/** Chooses files and starts to send them. */
export function UploadButton({
  label = "Upload",
  look = "next",
}: {
  label?: string;
  look?: "next" | "plain";
}) {
  const input = useRef<HTMLInputElement>(null);
  const addFiles = useAddFiles();
  return (
    <>
      <Button look={look} onClick={() => input.current?.click()}>
        <Upload aria-hidden /> {label}
      </Button>
      <FileInput ref={input} label={label} multiple onFiles={(files) => addFiles(files)} />
    </>
  );
}
