// A model server on loopback for the bench, in a process of its own: Chat Completions, streamed. It answers by the script in the
// model's name, and reads from the last call id of a request how far the conversation is; so it keeps no state.
//   prints {"port": …} when it listens, ends with its standard input; GET /usage tells the CPU it has used
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { scriptOf, TOOL_NAME } from "./task.ts";

const CALL_ID = Buffer.from("call-number-");
const MODEL = Buffer.from('"model":"');
const WORDS = ["The ", "lamp ", "stands ", "in ", "chapter ", "two, ", "and ", "shines.\n"];
/** Events that go out in one piece, as from a server that is faster than its client. */
const EVENTS_PER_WRITE = 16;
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

const responses = new Map<string, readonly Buffer[]>();

function event(round: number, delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: `chatcmpl-${round}`, object: "chat.completion.chunk", created: 1_760_000_000, model: "scripted", system_fingerprint: "fp_1", choices })}\n\n`;
}

function eventsOf(round: number, delta: readonly object[], finishReason: string): readonly string[] {
  const end = {
    id: `chatcmpl-${round}`,
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "scripted",
    choices: [],
    usage: USAGE,
  };
  return [
    event(round, { role: "assistant", content: "" }),
    ...delta.map((part) => event(round, part)),
    event(round, {}, finishReason),
    `data: ${JSON.stringify(end)}\n\n`,
    "data: [DONE]\n\n",
  ];
}

/** @param call from 1; 0 asks for the text that ends the conversation */
function responseOf(call: number, chunks: number): readonly Buffer[] {
  const key = call === 0 ? `text/${chunks}` : `call/${call}`;
  const known = responses.get(key);
  if (known !== undefined) return known;
  let events: readonly string[];
  if (call === 0) {
    events = eventsOf(
      0,
      Array.from({ length: chunks }, (_, index) => ({ content: WORDS[index % WORDS.length] })),
      "stop",
    );
  } else {
    const text = JSON.stringify({ book: `Tales of the coast, volume ${call % 89}`, page: call });
    const third = Math.ceil(text.length / 3);
    const pieces = [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)];
    const start = { index: 0, id: `${CALL_ID}${call}-end`, type: "function", function: { name: TOOL_NAME, arguments: "" } };
    events = eventsOf(
      call,
      [{ tool_calls: [start] }, ...pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }))],
      "tool_calls",
    );
  }
  const writes: Buffer[] = [];
  for (let at = 0; at < events.length; at += EVENTS_PER_WRITE) writes.push(Buffer.from(events.slice(at, at + EVENTS_PER_WRITE).join("")));
  responses.set(key, writes);
  return writes;
}

/** Calls answered so far: ids are numbered, and histories end with the newest. */
function callsSoFar(body: Buffer): number {
  const at = body.lastIndexOf(CALL_ID);
  return at < 0 ? 0 : Number.parseInt(body.toString("latin1", at + CALL_ID.length, at + CALL_ID.length + 8), 10);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ cpuMs: (user + system) / 1000 }));
    return;
  }
  const body = await bodyOf(request);
  const name = body.indexOf(MODEL) + MODEL.length;
  const script = scriptOf(body.toString("latin1", name, body.indexOf('"', name)));
  if (script === undefined || request.url?.split("?")[0]?.endsWith("/chat/completions") !== true) {
    response
      .writeHead(404, { "content-type": "application/json" })
      .end(`{"error":{"message":"there is no script for this model at ${request.url}"}}`);
    return;
  }
  const done = callsSoFar(body);
  const writes = responseOf(done < script.calls ? done + 1 : 0, script.chunks);
  const send = (): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const write of writes.slice(0, -1)) response.write(write);
    response.end(writes.at(-1));
  };
  if (script.delayMs > 0) setTimeout(send, script.delayMs);
  else send();
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.listen(0, "127.0.0.1", 4096, () => process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
