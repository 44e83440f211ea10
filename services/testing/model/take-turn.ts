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
  const answers = await allAnswers(actions.map((action) => world.perform(action)));
  const real = { answers, rows: await world.readRows() };
  const way = findWay(m, actions, (each) => isDeepStrictEqual(seen(each), real));
  if (!way) expect(real).toEqual(seen(nearestWay(m, actions, real)));
  Object.assign(m, way!.model);
  expect(await world.findBreaches()).toEqual([]);
  await world.setClock(++m.now);
  return answers;
}

/** Each has ended before a fault of one is thrown, so that none goes on in the next run. */
async function allAnswers(asked: readonly Promise<Answer>[]): Promise<Answer[]> {
  await Promise.allSettled(asked);
  return Promise.all(asked);
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

/** Where no way fits, the one that differs least shows best what is wrong. */
function nearestWay(m: Model, actions: readonly Action[], real: ReturnType<typeof seen>): Way {
  const facts = (all: ReturnType<typeof seen>) =>
    [all.answers, ...Object.values(all.rows)].flatMap((group) =>
      Object.entries(group).map((entry) => JSON.stringify(entry)),
    );
  const known = new Set(facts(real));
  const differences = (way: Way) => facts(seen(way)).filter((fact) => !known.has(fact)).length;
  let nearest: { way: Way; by: number } | undefined;
  for (const way of ways(m, actions, actions.length > 1 ? switchesMax : 0)) {
    const by = differences(way);
    if (!nearest || by < nearest.by) nearest = { way, by };
  }
  return nearest!.way;
}

/** Every order of the actions' steps in which at most `switches` times one is left before its end. */
function* ways(
  m: Model,
  actions: readonly Action[],
  switches: number,
  begun: readonly number[] = [],
): Generator<Way, undefined> {
  const replayed = replay(m, actions, begun);
  if (!replayed) return;
  const { model, answers } = replayed;
  const open = answers.flatMap((answer, which) => (answer === undefined ? [which] : []));
  if (open.length === 0) yield { model, answers: answers as Answer[] };
  const last = begun.at(-1);
  for (const which of open) {
    const left = last === undefined || last === which || !open.includes(last) ? switches : switches - 1;
    if (left >= 0) yield* ways(m, actions, left, [...begun, which]);
  }
}

/** The model after these steps; no answer yet where an action has more. Null where one of them can't be taken. */
function replay(m: Model, actions: readonly Action[], order: readonly number[]) {
  const model = structuredClone(m);
  const steps = actions.map((action) => predict(model, action));
  const answers: (Answer | undefined)[] = actions.map(() => undefined);
  for (const which of order) {
    const { done, value } = steps[which]!.next();
    if (done) answers[which] = value;
    else if (value === "blocked") return null;
  }
  return { model, answers };
}
