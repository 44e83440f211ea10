/**
 * Numbers and times as people read them. One place, so that "43 %" is never "43.2%" elsewhere.
 * A no-break space stands between a number and its unit.
 */
const nbsp = "\u00a0";

/** `0.614` as `61 %`. Rounds down, so that 100 % means done. */
export function formatPercent(fraction: number): string {
  const clamped = Math.min(Math.max(fraction, 0), 1);
  // The small addend keeps 0.29 * 100 = 28.999… at 29.
  return `${Math.floor(clamped * 100 + 1e-9)}${nbsp}%`;
}

const byteUnits = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

/** `412_000_000` as `412 MB`. Powers of 1000, one decimal below ten, none for bytes. */
export function formatBytes(sizeBytes: number): string {
  let value = Math.max(sizeBytes, 0);
  let unit = 0;
  // 999.5 would round up to four digits; it reads better as 1 of the next unit.
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)}${nbsp}${byteUnits[unit]}`;
}

/** `12_400_000` as `12 MB/s`. */
export const formatSpeed = (bytesPerSecond: number): string => `${formatBytes(bytesPerSecond)}/s`;

/** US dollars as `$1.20`; anything above zero is at least a cent, so that nothing spent reads as free. */
export const formatUsd = (usd: number): string => `$${(usd > 0 ? Math.max(usd, 0.01) : 0).toFixed(2)}`;

/** A length of film: `761` as `12:41`, `3_723` as `1:02:03`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(Math.round(seconds), 0);
  const parts = [Math.floor(whole / 60) % 60, whole % 60];
  const hours = Math.floor(whole / 3600);
  if (hours > 0) parts.unshift(hours);
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/**
 * A wait, in the coarsest honest unit: `125` as `2 min`, `40` as `40 s`, `7_500` as `2 h 5 min`. Seconds go in
 * steps of five above ten, so that the figure doesn't flicker.
 */
export function formatWait(seconds: number): string {
  const whole = Math.max(Math.ceil(seconds), 0);
  if (whole < 60) return `${whole > 10 ? Math.min(Math.ceil(whole / 5) * 5, 55) : whole}${nbsp}s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes}${nbsp}min`;
  const rest = minutes % 60;
  const hours = `${Math.floor(minutes / 60)}${nbsp}h`;
  return rest === 0 ? hours : `${hours} ${rest}${nbsp}min`;
}

/** `3` as `3rd`, `11` as `11th`. */
export function formatOrdinal(n: number): string {
  const lastTwo = n % 100;
  if (lastTwo >= 11 && lastTwo <= 13) return `${n}th`;
  return `${n}${({ 1: "st", 2: "nd", 3: "rd" } as Record<number, string>)[n % 10] ?? "th"}`;
}

/** Where and when the reader is; the browser's own unless a test says otherwise. */
export interface Reader {
  readonly now: Date;
  /** IANA name, e.g. `Europe/Berlin`. */
  readonly timeZone?: string;
}

function show(moment: Date, options: Intl.DateTimeFormatOptions, { timeZone }: Reader): string {
  return new Intl.DateTimeFormat("en-GB", { ...options, timeZone }).format(moment);
}

/** A day: `3 Nov` this year, else `3 Nov 2025`. */
export function formatDay(iso: string, reader: Reader): string {
  const moment = new Date(iso);
  const year = { year: "numeric" } as const;
  const thisYear = show(moment, year, reader) === show(reader.now, year, reader);
  return show(moment, { day: "numeric", month: "short", ...(thisYear ? {} : year) }, reader);
}

/** A moment as short as it can be told: `14:02` today, `3 Nov, 14:02` this year, else `3 Nov 2025`. */
export function formatMoment(iso: string, reader: Reader): string {
  const moment = new Date(iso);
  const time = show(moment, { hour: "2-digit", minute: "2-digit" }, reader);
  const day = formatDay(iso, reader);
  if (day === formatDay(reader.now.toISOString(), reader)) return time;
  return /\d{4}$/.test(day) ? day : `${day}, ${time}`;
}

/** A time of day to the second, `14:02:33`, for what changes within a minute. */
export const formatClock = (iso: string, reader: Reader): string =>
  show(new Date(iso), { hour: "2-digit", minute: "2-digit", second: "2-digit" }, reader);

/** The name by which a picture's size goes: its short side, as in `1080p`. */
export const formatResolution = (width: number, height: number): string => `${Math.min(width, height)}p`;

/** A file's name without its ending: the title until someone types a better one. */
export const titleFromFilename = (filename: string): string =>
  filename.replace(/\.[a-z0-9]{1,5}$/i, "").trim() || filename;
