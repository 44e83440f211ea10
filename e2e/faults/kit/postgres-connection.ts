import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Statement, trackTransaction } from "./postgres-statement.ts";
import {
  createFramer,
  type Message,
  readApplicationName,
  readBind,
  readParse,
  readQuery,
  wantsEncryption,
} from "./postgres-wire.ts";
import type { Held, Sprung } from "./traps.ts";

/** What may become of a statement. */
export type PostgresFault =
  | { readonly kind: "hold"; readonly hold: (held: Held) => void }
  | { readonly kind: "lose-answer"; readonly silent: boolean }
  | { readonly kind: "cut" };

/** One client's connection, as its proxy sees it. */
export interface Connection {
  /** The client's application_name; empty until it is known. */
  by(): string;
  cut(): void;
  /** From now on nothing passes and nothing closes. */
  swallow(): void;
  /** Whether a fault keeps it from working: it is held or silent. */
  isBroken(): boolean;
}

interface Surroundings {
  readonly host: string;
  readonly port: number;
  slowMs(): number;
  admit(by: string): "pass" | "swallow" | "refuse";
  onStatement(statement: Statement): Sprung<Statement, PostgresFault> | undefined;
  onClosed(): void;
}

/**
 * Relays between a client (`near`) and the server (`far`). It relies on what node-postgres does: the next statement
 * is said only when the one before was answered.
 */
export function relayConnection(near: Socket, around: Surroundings): Connection {
  const far = connect(around.port, around.host);
  const transaction = trackTransaction();
  const texts = new Map<string, string>();
  let by = "";
  /** Messages that wait: a Parse for its Bind, which tells the parameters; or everything while held. */
  const parses: Message[] = [];
  let held: Message[] | null = null;
  let silent = false;
  let losing: { onAnswered: () => void; frame: (data: Buffer) => Message[] } | null = null;
  let answers = Promise.resolve();
  let slowAnswers = 0;

  const cut = () => {
    near.destroy();
    far.destroy();
  };
  const forward = (message: Message) => {
    if (held) held.push(message);
    else far.write(message.bytes);
  };
  const flushParses = () => {
    for (const message of parses.splice(0)) forward(message);
  };

  function hold(register: (held: Held) => void): void {
    held = [];
    register({
      release: () => {
        const late = held ?? [];
        held = null;
        for (const message of late) forward(message);
        // Who said it is gone; the server still hears it, then that nobody is there.
        if (near.destroyed) far.end();
      },
      cut,
    });
  }

  function begin(text: string, parameters: readonly (string | null)[]): void {
    const statement = transaction({ text, parameters, by });
    const sprung = around.onStatement(statement);
    if (!sprung) return;
    const { action, tell } = sprung;
    if (action.kind === "hold") {
      hold(action.hold);
      tell(statement);
    } else if (action.kind === "cut") {
      silent = true;
      cut();
      tell(statement);
    } else {
      const onAnswered = () => {
        silent = action.silent;
        if (!silent) cut();
        tell(statement);
      };
      losing = { onAnswered, frame: createFramer("server") };
    }
  }

  function onClientMessage(message: Message): void {
    if (wantsEncryption(message)) return void near.write("N");
    if (message.type === "") {
      by = readApplicationName(message);
      const verdict = around.admit(by);
      if (verdict === "refuse") cut();
      if (verdict !== "pass") silent = true;
    }
    if (silent) return;
    if (message.type === "P") {
      const { name, text } = readParse(message);
      texts.set(name, text);
      parses.push(message);
      return;
    }
    if (message.type === "B") {
      const { name, parameters } = readBind(message);
      begin(texts.get(name) ?? "", parameters);
    } else if (message.type === "Q") begin(readQuery(message), []);
    if (silent) return;
    flushParses();
    forward(message);
  }

  function onServerData(data: Buffer): void {
    if (silent) return;
    if (losing) {
      // Complete with ReadyForQuery.
      if (losing.frame(data).some(({ type }) => type === "Z")) losing.onAnswered();
      return;
    }
    const ms = around.slowMs();
    if (ms === 0 && slowAnswers === 0) return void near.write(data);
    slowAnswers++;
    answers = answers.then(async () => {
      await wait(ms);
      near.write(data);
      slowAnswers--;
    });
  }

  const frame = createFramer("client");
  near.on("data", (data) => {
    for (const message of frame(data)) onClientMessage(message);
  });
  far.on("data", onServerData);
  near.on("error", () => {});
  far.on("error", () => {});
  near.on("close", () => {
    if (!held && !silent && !losing) far.destroy();
    if (far.destroyed) around.onClosed();
  });
  far.on("close", () => {
    if (!silent) near.destroy();
    if (near.destroyed) around.onClosed();
  });
  return {
    by: () => by,
    cut,
    swallow: () => {
      silent = true;
    },
    isBroken: () => silent || held !== null || losing !== null,
  };
}
