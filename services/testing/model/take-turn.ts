import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Action, Answer, Model } from "./job-model.ts";
import { predict } from "./predict.ts";
import { inOrder } from "./read-rows.ts";
import type { World } from "./world.ts";

/**
 * Does what the actions say, at once, and finds an order of the model's steps that gives the same answers and the
 * same rows; then asks the rows for what always holds. A turn has a millisecond of its own, so that what happened
 * earlier also has the earlier time.
 */
export async function takeTurn(
  m: Model,
  world: World,
  actions: readonly Action[],
): Promise<readonly Answer[]> {
  const answers = await Promise.all(actions.map((action) => world.perform(action)));
  const real = { answers, rows: await world.readRows() };
  const way = findWay(m, actions, (each) => isDeepStrictEqual(seen(each), real));
  // No order fits: the plainest one shows best by what it differs.
  if (!way) expect(real).toEqual(seen(ways(m, actions, 0).next().value!));
  Object.assign(m, way!.model);
  expect(await world.findBreaches()).toEqual([]);
  await world.setClock(++m.now);
  return answers;
}

/** How the model gets from here to the end of all actions. */
interface Way {
  readonly model: Model;
  readonly answers: readonly Answer[];
}

const seen = ({ model, answers }: Way) => ({ answers, rows: inOrder(model.rows) });

/** Interruptions of one action by another that are tried; each costs about ten times the one before. */
const switchesMax = 3;

function findWay(m: Model, actions: readonly Action[], fits: (way: Way) => boolean): Way | null {
  for (let switches = 0; switches <= (actions.length > 1 ? switchesMax : 0); switches++)
    for (const way of ways(m, actions, switches)) if (fits(way)) return way;
  return null;
}

/** Every order of the actions' steps in which at most `switches` times one is left before its end. */
function* ways(
  m: Model,
  actions: readonly Action[],
  switches: number,
  begun: readonly number[] = [],
): Generator<Way, undefined> {
  const { model, answers } = replay(m, actions, begun);
  const open = answers.flatMap((answer, which) => (answer === undefined ? [which] : []));
  if (open.length === 0) yield { model, answers: answers as Answer[] };
  const last = begun.at(-1);
  for (const which of open) {
    const left = last === undefined || last === which || !open.includes(last) ? switches : switches - 1;
    if (left >= 0) yield* ways(m, actions, left, [...begun, which]);
  }
}

/** The model after these steps; no answer yet where an action has more. */
function replay(m: Model, actions: readonly Action[], order: readonly number[]) {
  const model = structuredClone(m);
  const steps = actions.map((action) => predict(model, action));
  const answers: (Answer | undefined)[] = actions.map(() => undefined);
  for (const which of order) {
    const { done, value } = steps[which]!.next();
    if (done) answers[which] = value;
  }
  return { model, answers };
}
