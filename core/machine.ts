/**
 * A state machine told as data. The Postgres enum, the guarded UPDATE, the chart in ARCHITECTURE.md and the test
 * of every state × transition pair are derived from it; nothing else decides what may follow what.
 */

/**
 * What a move needs besides the state that it starts from.
 * `lease-held`: the caller's attempt holds the lease and the database's clock says that it hasn't run out.
 * `lease-expired`: there is a lease, and it has run out.
 */
export type Guard = "none" | "lease-held" | "lease-expired";

/** One named move: the states it may start from, the one it ends in, its guard, and when it happens. */
export interface Transition<State extends string> {
  readonly from: readonly State[];
  readonly to: State;
  readonly guard: Guard;
  readonly when: string;
}

export interface Machine<State extends string, Name extends string> {
  readonly states: readonly State[];
  readonly initial: State;
  readonly transitions: Readonly<Record<Name, Transition<State>>>;
}

/** Checks nothing at run time; it fixes the types, so that a misspelt state doesn't compile and guards stay known. */
export const defineMachine = <
  const State extends string,
  const Transitions extends Record<string, Transition<NoInfer<State>>>,
>(machine: {
  readonly states: readonly State[];
  readonly initial: NoInfer<State>;
  readonly transitions: Transitions;
}) => machine;

/** The machine as a Mermaid state chart, the text that stands in ARCHITECTURE.md. */
export function toMermaid(machine: Machine<string, string>): string {
  const lines = Object.entries(machine.transitions).flatMap(([name, { from, to, guard }]) =>
    from.map(
      (state) =>
        `  ${mermaidId(state)} --> ${mermaidId(to)}: ${guard === "none" ? name : `${name} [${guard}]`}`,
    ),
  );
  const names = machine.states.map((state) => `  state "${state}" as ${mermaidId(state)}`);
  return ["stateDiagram-v2", ...names, `  [*] --> ${mermaidId(machine.initial)}`, ...lines].join("\n");
}

const mermaidId = (state: string) => state.replaceAll("-", "_");
