import { Header } from "@reelkeep/components/shell/header";
import { UploadProvider } from "@reelkeep/components/upload/upload-provider";
import { mayDo } from "@reelkeep/core/access/policy";
import type { ReactNode } from "react";
import { clientSettings, currentAccount } from "../server/context.ts";

/** The pages of someone who is signed in. Uploads go on while one moves between them. */
export default async function StudioLayout({ children }: { children: ReactNode }) {
  const account = await currentAccount();
  // The page itself leads to the entrance, since it alone knows its path.
  if (!account) return children;
  return (
    <UploadProvider
      accountId={account.id}
      limits={clientSettings().uploadLimits}
      mayUpload={mayDo({ userId: account.id, role: account.role }, "create-asset")}
    >
      <a
        href="#content"
        className="sr-only rounded-md bg-surface px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the content
      </a>
      <Header account={account} />
      <main id="content" className="mx-auto max-w-7xl px-4 pt-6 pb-40 sm:px-6">
        {children}
      </main>
    </UploadProvider>
  );
}
