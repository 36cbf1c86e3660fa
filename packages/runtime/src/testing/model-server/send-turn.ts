import type { ServerResponse } from "node:http";
import { once } from "node:events";
import { SERVER_WIRES, type StreamForm } from "./server-route.ts";
import type { EncodedTurn, ServerEvent, ServerRequest, ServerTurn } from "./server-turn.ts";

const STREAM_TYPES: { readonly [form in StreamForm]: string } = {
  sse: "text/event-stream",
  lines: "application/x-ndjson",
  array: "application/json",
};

/** Sends a turn as its wire has it, with whatever is wrong with it. `form` says how to stream; `undefined`: all at once. */
export async function sendTurn(
  turn: ServerTurn,
  request: ServerRequest,
  form: StreamForm | undefined,
  response: ServerResponse,
): Promise<void> {
  const { misbehave = {} } = turn;
  if (misbehave.stall === "before-headers") return;
  if (misbehave.resetBeforeHeaders === true) {
    response.socket?.resetAndDestroy();
    return;
  }
  const requestId = `req_${request.index}`;
  const headers = { "request-id": requestId, ...turn.headers };
  const wire = SERVER_WIRES[request.wire];
  const status = turn.status ?? (turn.error === undefined ? 200 : 500);

  if (status !== 200 || turn.error !== undefined) {
    const body = misbehave.body ?? JSON.stringify(wire.error(turn.error ?? { message: `status ${status}` }, status, requestId));
    response.writeHead(status, { "content-type": misbehave.contentType ?? "application/json", ...headers });
    response.end(body);
    return;
  }
  const encoded = wire.encode(turn, request);
  const streamForm = misbehave.wholeJson === true ? undefined : form;
  const contentType = misbehave.contentType ?? (streamForm === undefined ? "application/json" : STREAM_TYPES[streamForm]);
  response.writeHead(200, { "content-type": contentType, ...headers });
  if (misbehave.stall === "before-body") {
    response.flushHeaders();
    return;
  }
  const streamed = streamForm === undefined ? [JSON.stringify(encoded.whole)] : streamText(encoded, turn, request, streamForm);
  await send(misbehave.body === undefined ? streamed : [misbehave.body], misbehave, response);
}

/** The stream of a turn, event by event, with the misbehaviour that shows in its text. */
function* streamText(encoded: EncodedTurn, turn: ServerTurn, request: ServerRequest, form: StreamForm): Generator<string> {
  const { misbehave = {} } = turn;
  const wire = SERVER_WIRES[request.wire];
  const newline = misbehave.lineEnd ?? "\n";
  let before = form === "array" ? "[" : "";
  const frame = ({ name, data }: ServerEvent): string => {
    if (form === "lines") return `${data}${newline}`;
    if (form === "array") {
      const element = `${before}${data}`;
      before = `,${newline}`;
      return element;
    }
    return misbehave.bare === true
      ? `data:${data}${newline}${newline}`
      : `${name === "" ? "" : `event: ${name}${newline}`}data: ${data}${newline}${newline}`;
  };
  const comment = (at: number): string => (form === "sse" ? `: keep-alive${newline}${at % 2 === 0 ? newline : ""}` : newline);
  const events = encoded.events.filter(
    ({ role }) =>
      !(role === "finish" && misbehave.omitFinish === true) &&
      !(role === "end" && (misbehave.omitEnd === true || misbehave.omitFinish === true)),
  );
  const middle = Math.floor(events.length / 2);
  let inflated = false;
  for (const [at, event] of events.entries()) {
    if (misbehave.comments === true) yield comment(at);
    if (misbehave.pings === true) yield frame(wire.ping);
    if (at === middle && misbehave.errorInStream !== undefined)
      yield frame(wire.streamError(misbehave.errorInStream, `req_${request.index}`));
    if (at === middle && misbehave.garbage !== undefined) yield frame({ name: "", data: misbehave.garbage });
    yield frame(event);
    if (misbehave.hugeTextBytes !== undefined && !inflated && event.role === "text") {
      inflated = true;
      for (let sent = 0; sent < misbehave.hugeTextBytes; sent += event.data.length) yield frame(event);
    }
  }
  if (form === "array" && misbehave.omitEnd !== true) yield `${before === "[" ? "[" : ""}]`;
}

async function send(text: Iterable<string>, misbehave: NonNullable<ServerTurn["misbehave"]>, response: ServerResponse): Promise<void> {
  let left = misbehave.resetAfterBytes ?? (misbehave.stall === "in-body" ? halfOf((text = [...text])) : Number.POSITIVE_INFINITY);
  for (const piece of text) {
    let bytes = Buffer.from(piece);
    const cut = bytes.length > left;
    if (cut) bytes = bytes.subarray(0, left);
    left -= bytes.length;
    const size = misbehave.chunkBytes ?? Math.max(1, bytes.length);
    for (let at = 0; at < bytes.length; at += size) {
      if (response.destroyed) return;
      const last = cut && at + size >= bytes.length;
      if (last) await new Promise((written) => response.write(bytes.subarray(at, at + size), written));
      // Chunks that go out in one turn would arrive as one.
      else if (!response.write(bytes.subarray(at, at + size))) await drained(response);
      else if (misbehave.chunkBytes !== undefined) await new Promise((next) => setImmediate(next));
    }
    if (!cut && left > 0) continue;
    if (misbehave.resetAfterBytes !== undefined) response.socket?.resetAndDestroy();
    return;
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  over.abort();
}

function halfOf(text: readonly string[]): number {
  return Math.floor(text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) / 2);
}
