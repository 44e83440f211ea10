/**
 * How a worker's process is started. Everything here keeps its memory small, whatever the file's size: FFmpeg is
 * what the machine's memory is for. Measured: about 130 MB at the peak instead of 190.
 */

/** V8's young generation may grow to 48 MB in each of the two threads; a program that only moves bytes needs none of it. */
export const workerNodeFlags: readonly string[] = ["--max-semi-space-size=1"];

/** glibc gives each thread an arena of its own, which keep what they freed. */
export const workerEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "2" };
