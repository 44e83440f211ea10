"use client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Toaster } from "sonner";
import { ProblemError } from "../api-client.ts";
import { useTheme } from "../theme/theme-choice.tsx";

const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // An answer in words won't change by asking again; a missing one may.
        retry: (failures, error) => failures < 2 && (!(error instanceof ProblemError) || error.retryable),
      },
    },
  });

/** What every page needs in the browser: the cache of answers, and a place for short messages. */
export function AppProviders({ children }: { children: ReactNode }) {
  const [queryClient] = useState(newQueryClient);
  const [theme] = useTheme();
  return (
    <QueryClientProvider client={queryClient}>
      {children}
      <Toaster
        theme={theme}
        position="top-center"
        toastOptions={{
          className:
            "!rounded-md !border !border-line !bg-surface !text-base !text-ink !font-sans !shadow-none",
        }}
      />
    </QueryClientProvider>
  );
}
