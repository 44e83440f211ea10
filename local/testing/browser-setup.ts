import { startTestStack } from "./stack.ts";

/** Small enough that tests cross each limit with small files and in little time. */
const env = {
  MULTIPART_THRESHOLD_BYTES: String(2 * 1024 * 1024),
  MULTIPART_PART_BYTES_MIN: String(5 * 1024 * 1024),
  PLAYBACK_SECONDS: "10",
  LEASE_SECONDS: "6",
  RETRY_BACKOFF_SECONDS: "1",
};

/** Starts the stack of a run of browser tests, and tells them its addresses in REELKEEP_TEST_STACK (JSON). */
export default async function setUp(): Promise<() => Promise<void>> {
  const { supervisor: _, stop, ...addresses } = await startTestStack({ env });
  process.env.REELKEEP_TEST_STACK = JSON.stringify(addresses);
  return () => stop();
}
