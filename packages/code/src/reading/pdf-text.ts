import { Worker } from "node:worker_threads";
import { type Block, createBlock } from "./outline/block.ts";

export interface PdfRequest {
  readonly content: Uint8Array;
  /** Pages, counted from 1. */
  readonly first: number;
  readonly last: number;
}

/** The answer of the thread that parses. */
export type PdfAnswer =
  | { readonly kind: "pages"; readonly count: number; readonly pages: readonly { readonly number: number; readonly text: string }[] }
  | { readonly kind: "locked" | "damaged"; readonly message: string };

/** The text of a PDF, page by page. */
export type PdfText =
  | {
      readonly kind: "text";
      /** The pages of the file. */
      readonly count: number;
      /** The last page that was read. */
      readonly last: number;
      readonly lines: readonly string[];
      /** One block for each page. */
      readonly blocks: readonly Block[];
      /** Pages without text: images of pages, most often. */
      readonly empty: readonly number[];
    }
  | { readonly kind: "locked" | "damaged" | "too-slow"; readonly message: string };

/** More pages are read by further calls. */
export const MAX_PDF_PAGES = 100;
const TIMEOUT_MS = 30_000;
const MAX_HEAP_MIB = 512;
/** The memory that a PDF may take outside of the heap, in which streams are unpacked. */
const MAX_GROWTH_BYTES = 1024 ** 3;
const WATCH_MS = 50;

/** Reads pages of a PDF in a thread that is ended when it takes too long or too much memory. */
export async function pdfText(
  content: Uint8Array,
  {
    first = 1,
    last = first + MAX_PDF_PAGES - 1,
    maxGrowthBytes = MAX_GROWTH_BYTES,
    signal,
  }: { readonly first?: number; readonly last?: number; readonly maxGrowthBytes?: number; readonly signal: AbortSignal },
): Promise<PdfText> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  // A copy: the parser takes the bytes over.
  const request: PdfRequest = { content: Uint8Array.from(content), first, last: Math.min(last, first + MAX_PDF_PAGES - 1) };
  const answer = await askWorker(request, AbortSignal.any([signal, timeout]), maxGrowthBytes).catch((error: unknown): PdfAnswer => {
    signal.throwIfAborted();
    return { kind: "damaged", message: error instanceof Error ? error.message : String(error) };
  });
  if (timeout.aborted && answer.kind !== "pages") return { kind: "too-slow", message: `reading it took more than ${TIMEOUT_MS / 1000} s` };
  return answer.kind === "pages" ? textOf(answer) : answer;
}

function askWorker(request: PdfRequest, signal: AbortSignal, maxGrowthBytes: number): Promise<PdfAnswer> {
  // The build puts the thread's program beside the chunk that this file becomes.
  const program = new URL(import.meta.url.endsWith(".ts") ? "./pdf-worker.ts" : "./pdf-worker.js", import.meta.url);
  const worker = new Worker(program, {
    workerData: request,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PdfAnswer>();
  const stop = (): void => reject(signal.reason);
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > maxGrowthBytes) reject(new Error("unpacking it takes too much memory"));
  }, WATCH_MS);
  signal.addEventListener("abort", stop, { once: true });
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", (code) => reject(new Error(`The thread that read the PDF ended with code ${code}.`)));
  return promise.finally(() => {
    clearInterval(watch);
    signal.removeEventListener("abort", stop);
    void worker.terminate();
  });
}

function textOf({ count, pages }: Extract<PdfAnswer, { readonly kind: "pages" }>): PdfText {
  const lines: string[] = [];
  const blocks: Block[] = [];
  const empty: number[] = [];
  for (const { number, text } of pages) {
    const start = lines.length + 1;
    const own = text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trimEnd())
      .filter((line, index, all) => line !== "" || (index > 0 && all[index - 1] !== ""));
    const written = own.filter((line) => line.trim() !== "");
    if (written.length === 0) empty.push(number);
    lines.push(`[Page ${number} of ${count}]`, ...(written.length === 0 ? ["[No text.]"] : own));
    blocks.push(createBlock(start, lines.length, `page ${number}: ${written[0] ?? "no text"}`));
  }
  return { kind: "text", count, last: pages.at(-1)?.number ?? 0, lines, blocks, empty };
}
