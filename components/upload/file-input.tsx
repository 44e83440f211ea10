"use client";
import { acceptedFiles } from "@reelkeep/core/upload/policy";
import type { Ref } from "react";

/** The hidden input behind every button that chooses files; pressed by `ref.current.click()`. */
export const FileInput = ({
  ref,
  label,
  multiple = false,
  onFiles,
}: {
  ref: Ref<HTMLInputElement>;
  label: string;
  multiple?: boolean;
  onFiles: (files: File[]) => void;
}) => (
  <input
    ref={ref}
    type="file"
    hidden
    aria-label={label}
    accept={acceptedFiles.join(",")}
    multiple={multiple}
    onChange={(event) => {
      onFiles([...(event.currentTarget.files ?? [])]);
      // So that the same file can be chosen again.
      event.currentTarget.value = "";
    }}
  />
);
