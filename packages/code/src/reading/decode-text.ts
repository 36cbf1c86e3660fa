import { detectEncoding } from "./detect-encoding.ts";
import type { EncodingConfidence } from "./text-encoding.ts";
import { decodeWindows1252 } from "./windows-1252.ts";

/** A text and the facts about its bytes. */
export interface DecodedText {
  /** Without a byte order mark. */
  readonly text: string;
  /** A `TextEncoding`, or the encoding that was asked for. */
  readonly encoding: string;
  readonly confidence: EncodingConfidence;
  /** Bytes of the byte order mark. */
  readonly markBytes: number;
  /** True if some bytes are not valid in this encoding: U+FFFD replaces them. */
  readonly isDamaged: boolean;
}

/**
 * Decodes a text file. `undefined` if the bytes are not text.
 * @param options.encoding the encoding to read it in, by a name of the Encoding Standard. Default: the one that the bytes show
 * @throws RangeError if there is no encoding of that name
 */
export function decodeText(content: Uint8Array, { encoding }: { readonly encoding?: string | undefined } = {}): DecodedText | undefined {
  if (encoding !== undefined) return decodeAs(content, encoding);
  const detected = detectEncoding(content);
  if (detected === undefined) return undefined;
  return { ...detected, ...decodeBytes(content.subarray(detected.markBytes), detected.encoding) };
}

function decodeAs(content: Uint8Array, name: string): DecodedText {
  const { encoding } = new TextDecoder(name);
  const decoded = decodeBytes(content, encoding);
  const markBytes = decoded.text.startsWith("\uFEFF") ? (encoding === "utf-8" ? 3 : encoding === "gb18030" ? 4 : 2) : 0;
  const text = markBytes === 0 ? decoded.text : decoded.text.slice(1);
  return { text, encoding, confidence: "certain", markBytes, isDamaged: decoded.isDamaged };
}

/** Decodes bytes without a byte order mark. Invalid ones become U+FFFD. */
export function decodeBytes(bytes: Uint8Array, encoding: string): { readonly text: string; readonly isDamaged: boolean } {
  if (encoding === "windows-1252") return { text: decodeWindows1252(bytes), isDamaged: false };
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes), isDamaged: false };
  } catch {
    return { text: new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes), isDamaged: true };
  }
}
