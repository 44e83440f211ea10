/** Places in an attempt's life at which it can be stopped, each known by what the worker says there. */
import { poll } from "./poll.ts";
import { commitAfter } from "./postgres-statement.ts";
import { workersBelow } from "./processes.ts";
import type { FaultStack } from "./stack.ts";
import type { HoldingTrap } from "./traps.ts";

type Place = (
  stack: Pick<FaultStack, "database" | "storage" | "dataDir">,
) => Pick<HoldingTrap<unknown>, "caught" | "release" | "cut">;

const by = /^reelkeep-worker /;

/** The transaction that claims a job. */
export const claimCommit = commitAfter({ by, text: /insert into "job_attempts"/ });
/** The transaction that publishes. */
export const publishCommit = commitAfter({ by, text: /insert into "media_versions"/ });

/** Before the claim's UPDATE. */
export const beforeClaim: Place = ({ database }) => database.hold({ by, text: /^update "jobs"/ });
/** Before the COMMIT of the claim. */
export const claiming: Place = ({ database }) => database.hold(claimCommit);
/** Claimed, before it hears a byte of its source. */
export const beforeDownload: Place = ({ storage }) =>
  storage.hold({ by: "workers", method: "GET", key: /^uploads\// });
/** FFmpeg stands still; of the only worker that there is. */
export const encoding: Place = ({ dataDir }) => {
  const worker = () => poll("a worker", () => workersBelow(dataDir)[0]);
  const thaw = () => {
    for (const { thawEncoders } of workersBelow(dataDir)) thawEncoders();
  };
  return {
    async caught() {
      const { untilEncoding, freezeEncoders } = await worker();
      await untilEncoding();
      freezeEncoders();
    },
    release: thaw,
    cut: thaw,
  };
};
/** One segment stored, another on its way. */
export const uploading: Place = ({ storage }) =>
  storage.hold({ by: "workers", method: "PUT", key: /\/segment_\d+\.ts$/ }, { skip: 1 });
/** Everything stored, nothing read back. */
export const verifying: Place = ({ storage }) =>
  storage.hold({ by: "workers", method: "GET", parameter: "list-type" });
/** Verified; the publication has asked nothing yet. */
export const beforePublish: Place = ({ database }) =>
  database.hold({ by, text: /^select .* from "job_attempts"/s });
/** Before the COMMIT of the publication. */
export const publishing: Place = ({ database }) => database.hold(publishCommit);
/** A renewal of the lease, before it reaches the database; the upload stands still, so that one is needed. */
export const heartbeating: Place = (stack) => {
  const upload = uploading(stack);
  const beat = stack.database.hold({ by: /^reelkeep-lease /, text: /^update "jobs"/ });
  const both = (how: "release" | "cut") => () => {
    beat[how]();
    upload[how]();
  };
  return { caught: beat.caught, release: both("release"), cut: both("cut") };
};
/** In the middle of the publication: job and asset are locked, the version isn't written yet. */
export const insidePublish: Place = ({ database }) =>
  database.hold({ by, text: /insert into "media_versions"/ });
