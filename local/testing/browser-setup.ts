import { startTestStack } from "./stack.ts";

/** Starts the stack of a run of browser tests, and tells them its addresses in REELKEEP_TEST_STACK (JSON). */
export default async function setUp(): Promise<() => Promise<void>> {
  const { supervisor: _, stop, ...addresses } = await startTestStack();
  process.env.REELKEEP_TEST_STACK = JSON.stringify(addresses);
  return () => stop();
}
