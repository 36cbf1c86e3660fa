import { damagedLine } from "./export-line.ts";

/** No line is longer: a record, or a part of a blob. */
const MAX_LINE_CHARS = 256 * 1024 * 1024;

/** The lines of a text that comes in pieces, without their ends. @throws LogError `corrupt` where it is no UTF-8, or a line has no end in sight */
export async function* linesOf(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let number = 1;
  // A long line is put together once, when its end is there.
  let line: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let text: string;
    try {
      text = typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    } catch {
      throw damagedLine(number, "it, or a line soon after it, is no UTF-8");
    }
    const parts = text.split("\n");
    for (const [index, part] of parts.entries()) {
      line.push(part);
      length += part.length;
      if (length > MAX_LINE_CHARS) throw damagedLine(number, `it is longer than ${MAX_LINE_CHARS} characters`);
      if (index === parts.length - 1) break;
      yield line.join("");
      number++;
      line = [];
      length = 0;
    }
  }
  if (length > 0) yield line.join("");
}
