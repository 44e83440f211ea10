import { generateKeyPairSync, randomBytes, randomInt } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const schema = z.object({
  s3AccessKeyId: z.string(),
  s3SecretAccessKey: z.string(),
  /** Names the key pair in cookies, as CloudFront's public key id does. */
  cloudFrontKeyPairId: z.string(),
  cloudFrontPrivateKeyPem: z.string(),
  cloudFrontPublicKeyPem: z.string(),
  authSecret: z.string(),
  /** Whoever types it at the first start owns this installation. */
  ownerCode: z.string(),
  /** What storage shows when it tells of an object. */
  eventsToken: z.string(),
});

/** What only this installation knows. */
export type Secrets = z.infer<typeof schema>;

/**
 * The installation's secrets, made at the first start and kept in `secrets.json` (mode 0600) of the data folder.
 *
 * @throws Error when the file isn't ours; it is never overwritten, since sessions and passwords hang on it.
 */
export function keptSecrets(dataDir: string): Secrets {
  const file = path.join(dataDir, "secrets.json");
  if (!existsSync(file)) {
    const half = `${file}.${process.pid}`;
    writeFileSync(half, `${JSON.stringify(makeSecrets(), null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(half, file);
  }
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new Error(`${file} is damaged. Restore it from a backup, or remove it to get new secrets.`, {
      cause,
    });
  }
}

function makeSecrets(): Secrets {
  // RSA with 2048 bits is what CloudFront takes for signed cookies.
  // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-trusted-signers.html
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return {
    s3AccessKeyId: `RKLOCAL${randomCode(13)}`,
    s3SecretAccessKey: randomBytes(30).toString("base64url"),
    cloudFrontKeyPairId: `K${randomCode(13)}`,
    cloudFrontPrivateKeyPem: privateKey,
    cloudFrontPublicKeyPem: publicKey,
    authSecret: randomBytes(48).toString("base64url"),
    ownerCode: [randomCode(4), randomCode(4), randomCode(4)].join("-"),
    eventsToken: randomBytes(24).toString("base64url"),
  };
}

/** Without letters and digits that look alike, because people type one of these: 5 bits a character. */
function randomCode(length: number): string {
  const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
