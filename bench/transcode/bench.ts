import type { EncodePlan } from "@reelkeep/worker/stages/plan";
import type { Report } from "../report.ts";
import type { BenchStack } from "../stack.ts";

/** What every part stands on. */
export interface Bench {
  readonly stack: BenchStack;
  readonly report: Report;
  readonly profileName: string;
  /** The length of films whose length is free. */
  readonly seconds: number;
  readonly rounds: number;
  /** What the worker would encode of a film, nothing taken over. */
  readonly planFor: (film: string) => Promise<EncodePlan>;
}
