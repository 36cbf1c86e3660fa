import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { JsonObject } from "@keelson/protocol";

/** Recorded traffic stands outside the repository: beside the checkout, or where KEELSON_SHARED says. */
const shared = process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../../../../shared");
const folder = resolve(shared, "fixtures/wire");

export const recordingsThere: boolean = existsSync(folder);
/** What to say in the title of a suite that cannot run. */
export const recordingsNote: string = recordingsThere ? "" : ` (skipped: no recordings at ${folder}; set KEELSON_SHARED)`;

export interface ExpectedCall {
  readonly id: string | null;
  readonly item_id?: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly arguments_invalid?: boolean;
  readonly arguments_raw?: string;
  readonly custom?: boolean;
}

export interface ExpectedError {
  readonly status?: number | null;
  readonly type?: string | null;
  readonly code?: string | number | null;
  readonly message: string;
  readonly in_stream?: boolean;
}

export interface Recording {
  readonly id: string;
  readonly wire: string;
  readonly provider: string;
  readonly streamed: boolean;
  readonly conversation: string;
  readonly step: number;
  readonly linked_to_previous: boolean;
  readonly request: { readonly path: string; readonly body: JsonObject | null };
  readonly response: {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: string;
    readonly chunk_sizes?: readonly number[];
  };
  readonly expect: {
    readonly text: string;
    readonly tool_calls: readonly ExpectedCall[];
    readonly function_call?: { readonly name: string; readonly arguments: unknown };
    readonly stop_reason: string | null;
    readonly incomplete_reason?: string;
    readonly usage: { readonly [name: string]: number | null } | null;
    readonly thinking?: string;
    readonly reasoning_summary?: readonly string[];
    readonly refusal?: string;
    readonly annotations?: number;
    readonly item_types?: readonly string[];
    readonly server_items?: readonly unknown[];
    readonly message_id?: string;
    readonly model?: string;
    readonly error?: ExpectedError;
  };
}

/** All recordings that `chosen` takes, by id; none where there are none. */
export function recordings(chosen: (recording: Recording) => boolean): readonly Recording[] {
  if (!recordingsThere) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(resolve(folder, name)).map((file) => JSON.parse(readFileSync(resolve(folder, name, file), "utf8")) as Recording),
    )
    .filter(chosen);
}

/** A small generator with a seed, so that a failing cut can be made again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function cut(bytes: Buffer, seed: number): readonly Buffer[] {
  const next = random(seed);
  const longest = [1, 3, 17, 300, 5000][seed % 5] as number;
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(next() * longest);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function inSizes(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)].filter((chunk) => chunk.length > 0);
}

/** The body as it may come: whole, as it was recorded, and cut at random; the same cuts for the same recording. */
export function deliveries(recording: Recording, cuts: number): readonly (readonly Buffer[])[] {
  const bytes = Buffer.from(recording.response.body);
  const seed = [...recording.id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7) >>> 0;
  const recorded = recording.response.chunk_sizes;
  return [
    [bytes],
    ...(recorded === undefined ? [] : [inSizes(bytes, recorded)]),
    ...Array.from({ length: cuts }, (_, at) => cut(bytes, (seed % 1_000_000) * 5 + at)),
  ];
}

export interface SentRequest {
  readonly url: string;
  readonly body: JsonObject;
}

/** A `fetch` that answers as the recording did, in these chunks, and keeps what was sent. */
export function replay(
  recording: Recording,
  chunks: readonly Buffer[],
  sent: SentRequest[] = [],
): (url: string, init: { readonly body?: Uint8Array }) => Promise<Response> {
  const headers = Object.entries(recording.response.headers).filter(
    ([name]) => !/^(?:transfer-encoding|content-encoding|content-length)$/.test(name),
  );
  return async (url, { body }) => {
    sent.push({ url, body: body === undefined ? {} : (JSON.parse(Buffer.from(body).toString()) as JsonObject) });
    const stream = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
        controller.close();
      },
    });
    return new Response(stream, { status: recording.response.status, headers });
  };
}
