import { type Executor, McpError } from "@keelson/protocol";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { MAX_JSON_DEPTH, nestsDeeper } from "../../json/index.ts";
import { exactMessage } from "../exact-message.ts";
import { createLineReader } from "./line-reader.ts";
import { createMessageLimit, EXCEEDED_LIMIT } from "./message-limit.ts";
import { createTextQueue } from "./text-queue.ts";

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
}

export interface StdioTransportOptions {
  /** The name of the server, for errors. */
  readonly name: string;
  readonly server: StdioServer;
  /** What runs it. All of its process group is gone once that is over. */
  readonly execute: Executor["execute"];
  /** Checks what was read and gives it its type. */
  readonly parse: (message: unknown) => JSONRPCMessage;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
}

/** `pid` and `stderr` are what the SDK knows a program by that stays silent when it is asked something it does not know. */
export interface StdioTransport extends Transport {
  readonly pid: number | null;
  readonly stderr: null;
  /** The last that it wrote to its standard error. */
  readonly lastWords: string;
  /** Why it is gone, where it ended by itself. */
  readonly ending: string | undefined;
}

// From the end of its input to the end of the program: what the specification calls a reasonable time.
const CLOSE_GRACE_MS = 2000;
const MAX_GARBAGE_LINES = 1000;
// Of the largest size that a message may have, between two answers.
const MAX_UNASKED_MESSAGES = 4;
const LAST_WORDS = 2000;

/** A server that is a program: messages are lines of its standard input and output. */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { name, server, execute, parse, clock, maxMessageBytes } = options;
  const maxUnasked = MAX_UNASKED_MESSAGES * maxMessageBytes;
  const input = createTextQueue(4 * maxMessageBytes, deaf);
  const lines = createLineReader(maxMessageBytes);
  const kill = new AbortController();
  let running: Promise<void> | undefined;
  const asked = new Set<string | number>();
  const limit = createMessageLimit(clock);
  let garbage = 0;
  let unasked = 0;
  let lastWords = "";
  let ending: string | undefined;
  let pid: number | null = null;

  const refuse = (what: string): never => {
    throw new McpError({ kind: "protocol", server: name, message: `The server "${name}" was stopped: ${what}` });
  };
  const receive = (line: string): void => {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      const value: unknown = JSON.parse(exactMessage(line));
      if (nestsDeeper(value, MAX_JSON_DEPTH)) throw new TypeError(`more than ${MAX_JSON_DEPTH} levels of lists and objects`);
      message = parse(value);
    } catch (error) {
      transport.onerror?.(new Error(`not a message: ${line.slice(0, 200)}`, { cause: error }));
      if (++garbage > MAX_GARBAGE_LINES) refuse(`it wrote more than ${MAX_GARBAGE_LINES} lines that are no messages.`);
      return;
    }
    // What is no answer, or the answer to nothing, is what nobody asked for.
    const isAnswer = !("method" in message) && message.id !== undefined && asked.delete(message.id);
    unasked = isAnswer ? 0 : unasked + line.length;
    if (!isAnswer && limit.isExceeded()) refuse(`${EXCEEDED_LIMIT}.`);
    if (unasked > maxUnasked) refuse(`it wrote more than ${maxUnasked} bytes that nobody asked for (four times \`maxMessageBytes\`).`);
    // The SDK looks at what it is told of a request a moment later than at its answer.
    if ("method" in message) transport.onmessage?.(message);
    else setImmediate(() => transport.onmessage?.(message));
  };
  const onOutput = (stream: "stdout" | "stderr", text: string): void => {
    if (stream === "stderr") {
      lastWords = (lastWords + text).slice(-LAST_WORDS);
      return;
    }
    let read: readonly string[] = [];
    try {
      read = lines.push(text);
    } catch {
      refuse(`it wrote a message of more than ${maxMessageBytes} bytes (\`maxMessageBytes\`).`);
    }
    for (const line of read) receive(line);
  };

  const transport: StdioTransport = {
    stderr: null,
    get pid() {
      return pid;
    },
    get lastWords() {
      return lastWords.trim();
    },
    get ending() {
      return ending;
    },
    async start() {
      const { promise: started, resolve, reject } = Promise.withResolvers<void>();
      running = execute({
        program: server.command,
        args: server.args,
        env: server.env,
        ...(server.cwd !== undefined && { cwd: server.cwd }),
        inheritEnv: false,
        stdin: input,
        maxOutputBytes: 1024,
        signal: kill.signal,
        onStart(program) {
          pid = program.pid;
          resolve();
        },
        onOutput,
      }).then(
        ({ exitCode, signal }) => void (ending ??= signal === null ? `it ended with exit code ${exitCode}` : `it was ended by ${signal}`),
        (error: unknown) => {
          ending ??= error instanceof Error ? error.message : String(error);
          if (!kill.signal.aborted) transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
          reject(error);
        },
      );
      void running.then(() => {
        input.end();
        // A program that is gone before it was said to run.
        reject(new McpError({ kind: "transport", server: name, message: `The server "${name}" did not start: ${ending}` }));
        transport.onclose?.();
      });
      await started;
    },
    async send(message) {
      if (ending === undefined && running !== undefined && input.push(`${JSON.stringify(message)}\n`)) {
        if ("method" in message && "id" in message) asked.add(message.id);
        return;
      }
      const why = ending ?? (running === undefined ? "it was not started" : "it does not read what it is sent");
      throw new McpError({ kind: "transport", server: name, message: `The server "${name}" can't be sent anything: ${why}.` });
    },
    async close() {
      input.end();
      await endSoon();
    },
  };
  return transport;

  /** It closed its input, and is about to end, or of no use any more. */
  function deaf(): void {
    void endSoon();
  }

  async function endSoon(): Promise<void> {
    if (running === undefined) return;
    const cancel = clock.after(CLOSE_GRACE_MS, () => kill.abort(new Error("its input ended, and it did not")));
    await running;
    cancel();
  }
}
