/** Bit rates measured from segments. */

/** A film's last picture may be a segment of its own; its rate would say nothing. */
const singleSecondsMin = 1;

export interface MeasuredSegment {
  readonly durationSeconds: number;
  readonly sizeBytes: number;
}

/** In bits per second, rounded up. */
export interface Bandwidth {
  readonly peakBps: number;
  readonly averageBps: number;
}

/**
 * The peak and the average bit rate, as RFC 8216 §4.1 defines them: the peak is the largest rate of any run of
 * neighbouring segments that lasts between 0.5 and 1.5 target durations. A video shorter than that has one rate.
 * Nor is it below any single segment of a second or more, because players measure segment by segment.
 */
export function measureBandwidth(
  segments: readonly MeasuredSegment[],
  targetDurationSeconds: number,
): Bandwidth {
  let bits = 0;
  let seconds = 0;
  let peakBps = 0;
  segments.forEach((segment, first) => {
    bits += segment.sizeBytes * 8;
    seconds += segment.durationSeconds;
    peakBps = Math.max(peakBps, peakFrom(segments, first, targetDurationSeconds));
  });
  const averageBps = seconds > 0 ? Math.ceil(bits / seconds) : 0;
  return { peakBps: Math.max(averageBps, Math.ceil(peakBps)), averageBps };
}

function peakFrom(segments: readonly MeasuredSegment[], first: number, targetSeconds: number): number {
  let bits = 0;
  let seconds = 0;
  let peakBps = 0;
  for (let i = first; i < segments.length; i++) {
    bits += segments[i]!.sizeBytes * 8;
    seconds += segments[i]!.durationSeconds;
    if (seconds > 1.5 * targetSeconds) break;
    const isLong = seconds >= 0.5 * targetSeconds || (i === first && seconds >= singleSecondsMin);
    if (isLong) peakBps = Math.max(peakBps, bits / seconds);
  }
  return peakBps;
}
