import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { formatBytes, formatDuration, formatResolution } from "@reelkeep/core/words/format";
import { CircleCheck, CircleSlash } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import { LocalMoment } from "../ui/local-moment.tsx";

/** The published version and the file behind it, in figures. */
export function VideoFacts({ asset, media }: { asset: AssetSummary; media: MediaStatus | undefined }) {
  const { version } = asset;
  return (
    <section aria-labelledby="video-facts" className="flex flex-col gap-3">
      <h2 id="video-facts" className="sr-only">
        Details
      </h2>
      {version && (
        <p
          className={classNames(
            "figures flex items-center gap-1.5 font-medium",
            asset.state === "active" && "text-good",
          )}
          data-testid="published-version"
        >
          {asset.state === "active" ? (
            <>
              <CircleCheck aria-hidden className="size-4" /> Ready · version
            </>
          ) : (
            <>
              <CircleSlash aria-hidden className="size-4" /> Blocked · version
            </>
          )}{" "}
          {version.versionNumber}
        </p>
      )}
      <dl className="figures grid grid-cols-[6.5rem_1fr] gap-y-2">
        {version && (
          <>
            <Fact name="Published">
              <LocalMoment iso={version.publishedAt} />
            </Fact>
            <Fact name="Length">{formatDuration(version.durationSeconds)}</Fact>
            <Fact name="Picture">
              {formatResolution(version.width, version.height)} · {version.width} × {version.height}
            </Fact>
            <Fact name="Sound">{version.hasAudio ? "Yes" : "None"}</Fact>
            <Fact name="Stored">{formatBytes(version.sizeBytes)}</Fact>
          </>
        )}
        {media && (
          <Fact name="Original">
            {media.filename} · {formatBytes(media.sizeBytes)}
          </Fact>
        )}
        <Fact name="Owner">{asset.owner.name}</Fact>
        <Fact name="Added">
          <LocalMoment iso={asset.createdAt} />
        </Fact>
        {asset.latest && (
          <Fact name="Upload">
            <span className="font-mono text-small break-all select-all">{asset.latest.actionKey}</span>
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
