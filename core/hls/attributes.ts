/** Attribute lists, RFC 8216 §4.2: `NAME=value,NAME="quoted, text"`. */

/**
 * The attributes by name, quotes taken off. A name given twice keeps its first value.
 * Returns null where the text isn't an attribute list.
 */
export function parseAttributes(text: string): ReadonlyMap<string, string> | null {
  const attributes = new Map<string, string>();
  const pattern = /([A-Z0-9-]+)=("[^"\r\n]*"|[^",\s][^",]*)(?:,\s*|$)/y;
  let end = 0;
  while (end < text.length) {
    pattern.lastIndex = end;
    const [whole, name, value] = pattern.exec(text) ?? [];
    if (whole === undefined || name === undefined || value === undefined) return null;
    if (!attributes.has(name)) attributes.set(name, value.startsWith('"') ? value.slice(1, -1) : value);
    end += whole.length;
  }
  return attributes;
}

/** A quoted string. @throws RangeError for text that can't stand in one. */
export function quoted(text: string): string {
  if (/["\r\n]/.test(text)) throw new RangeError("a quoted string holds no quotes and no line breaks");
  return `"${text}"`;
}
