/** A statement on its way to the database. */
export interface Statement {
  readonly text: string;
  /** As text; null is null. */
  readonly parameters: readonly (string | null)[];
  /** Who asks: `reelkeep-worker {workerId}`, `reelkeep-lease {attemptId}`, `reelkeep-control`, `reelkeep-site`. */
  readonly by: string;
  /** What was said before in the same transaction, in order. Empty outside one. */
  readonly before: readonly Omit<Statement, "before">[];
}

/** Which statements are meant. Everything that is given must hold. */
export interface StatementMatch {
  readonly text?: RegExp;
  /** One of the parameters is exactly this: an id. */
  readonly parameter?: string;
  /** Who asks. */
  readonly by?: RegExp;
  /** An earlier statement of the same transaction is like this: `{ text: /^commit/i, after: { text: /…/ } }`. */
  readonly after?: Omit<StatementMatch, "after">;
}

/** The COMMIT of a transaction in which a statement like this was said. */
export const commitAfter = (after: Omit<StatementMatch, "after">): StatementMatch => ({
  text: /^commit\b/i,
  after,
});

export function isLike(statement: Omit<Statement, "before">, match: Omit<StatementMatch, "after">): boolean {
  return (
    (match.text?.test(statement.text) ?? true) &&
    (match.by?.test(statement.by) ?? true) &&
    (match.parameter === undefined || statement.parameters.includes(match.parameter))
  );
}

export const matches = (statement: Statement, { after, ...match }: StatementMatch): boolean =>
  isLike(statement, match) && (!after || statement.before.some((earlier) => isLike(earlier, after)));

/** Knows what was said in the transaction that one connection is in. */
export function trackTransaction(): (said: Omit<Statement, "before">) => Statement {
  let before: Omit<Statement, "before">[] | null = null;
  return (said) => {
    if (/^\s*(begin|start transaction)\b/i.test(said.text)) before = [];
    const statement = { ...said, before: [...(before ?? [])] };
    if (/^\s*(commit|end|rollback(?! to)|abort)\b/i.test(said.text)) before = null;
    before?.push(said);
    return statement;
  };
}
