import { XMLParser } from "fast-xml-parser";
import { z } from "zod";
import { S3Error } from "./errors.ts";

type Text = string | number | boolean;

const escapes: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

const escapeText = (text: Text): string =>
  String(text)
    .replace(/[<>&"]/g, (character) => escapes[character]!)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: S3 writes them as references too, though XML 1.0 has none.
    .replace(/[\u0000-\u001f]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);

/** One element with text; nothing at all where there is no value. */
export const element = (name: string, text: Text | undefined): string =>
  text === undefined ? "" : `<${name}>${escapeText(text)}</${name}>`;

/** One element that holds others. */
export const parent = (name: string, ...children: readonly string[]): string =>
  `<${name}>${children.join("")}</${name}>`;

/** A whole answer in S3's namespace. */
export const xmlDocument = (name: string, ...children: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${children.join("")}</${name}>`;

/** Errors have no namespace. */
export const errorDocument = (error: S3Error, requestId: string, resource: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${parent(
    "Error",
    element("Code", error.code),
    element("Message", error.message),
    element("Resource", resource),
    element("RequestId", requestId),
  )}`;

/** Elements that may come more than once. */
const lists = new Set([
  "Object",
  "Part",
  "CORSRule",
  "AllowedOrigin",
  "AllowedMethod",
  "AllowedHeader",
  "ExposeHeader",
  "Rule",
  "Tag",
]);

const parser = new XMLParser({
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  trimValues: false,
  removeNSPrefix: true,
  htmlEntities: true,
  isArray: (name) => lists.has(name),
});

/**
 * Reads the request document `name` by its schema. Document types are refused, because entities could be defined
 * in one.
 *
 * @throws S3Error `MalformedXML`.
 */
export function parseXml<T>(text: string, name: string, schema: z.ZodType<T>): T {
  if (text.includes("<!DOCTYPE")) throw new S3Error("MalformedXML");
  let parsed: unknown;
  try {
    parsed = parser.parse(text, true);
  } catch {
    throw new S3Error("MalformedXML");
  }
  const result = z.object({ [name]: schema }).safeParse(parsed);
  if (!result.success) throw new S3Error("MalformedXML");
  return result.data[name] as T;
}
