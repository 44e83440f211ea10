/**
 * Text that people write. Control characters (Unicode's Cc: PostgreSQL refuses NUL, logs and headers break on the
 * others) and marks that turn the direction of what follows (they make a name read as another) are refused.
 * https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
import { z } from "zod";

const refused = String.raw`\p{Cc}\u202A-\u202E\u2066-\u2069`;
const linePattern = new RegExp(`^[^${refused}]*$`, "u");
const paragraphsPattern = new RegExp(`^(?:[^${refused}]|\\n)*$`, "u");
const message = "Remove the invisible control characters.";

/** One line, exactly as it was sent. */
export const lineSchema = z.string().regex(linePattern, message);

/** One line without the space around it. */
export const trimmedLineSchema = z.string().trim().regex(linePattern, message);

/** Lines that end in `\n`, without the space around them. Other systems' line ends become ours, and tabs spaces. */
export const paragraphsSchema = z
  .string()
  .overwrite((text) => text.replaceAll(/\r\n?/g, "\n").replaceAll("\t", " "))
  .trim()
  .regex(paragraphsPattern, message);
