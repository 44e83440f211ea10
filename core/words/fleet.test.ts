import { describe, expect, it } from "vitest";
import { describeFleet } from "./fleet.ts";

const read = (
  workers: [alive: number, max: number, waiting: number],
  todayUsd: number,
  budgetUsd: number | null,
) =>
  describeFleet({
    workers: { alive: workers[0], max: workers[1], waiting: workers[2] },
    spending: { todayUsd, budgetUsd },
  }).map(({ figure, words }) => `${figure} ${words}`);

describe("what admins read of the machines", () => {
  it("J8 workers against their ceiling and the line before them", () => {
    expect(read([2, 4, 3], 0, null)).toEqual(["2 of 4 workers in use", "3 jobs wait"]);
    expect(read([1, 1, 1], 0, null)).toEqual(["1 of 1 worker in use", "1 job waits"]);
  });

  it("J8 spending is told against the budget, or alone where there is none", () => {
    expect(read([0, 4, 0], 0.4234, 5)).toContain("$0.42 of $5.00 spent today");
    expect(read([0, 4, 0], 1.2, null)).toContain("$1.20 spent today");
  });

  it("J8 a budget that is used up says what that means", () => {
    expect(read([0, 4, 7], 5, 5)).toContain("$5.00 of $5.00 spent today: new work waits until midnight UTC");
  });
});
