import type { LargeLine, LargeText } from "./large-text.ts";
import type { LineRange } from "./line-ranges.ts";

const HEAD_LINES = 60;
const TAIL_LINES = 40;
/** Bytes of a token, on the small side. */
const TOKEN_BYTES = 3;

export interface PresentLargeOptions {
  /** The path in messages. */
  readonly name: string;
  readonly ranges: readonly LineRange[] | undefined;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

/** Shows regions of a text that is not held in memory; without ranges its beginning and its end. */
export async function presentLarge(text: LargeText, { name, ranges, maxTokens, signal }: PresentLargeOptions): Promise<string> {
  const maxBytes = maxTokens * TOKEN_BYTES;
  if (ranges === undefined) {
    const total = await text.count(signal);
    const head = await text.lines({ start: 1, end: HEAD_LINES, maxBytes: maxBytes / 2 }, signal);
    const from = Math.max(head.length + 1, total - TAIL_LINES + 1);
    const tail = await text.lines({ start: from, end: total, maxBytes: maxBytes / 2 }, signal);
    return [
      ...number(head, 1),
      "…",
      ...number(tail, from),
      `[${name} has ${text.size.toLocaleString("en-US")} bytes in ${total.toLocaleString("en-US")} lines, too many to be read whole: its beginning and its end are shown. Read on with ranges, as in ranges ["${head.length + 1}-${head.length + 200}"] or ["-200"], or search it with grep.]`,
    ].join("\n");
  }
  const parts: string[] = [];
  const share = maxBytes / ranges.length;
  for (const range of ranges) {
    if (parts.length > 0) parts.push("…");
    parts.push(...(await presentRange(text, range, share, signal)));
  }
  return parts.join("\n");
}

async function presentRange(text: LargeText, range: LineRange, maxBytes: number, signal: AbortSignal): Promise<readonly string[]> {
  if (range.kind === "characters") {
    const { line, from } = range;
    const to = Math.min(range.to ?? Number.POSITIVE_INFINITY, from + Math.floor(maxBytes) - 1);
    const found = await text.lineBytes({ line, from, to }, signal);
    if (found === undefined) return [`[The file has no line ${line}.]`];
    const more = found.omittedBytes > 0 ? ` Read on with ranges ["${line}:${to + 1}-"].` : "";
    return [
      `${line}:${from}-${to}\t${found.text}`,
      `[Bytes ${from} to ${to} of line ${line}: in a file of this size they are counted, not characters.${more}]`,
    ];
  }
  const total = range.kind === "last" ? await text.count(signal) : undefined;
  const start = range.kind === "last" ? Math.max(1, (total as number) - range.count + 1) : range.start;
  const end = range.kind === "last" ? (total as number) : (range.end ?? Number.POSITIVE_INFINITY);
  const lines = await text.lines({ start, end, maxBytes }, signal);
  if (lines.length === 0)
    return [`[The file has ${(await text.count(signal)).toLocaleString("en-US")} lines; line ${start} is behind its end.]`];
  const last = start + lines.length - 1;
  return [
    ...number(lines, start),
    ...(last < end ? [`[Lines ${start} to ${last}. Read on with offset ${last + 1}, if there are more.]`] : []),
  ];
}

function number(lines: readonly LargeLine[], start: number): readonly string[] {
  return lines.map(({ text, omittedBytes }, index) => {
    const line = start + index;
    if (omittedBytes === 0) return `${line}\t${text}`;
    return `${line}\t${text.replace(/\uFFFD+$/, "")} [... ${omittedBytes.toLocaleString("en-US")} more bytes in this line: ranges ["${line}:${Buffer.byteLength(text) + 1}-"]]`;
  });
}
