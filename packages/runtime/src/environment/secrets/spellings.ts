/** What is shorter can't be told from other text. */
export const LEAST_SECRET_LENGTH = 4;
/** From here on an encoded form does not stand in other texts by chance. */
const LEAST_ENCODED_BYTES = 8;

/**
 * The ways in which a value may be written: as it is; escaped for JSON, for JSON in JSON, for URLs, forms and HTML; in hexadecimal; in base64
 * of both alphabets, wherever it stands in what was encoded (`Basic` of user and password, say). The longest first.
 */
export function spellingsOf(secret: string): readonly string[] {
  const value = secret.trim();
  if (value.length < LEAST_SECRET_LENGTH) return [];
  const inJson = JSON.stringify(value).slice(1, -1);
  const inUrl = percentEncoded(value);
  const found = [
    value,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inJson.replaceAll("/", "\\/"),
    inAscii(inJson),
    inAscii(inJson).replace(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`),
    ...[inUrl, inUrl.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)].flatMap((form) => [
      form,
      form.replaceAll("%20", "+"),
      form.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
      percentEncoded(form),
    ]),
    inHtml(value, "&#39;"),
    inHtml(value, "&#x27;"),
  ];
  const bytes = Buffer.from(value, "utf8");
  if (bytes.length >= LEAST_ENCODED_BYTES) {
    const hex = bytes.toString("hex");
    const inBase64 = [0, 1, 2].flatMap((offset) => {
      const core = base64At(bytes, offset);
      return [core, core.replaceAll("+", "-").replaceAll("/", "_"), core.replaceAll("/", "\\/"), percentEncoded(core)];
    });
    found.push(hex, hex.toUpperCase(), ...inBase64);
  }
  return [...new Set(found)].sort((a, b) => b.length - a.length);
}

/** What is certain to stand in base64 where the bytes begin so far behind a multiple of three: what else is beside them changes only the edges. */
function base64At(bytes: Buffer, offset: 0 | 1 | 2 | number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** Half of a pair that stands for one character can't be encoded, and becomes what encoders make of it. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function inAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function inHtml(text: string, apostrophe: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", apostrophe);
}
