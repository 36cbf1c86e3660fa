import { isUtf8 } from "node:buffer";

/** What the bytes of a file are taken for. */
export type TextContent =
  | { readonly kind: "text"; readonly text: string; readonly encoding: "utf-8" | "utf-16le" | "utf-16be" | "latin1" }
  | { readonly kind: "image"; readonly mediaType: string }
  | { readonly kind: "binary" };

// As git does: a NUL this early means binary.
const BINARY_PROBE_BYTES = 8192;
const IMAGE_SIGNATURES: readonly (readonly [mediaType: string, offset: number, bytes: readonly number[]])[] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
];

/** Decides by the bytes, not by the name. Text that is not Unicode is read byte by byte, which never fails. */
export function readContent(content: Uint8Array): TextContent {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (const [mediaType, offset, signature] of IMAGE_SIGNATURES)
    if (signature.every((byte, index) => bytes[offset + index] === byte)) return { kind: "image", mediaType };
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { kind: "text", text: new TextDecoder("utf-16le").decode(bytes), encoding: "utf-16le" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { kind: "text", text: new TextDecoder("utf-16be").decode(bytes), encoding: "utf-16be" };
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return { kind: "binary" };
  if (!isUtf8(bytes)) return { kind: "text", text: bytes.toString("latin1"), encoding: "latin1" };
  return { kind: "text", text: bytes.toString("utf8", hasByteOrderMark(bytes) ? 3 : 0), encoding: "utf-8" };
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Lines without their ends; an end of line at the end of the text begins no further line. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** True when every line ends with CR LF, and there is one. */
export function usesCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

/** The same text with CR LF at the end of every line. */
export function withCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** `1 line`, `1,234 bytes`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : noun.endsWith("match") ? "es" : "s"}`;
}
