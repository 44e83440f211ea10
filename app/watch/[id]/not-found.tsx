import { Screening } from "@reelkeep/components/player/screening";

/** The same for a video that isn't there and for one that isn't theirs: a 404 that says what to do. */
export default function NotFound() {
  return <Screening asset={null} />;
}
