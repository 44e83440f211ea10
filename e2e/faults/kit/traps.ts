import { setTimeout as wait } from "node:timers/promises";

/** A fault that waits for something to come by: a statement, a request. */
export interface Trap<Event> {
  /**
   * The next event that it caught and wasn't asked for yet.
   *
   * @throws Error that names the trap, when nothing is caught in time (60 s).
   */
  caught(withinSeconds?: number): Promise<Event>;
  /** Events caught so far. */
  count(): number;
  /** Catches no more. */
  disarm(): void;
}

/** A trap that holds what it catches. */
export interface HoldingTrap<Event> extends Trap<Event> {
  /** Lets everything that is held go on, and catches no more. */
  release(): void;
  /** Breaks the connections of everything that is held, and catches no more. */
  cut(): void;
}

export interface TrapOptions {
  /** Lets this many matching events pass first. */
  readonly skip?: number;
  /** Catches this many, then no more; 1 unless told. */
  readonly times?: number;
}

/** A trap that has caught an event: what is to be done, and whom to tell once it is done. */
export interface Sprung<Event, Action> {
  readonly action: Action;
  tell(event: Event): void;
}

export interface Traps<Event, Action> {
  /** `what` names the trap in errors. */
  set(what: string, matches: (event: Event) => boolean, action: Action, options?: TrapOptions): Trap<Event>;
  /** The first armed trap that the event falls into. */
  spring(event: Event): Sprung<Event, Action> | undefined;
  disarmAll(): void;
}

export function createTraps<Event, Action>(): Traps<Event, Action> {
  interface Armed {
    readonly matches: (event: Event) => boolean;
    readonly action: Action;
    readonly tell: (event: Event) => void;
    skip: number;
    times: number;
  }
  const armed = new Set<Armed>();
  return {
    set(what, matches, action, { skip = 0, times = 1 } = {}) {
      const told: Event[] = [];
      let asked = 0;
      const waiting = new Set<() => void>();
      const trap: Armed = {
        matches,
        action,
        skip,
        times,
        tell: (event) => {
          told.push(event);
          for (const wake of waiting) wake();
          waiting.clear();
        },
      };
      armed.add(trap);
      return {
        async caught(withinSeconds = 60) {
          const index = asked++;
          const timer = new AbortController();
          const late = wait(withinSeconds * 1000, "late", { signal: timer.signal }).catch(() => "in time");
          while (told.length <= index) {
            const more = new Promise<void>((resolve) => waiting.add(resolve));
            if ((await Promise.race([more, late])) === "late")
              throw new Error(`In ${withinSeconds} s nothing fell into this trap: ${what}`);
          }
          timer.abort();
          return told[index]!;
        },
        count: () => told.length,
        disarm: () => armed.delete(trap),
      };
    },
    spring(event) {
      for (const trap of armed) {
        if (!trap.matches(event)) continue;
        if (trap.skip > 0) {
          trap.skip--;
          continue;
        }
        trap.times--;
        if (trap.times <= 0) armed.delete(trap);
        return trap;
      }
      return undefined;
    },
    disarmAll: () => armed.clear(),
  };
}

/** Something that is held: it goes on, or its connection breaks. Only the first of both counts. */
export interface Held {
  release(): void;
  cut(): void;
}

/** Makes a trap with its `hold` action: what is held registers itself there. */
export function holdingTrap<Event>(set: (hold: (held: Held) => void) => Trap<Event>): HoldingTrap<Event> {
  const helds = new Set<Held>();
  const trap = set((held) => helds.add(held));
  const end = (how: "release" | "cut") => () => {
    trap.disarm();
    for (const held of helds) held[how]();
    helds.clear();
  };
  return { ...trap, release: end("release"), cut: end("cut") };
}
