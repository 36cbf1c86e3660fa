// What the bench compares with: a loop that a person would write by hand in an afternoon. `raw` is a bare loop over the global
// fetch; `raw-http` is the floor: node:http, and a history that is kept as the bytes to send. Neither keeps events or a log,
// retries, cancels or checks limits.
import { Agent, request } from "node:http";
import { z } from "zod";
import {
  INSTRUCTIONS,
  readPage,
  scriptName,
  type Subject,
  TASK,
  TOOL_DESCRIPTION,
  TOOL_NAME,
  TOOL_PARAMETERS,
  type Watcher,
} from "./task.ts";

interface Call {
  id: string;
  readonly type: "function";
  readonly function: { name: string; arguments: string };
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

const parameters = z.object({ book: z.string(), page: z.number() });
const TOOLS = [{ type: "function", function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_PARAMETERS } }];
const FIRST_MESSAGES = [
  { role: "system", content: INSTRUCTIONS },
  { role: "user", content: TASK },
];

/** Puts one streamed response together. */
class StreamedResponse {
  text = "";
  readonly calls: Call[] = [];
  readonly #decoder = new TextDecoder();
  readonly #watcher: Watcher;
  #rest = "";

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ") && line !== "data: [DONE]") this.#take(JSON.parse(line.slice(6)) as Chunk);
  }

  #take({ choices: [choice] }: Chunk): void {
    if (choice === undefined) return;
    const { content, tool_calls: fragments } = choice.delta;
    if (content) {
      this.text += content;
      this.#watcher.onText(content);
    }
    for (const fragment of fragments ?? []) {
      const call = (this.calls[fragment.index] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
      call.id ||= fragment.id ?? "";
      call.function.name ||= fragment.function?.name ?? "";
      call.function.arguments += fragment.function?.arguments ?? "";
    }
  }

  get message(): object {
    return this.calls.length === 0
      ? { role: "assistant", content: this.text }
      : { role: "assistant", content: this.text || null, tool_calls: this.calls };
  }
}

function toolMessages(calls: readonly Call[], watcher: Watcher): readonly object[] {
  return calls.map((call) => {
    const { book, page } = parameters.parse(JSON.parse(call.function.arguments));
    watcher.onToolCall();
    return { role: "tool", tool_call_id: call.id, content: readPage(book, page) };
  });
}

export function createRaw(baseUrl: string): Subject {
  return createRawKeeping(baseUrl);
}

/** @param keep is given what a conversation adds to its messages, before anything is done with it; the last response `atEnd` */
export function createRawKeeping(baseUrl: string, keep?: (messages: readonly object[], atEnd: boolean) => void): Subject {
  return {
    async run(conversation, watcher) {
      const messages: object[] = [...FIRST_MESSAGES];
      keep?.(messages, false);
      for (;;) {
        const response = await fetch(`${baseUrl}/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", "authorization": "Bearer none" },
          body: JSON.stringify({
            model: scriptName(conversation),
            messages,
            tools: TOOLS,
            stream: true,
            stream_options: { include_usage: true },
          }),
        });
        if (!response.ok || response.body === null) throw new Error(`the model server answered ${response.status}`);
        const streamed = new StreamedResponse(watcher);
        for await (const bytes of response.body) streamed.push(bytes);
        messages.push(streamed.message);
        const atEnd = streamed.calls.length === 0;
        keep?.([streamed.message], atEnd);
        if (atEnd) return streamed.text;
        const results = toolMessages(streamed.calls, watcher);
        keep?.(results, false);
        messages.push(...results);
      }
    },
  };
}

/** A request body that grows at its end: what is in it is never encoded again. */
class GrowingBody {
  #bytes = Buffer.allocUnsafe(16 * 1024);
  #length: number;
  readonly #tail: Buffer;

  constructor(head: string, tail: string) {
    this.#length = this.#bytes.write(head);
    this.#tail = Buffer.from(tail);
  }

  push(messages: readonly object[], first = false): void {
    const text = `${first ? "" : ","}${JSON.stringify(messages).slice(1, -1)}`;
    const needed = this.#length + 3 * text.length + this.#tail.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** To be sent before the next `push`. */
  whole(): Buffer {
    return this.#bytes.subarray(0, this.#length + this.#tail.copy(this.#bytes, this.#length));
  }
}

export function createRawHttp(baseUrl: string): Subject {
  const { hostname, port, pathname } = new URL(`${baseUrl}/chat/completions`);
  const agent = new Agent({ keepAlive: true });
  const post = (body: Buffer, streamed: StreamedResponse): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": body.length };
      const sent = request({ hostname, port, path: pathname, method: "POST", agent, headers }, (response) => {
        response.on("data", (bytes: Buffer) => streamed.push(bytes));
        response.on("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`the model server answered ${response.statusCode}`)),
        );
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  return {
    async run(conversation, watcher) {
      const model = JSON.stringify(scriptName(conversation));
      const body = new GrowingBody(
        `{"model":${model},"stream":true,"stream_options":{"include_usage":true},"tools":${JSON.stringify(TOOLS)},"messages":[`,
        "]}",
      );
      body.push(FIRST_MESSAGES, true);
      for (;;) {
        const streamed = new StreamedResponse(watcher);
        await post(body.whole(), streamed);
        if (streamed.calls.length === 0) return streamed.text;
        body.push([streamed.message, ...toolMessages(streamed.calls, watcher)]);
      }
    },
    async close() {
      agent.destroy();
    },
  };
}
