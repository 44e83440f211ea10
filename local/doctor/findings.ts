/** What a part of the doctor found. */
export interface Findings {
  /** Decides the exit status. */
  readonly usable: boolean;
  /** For people. */
  readonly lines: readonly string[];
  /** For programs: printed as one JSON object. */
  readonly facts: Readonly<Record<string, unknown>>;
}
