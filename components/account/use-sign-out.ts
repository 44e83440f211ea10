"use client";
import { useMutation } from "@tanstack/react-query";
import { toast } from "sonner";
import { signOut, toProblemError } from "../api-client.ts";

/** Ends the session and loads the page anew, so that nothing of it stays in memory. */
export function useSignOut() {
  return useMutation({
    mutationFn: signOut,
    onSuccess: () => window.location.assign("/sign-in"),
    onError: (error) => toast.error(toProblemError(error).message),
  });
}
