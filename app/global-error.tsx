"use client";
import ErrorPage from "./error.tsx";
import "./globals.css";

/** The page of last resort: even the frame around all pages failed. */
export default function GlobalError(props: { error: Error & { digest?: string }; retry: () => void }) {
  return (
    <html lang="en">
      <body className="font-sans">
        <title>Reelkeep</title>
        <ErrorPage {...props} />
      </body>
    </html>
  );
}
