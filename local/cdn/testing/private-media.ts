import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createMediaSigner, type MediaSigner, type SignedCookie } from "@reelkeep/aws/media-signer";
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import { attemptPrefix, contentTypeOf } from "@reelkeep/core/object-keys";
import { type Cdn, startCdn } from "../server.ts";

export const appOrigin = "http://localhost:3000";
export const secondOrigin = "https://videos.example.com";
export const keyPairId = "KTEST";

/** A fresh key pair in PEM. */
export const newKeyPair = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

/** Two versions of one owner, as a worker would leave them, behind a stand-in that trusts `signer`. */
export interface PrivateMedia {
  readonly cdn: Cdn;
  readonly signer: MediaSigner;
  readonly store: ObjectStore;
  readonly prefix: string;
  readonly otherPrefix: string;
  close(): Promise<void>;
}

/** Below each version's prefix. The playlists name what they play by relative addresses. */
export const files: Readonly<Record<string, string>> = {
  "master.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n360p/playlist.m3u8\n",
  "360p/playlist.m3u8": "#EXTM3U\n#EXTINF:6,\nsegment_00001.ts\n",
  "360p/segment_00001.ts": "0123456789".repeat(100),
  "poster-1.jpg": "a picture",
  "storyboard.vtt": "WEBVTT\n",
};

const prefixOf = (actionKey: string) => attemptPrefix({ userId: "owner1", actionKey, attemptNumber: 1 });

/** Starts a stand-in on `storage`, whose signatures name `localhost` while it is bound to 127.0.0.1. */
export async function startPrivateMedia(storage: StorageConfig): Promise<PrivateMedia> {
  const { publicKey, privateKey } = newKeyPair();
  const store = createObjectStore(storage);
  const prefix = prefixOf("11111111-1111-4111-8111-111111111111");
  const otherPrefix = prefixOf("22222222-2222-4222-8222-222222222222");
  const baseUrl = "http://localhost:8080";
  const cdn = await startCdn({
    host: "127.0.0.1",
    port: 0,
    baseUrl,
    storage,
    keys: { [keyPairId]: publicKey },
    allowedOrigins: [appOrigin, secondOrigin],
  });
  return {
    cdn,
    signer: createMediaSigner({ baseUrl, keyPairId, privateKeyPem: privateKey }),
    store,
    prefix,
    otherPrefix,
    close: () => cdn.close(),
  };
}

/** Puts both versions' files into storage. */
export async function fillStorage({ store, prefix, otherPrefix }: PrivateMedia): Promise<void> {
  for (const name of Object.keys(files))
    for (const key of [prefix + name, otherPrefix + name])
      await store.putText(key, files[name]!, { contentType: contentTypeOf(name) });
}

export const inAnHour = () => new Date(Date.now() + 3_600_000);

/** As a browser sends them. */
export const cookieHeader = (cookies: readonly Pick<SignedCookie, "name" | "value">[]): string =>
  cookies.map(({ name, value }) => `${name}=${value}`).join("; ");

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Asks for exactly `path`: fetch would tidy it up before it is sent. */
export async function ask(
  { port }: Pick<Cdn, "port">,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Answer> {
  const sent = request({ host: "127.0.0.1", port, path, headers, method, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}
