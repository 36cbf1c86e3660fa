import { readFile, writeFile } from "node:fs/promises";
import { ModelError } from "@keelson/protocol";
import { parseJson } from "../json/index.ts";
import type { FetchLike } from "../transport/index.ts";
import { type Redact, type RedactionOptions, redactHeaders, redactorFor } from "./cassette-redaction.ts";
import { checkOptionNames } from "../json/option-names.ts";

/** Recorded requests and responses, in the order the requests were sent. */
export interface Cassette {
  readonly v: 1;
  readonly interactions: readonly CassetteInteraction[];
}

export interface CassetteInteraction {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: { readonly [name: string]: string };
    readonly body: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    /** The bytes as text, or in base64 where they are no UTF-8. */
    readonly body: string;
    readonly base64?: true;
    /** The lengths of the network chunks, in bytes. */
    readonly chunkSizes: readonly number[];
    /** The response broke off, with these words. */
    readonly broke?: string;
  };
}

export interface CassetteRecorder {
  /** For the `fetch` option of a provider. */
  readonly fetch: FetchLike;
  /** What was recorded, once all responses were read to their end. */
  cassette(): Promise<Cassette>;
  save(path: string): Promise<void>;
}

export interface RecordOptions extends RedactionOptions {
  /** What sends the requests. Default: the platform's. */
  readonly fetch?: FetchLike | undefined;
}

/**
 * Records what goes over a `fetch`, raw, with secrets taken out by value and by shape, and with the key of each request, wherever it is repeated. A secret that a model says piece by piece
 * stands in several events and is not seen: do not tell models secrets while you record.
 */
export function recordCassette(options: RecordOptions = {}): CassetteRecorder {
  checkOptionNames("recordCassette", options, { fetch: true, secrets: true, patterns: true });
  const send = options.fetch ?? (globalThis.fetch as FetchLike);
  const interactions: Promise<CassetteInteraction>[] = [];

  const record: FetchLike = async (url, init) => {
    const redact = redactorFor(options, Object.entries(init.headers));
    const request = describeRequest(url, init, redact);
    const recorded = Promise.withResolvers<CassetteInteraction>();
    // A request that fails before its response is no interaction; nobody may wait for this promise.
    recorded.promise.catch(() => undefined);
    const place = interactions.push(recorded.promise) - 1;
    let response: Response;
    try {
      response = await send(url, init);
    } catch (error) {
      interactions.splice(place, 1);
      throw error;
    }
    const chunks: Uint8Array[] = [];
    const finish = (broke?: string): void => recorded.resolve({ request, response: describeResponse(response, chunks, redact, broke) });
    const reader = response.body?.getReader();
    if (reader === undefined) {
      finish();
      return response;
    }
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            finish();
            controller.close();
            return;
          }
          chunks.push(value.slice());
          controller.enqueue(value);
        } catch (error) {
          finish(error instanceof Error ? error.message : String(error));
          controller.error(error);
        }
      },
      async cancel(reason) {
        // The reader has all it wanted: the cassette holds as much.
        finish();
        await reader.cancel(reason);
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };

  const cassette = async (): Promise<Cassette> => ({ v: 1, interactions: await Promise.all(interactions) });
  return { fetch: record, cassette, save: async (path) => writeFile(path, `${JSON.stringify(await cassette(), null, 1)}\n`) };
}

export async function loadCassette(path: string): Promise<Cassette> {
  const cassette = JSON.parse(await readFile(path, "utf8")) as Cassette;
  if (cassette.v !== 1 || !Array.isArray(cassette.interactions)) throw new Error(`${path} is no cassette of version 1: record it anew`);
  return cassette;
}

export interface CassettePlayer {
  readonly fetch: FetchLike;
  /** How many interactions were not asked for yet. */
  readonly remaining: number;
  /** @throws Error when some are left. */
  assertDone(): void;
}

/**
 * Responses from a cassette. Strict: requests must come in the recorded order and be the recorded ones (headers aside); the error
 * names the first difference. Give the same secrets as for the recording.
 */
export function replayCassette(cassette: Cassette, options: RedactionOptions = {}): CassettePlayer {
  checkOptionNames("replayCassette", options, { secrets: true, patterns: true });
  let next = 0;

  const replay: FetchLike = async (url, init) => {
    const place = next;
    const interaction = cassette.interactions[place];
    const request = describeRequest(url, init, redactorFor(options, Object.entries(init.headers)));
    if (interaction === undefined)
      throw mismatch(
        `the cassette has ${cassette.interactions.length} interactions, and ${request.method} ${request.url} is request ${place + 1}`,
      );
    const difference = firstDifference(interaction.request, request);
    if (difference !== undefined) throw mismatch(`request ${place + 1} is not the recorded one: ${difference}`);
    next += 1;
    init.signal.throwIfAborted();
    const { status, headers } = interaction.response;
    const replayed = new Response(status === 204 ? null : streamOf(interaction.response), { status });
    for (const [name, value] of Object.entries(headers)) replayed.headers.set(name, value);
    return replayed;
  };

  return {
    fetch: replay,
    get remaining() {
      return cassette.interactions.length - next;
    },
    assertDone() {
      const left = cassette.interactions[next];
      if (left !== undefined)
        throw new Error(
          `${cassette.interactions.length - next} recorded requests were not made; the first is ${left.request.method} ${left.request.url}`,
        );
    },
  };
}

/** No fault of a server: nothing is mended by asking again, so it must not pass for one. */
function mismatch(message: string): ModelError {
  return new ModelError({ kind: "invalid-request", message, code: "cassette-mismatch" });
}

function describeRequest(url: string, init: Parameters<FetchLike>[1], redact: Redact): CassetteInteraction["request"] {
  const body = init.body === undefined ? "" : Buffer.from(init.body).toString("utf8");
  return { method: init.method, url: redact(url), headers: redactHeaders(Object.entries(init.headers), redact), body: redact(body) };
}

function describeResponse(
  response: Response,
  chunks: readonly Uint8Array[],
  redact: Redact,
  broke: string | undefined,
): CassetteInteraction["response"] {
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text).equals(bytes);
  const safe = isText ? redact(text) : text;
  const headers = redactHeaders(response.headers, redact);
  // The platform has decoded the body already.
  delete headers["content-encoding"];
  delete headers["content-length"];
  return {
    status: response.status,
    headers,
    body: isText ? safe : bytes.toString("base64"),
    ...(!isText && { base64: true }),
    chunkSizes: safe === text ? chunks.map((chunk) => chunk.length) : fitted(chunks, Buffer.byteLength(safe)),
    ...(broke !== undefined && { broke: redact(broke) }),
  };
}

/** The chunk lengths for a body whose length redaction has changed. */
function fitted(chunks: readonly Uint8Array[], length: number): number[] {
  const sizes: number[] = [];
  let left = length;
  for (const chunk of chunks) {
    if (left === 0) break;
    sizes.push(Math.min(left, chunk.length));
    left -= sizes.at(-1) as number;
  }
  if (left > 0) sizes.push(left);
  return sizes;
}

function streamOf({ body, base64, chunkSizes, broke }: CassetteInteraction["response"]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Buffer.from(body, base64 === true ? "base64" : "utf8"));
  let at = 0;
  let chunk = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) {
        const size = Math.max(1, chunkSizes[chunk++] ?? bytes.length - at);
        controller.enqueue(bytes.slice(at, at + size));
        at += size;
      } else if (broke === undefined) controller.close();
      else controller.error(new Error(broke));
    },
  });
}

function firstDifference(recorded: CassetteInteraction["request"], now: CassetteInteraction["request"]): string | undefined {
  if (recorded.method !== now.method) return `method: recorded ${recorded.method}, now ${now.method}`;
  if (recorded.url !== now.url) return `url: recorded ${recorded.url}, now ${now.url}`;
  if (recorded.body === now.body) return undefined;
  try {
    return differenceAt("body", parseJson(recorded.body), parseJson(now.body));
  } catch {
    return `body: recorded ${shown(recorded.body)}, now ${shown(now.body)}`;
  }
}

/** Compares JSON values; the order of members does not count. */
function differenceAt(path: string, recorded: unknown, now: unknown): string | undefined {
  if (recorded === now) return undefined;
  if (
    typeof recorded !== "object" ||
    typeof now !== "object" ||
    recorded === null ||
    now === null ||
    Array.isArray(recorded) !== Array.isArray(now)
  ) {
    return `${path}: recorded ${shown(recorded)}, now ${shown(now)}`;
  }
  const before = recorded as Record<string, unknown>;
  const after = now as Record<string, unknown>;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = Array.isArray(recorded) ? `${path}[${name}]` : `${path}.${name}`;
    const difference = differenceAt(place, before[name], after[name]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
