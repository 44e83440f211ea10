/** What a benchmark found: tables for people, and the bounds that it broke. */
export interface Report {
  /** One sentence or more, such as the method. */
  say(text: string): void;
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void;
  /** A bound that must hold; told where it doesn't. */
  bound(holds: boolean, what: string): void;
  readonly broken: readonly string[];
}

export function createReport(write: (line: string) => void = console.log): Report {
  const broken: string[] = [];
  return {
    broken,
    say: (text) => write(`\n${text}`),
    table(headings, rows) {
      const lines = [headings, ...rows];
      const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
      // Names to the left, figures to the right.
      const pad = (cell: string, column: number) =>
        column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
      for (const line of lines) write(line.map(pad).join("  ").trimEnd());
    },
    bound(holds, what) {
      if (holds) return;
      broken.push(what);
      write(`BROKEN: ${what}`);
    },
  };
}

/** The value below which `fraction` (0 to 1) of the figures lie; NaN of none. */
export function quantile(figures: readonly number[], fraction: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

export const median = (figures: readonly number[]): number => quantile(figures, 0.5);
