/**
 * The services' rules. Each action is a series of atomic steps; at a `yield` another action may step in, as it may
 * between two transactions of a service.
 */
import type { Steps } from "./consequences.ts";
import type { Action, Model } from "./job-model.ts";
import { dispatch } from "./predict-launches.ts";
import { admit, cancel, moveAsset, retry } from "./predict-people.ts";
import { clean, reap, recover } from "./predict-sweeps.ts";
import { claim, fail, handBack, heartbeat, obey, publish, write } from "./predict-workers.ts";

/** What the model says of an action. It changes the model step by step. */
export function* predict(m: Model, action: Action): Steps {
  switch (action.do) {
    case "admit":
      return yield* admit(m, action.upload, action.asset);
    case "dispatch":
      return yield* dispatch(m, action.answers);
    case "claim":
      return yield* claim(m, action);
    case "heartbeat":
      return heartbeat(m, action.attempt);
    case "fail":
      return fail(m, action.attempt, action.retryable);
    case "hand-back":
      return handBack(m, action.attempt);
    case "obey":
      return obey(m, action.attempt);
    case "publish":
      return publish(m, action.attempt);
    case "write":
      return write(m, action.attempt);
    case "recover":
      return yield* recover(m);
    case "reap":
      return yield* reap(m, action.betweenLaunches);
    case "clean":
      return clean(m);
    case "machine-dies":
      m.rows.machines = m.rows.machines.filter((machine) => machine !== action.launch);
      return null;
    case "machine-comes":
      // Beside another that says the same, it comes once.
      if (!m.late.includes(action.launch)) return null;
      m.late = m.late.filter((launch) => launch !== action.launch);
      m.rows.machines.push(action.launch);
      return null;
    case "cancel":
      return yield* cancel(m, action);
    case "retry":
      return yield* retry(m, action);
    default:
      return yield* moveAsset(m, action);
  }
}
