import { expect, it } from "vitest";
import { createTraps } from "./traps.ts";

it("a trap lets some pass, catches as many as it was told, and gives them in order", async () => {
  const traps = createTraps<number, string>();
  const trap = traps.set("evens", (number) => number % 2 === 0, "stop", { skip: 1, times: 2 });
  const stopped = [1, 2, 3, 4, 6, 8].filter((number) => {
    const sprung = traps.spring(number);
    sprung?.tell(number);
    return sprung !== undefined;
  });
  expect(stopped).toEqual([4, 6]);
  expect([await trap.caught(), await trap.caught(), trap.count()]).toEqual([4, 6, 2]);
  await expect(trap.caught(0)).rejects.toThrow("nothing fell into this trap: evens");
});

it("two who wait for one trap get one event each", async () => {
  const traps = createTraps<number, string>();
  const trap = traps.set("all", () => true, "stop", { times: 2 });
  const both = Promise.all([trap.caught(), trap.caught()]);
  for (const number of [1, 2]) traps.spring(number)?.tell(number);
  expect(await both).toEqual([1, 2]);
});
