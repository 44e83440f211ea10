/** As much of PostgreSQL's protocol 3.0 as is needed to see what a client says.
 * https://www.postgresql.org/docs/17/protocol-message-formats.html */

/** One whole message with its header. */
export interface Message {
  /** `Q`, `P`, `B` …; empty for those at a connection's start, which have no type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Without type and length. */
  readonly body: Buffer;
}

/** Cuts a stream into messages. A client's stream begins with messages that have no type. */
export function createFramer(side: "client" | "server"): (data: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let starting = side === "client";
  return (data) => {
    rest = rest.length > 0 ? Buffer.concat([rest, data]) : data;
    const messages: Message[] = [];
    for (;;) {
      const typeBytes = starting ? 0 : 1;
      if (rest.length < typeBytes + 4) return messages;
      const end = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < end) return messages;
      const message = {
        type: rest.toString("latin1", 0, typeBytes),
        bytes: rest.subarray(0, end),
        body: rest.subarray(typeBytes + 4, end),
      };
      messages.push(message);
      rest = rest.subarray(end);
      if (starting) starting = wantsEncryption(message);
    }
  };
}

/** SSLRequest and GSSENCRequest, after which a client begins anew. */
export function wantsEncryption({ type, body }: Message): boolean {
  return type === "" && [80_877_103, 80_877_104].includes(body.readInt32BE(0));
}

/** `application_name` of a StartupMessage. */
export function readApplicationName({ body }: Message): string {
  const words = body.toString("utf8", 4).split("\0");
  const index = words.findIndex((word, at) => at % 2 === 0 && word === "application_name");
  return index < 0 ? "" : (words[index + 1] ?? "");
}

/** Name and text of a Parse message. */
export function readParse({ body }: Message): { name: string; text: string } {
  const [name, end] = readText(body, 0);
  return { name, text: readText(body, end)[0] };
}

/** The statement's name and its parameters in a Bind message; null is null. */
export function readBind({ body }: Message): { name: string; parameters: (string | null)[] } {
  const portalEnd = readText(body, 0)[1];
  const [name, nameEnd] = readText(body, portalEnd);
  let at = nameEnd + 2 + 2 * body.readInt16BE(nameEnd);
  const count = body.readInt16BE(at);
  at += 2;
  const parameters: (string | null)[] = [];
  for (let index = 0; index < count; index++) {
    const length = body.readInt32BE(at);
    at += 4;
    parameters.push(length < 0 ? null : body.toString("utf8", at, at + length));
    at += Math.max(0, length);
  }
  return { name, parameters };
}

/** The text of a Query message. */
export const readQuery = ({ body }: Message): string => readText(body, 0)[0];

function readText(body: Buffer, start: number): [text: string, end: number] {
  const zero = body.indexOf(0, start);
  return [body.toString("utf8", start, zero), zero + 1];
}
