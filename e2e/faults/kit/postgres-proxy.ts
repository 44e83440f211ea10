/** A way to the database on which tests lose, hold and delay what clients and server say to each other. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Connection, type PostgresFault, relayConnection } from "./postgres-connection.ts";
import { matches, type Statement, type StatementMatch } from "./postgres-statement.ts";
import { createTraps, type HoldingTrap, holdingTrap, type Trap, type TrapOptions } from "./traps.ts";

export interface PostgresProxy {
  /** The database's URL by this way. */
  readonly url: string;
  /** Everything that was said so far, the newest last. */
  statements(match?: StatementMatch): Statement[];
  /**
   * Stops a statement before it reaches the server, until it is released or cut. Its client may be killed meanwhile:
   * what it said is then still on its way, and arrives late when it is released.
   */
  hold(match: StatementMatch, options?: TrapOptions): HoldingTrap<Statement>;
  /**
   * Lets the server carry a statement out and loses the answer: the connection breaks, or, with `silent`, stays
   * open and says nothing any more. Caught once the server has answered.
   */
  loseAnswer(match: StatementMatch, options?: TrapOptions & { silent?: boolean }): Trap<Statement>;
  /** Breaks a connection before the statement reaches the server. */
  cutBefore(match: StatementMatch, options?: TrapOptions): Trap<Statement>;
  /** Breaks open connections, all or those of clients like this. New ones are let in. */
  cutAll(by?: RegExp): void;
  /** From now on nothing passes of these clients, in open connections and new ones, and none is closed. */
  swallow(by?: RegExp): void;
  /** From now on new connections of these clients are closed at once, as where no server listens. */
  refuse(by?: RegExp): void;
  /** Each answer takes so much longer; 0 ends it. */
  slow(ms: number): void;
  /** How many connections are open, of all or of these clients. */
  connectionCount(by?: RegExp): number;
  /** Takes all faults away, also traps. What is held or silent is cut. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the server of `databaseUrl`. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const traps = createTraps<Statement, PostgresFault>();
  const said: Statement[] = [];
  const connections = new Set<Connection>();
  let swallowed: RegExp | null = null;
  let refused: RegExp | null = null;
  let slowMs = 0;

  const server = createServer((near) => {
    const connection = relayConnection(near, {
      host: target.hostname,
      port: Number(target.port),
      slowMs: () => slowMs,
      admit: (by) => (refused?.test(by) ? "refuse" : swallowed?.test(by) ? "swallow" : "pass"),
      onStatement: (statement) => {
        said.push(statement);
        return traps.spring(statement);
      },
      onClosed: () => connections.delete(connection),
    });
    connections.add(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);

  const of = (by: RegExp = /(?:)/) => [...connections].filter((connection) => by.test(connection.by()));
  const set = (match: StatementMatch, fault: PostgresFault, options?: TrapOptions) =>
    traps.set(describe(fault, match), (statement) => matches(statement, match), fault, options);
  const heal = () => {
    traps.disarmAll();
    swallowed = null;
    refused = null;
    slowMs = 0;
    for (const connection of connections) if (connection.isBroken()) connection.cut();
  };
  return {
    url: url.href,
    statements: (match = {}) => said.filter((statement) => matches(statement, match)),
    hold: (match, options) => holdingTrap((hold) => set(match, { kind: "hold", hold }, options)),
    loseAnswer: (match, { silent = false, ...options } = {}) =>
      set(match, { kind: "lose-answer", silent }, options),
    cutBefore: (match, options) => set(match, { kind: "cut" }, options),
    cutAll: (by) => {
      for (const connection of of(by)) connection.cut();
    },
    swallow: (by = /(?:)/) => {
      swallowed = by;
      for (const connection of of(by)) connection.swallow();
    },
    refuse: (by = /(?:)/) => {
      refused = by;
    },
    slow: (ms) => {
      slowMs = ms;
    },
    connectionCount: (by) => of(by).length,
    heal,
    async close() {
      heal();
      server.close();
      for (const connection of connections) connection.cut();
    },
  };
}

const describe = ({ kind }: PostgresFault, { after, ...match }: StatementMatch): string => {
  const words = (parts: object) =>
    Object.entries(parts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
  return `${kind}: ${words(match)}${after ? `, after: ${words(after)}` : ""}`;
};
