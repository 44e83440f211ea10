import { bodyBytesMax } from "@reelkeep/core/api/limits";
import { AppError } from "@reelkeep/core/errors";

/**
 * The request's body as text. One that is too long is refused by what it announces, else where it passes the limit;
 * the rest isn't read, so that nobody fills the server's memory.
 *
 * @throws AppError `invalid-request`.
 */
export async function readText({ headers, body }: Pick<Request, "headers" | "body">): Promise<string> {
  if (Number(headers.get("content-length")) > bodyBytesMax) throw tooLong();
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const chunk of body ?? []) {
    lengthBytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (lengthBytes > bodyBytesMax) throw tooLong();
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

const tooLong = () => new AppError("invalid-request", { message: "The request is too long." });
