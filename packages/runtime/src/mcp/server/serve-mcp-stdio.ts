import type { Duplex, Readable, Writable } from "node:stream";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkCount, type McpServer, serverCore } from "./create-mcp-server.ts";
import { exactLines } from "./exact-lines.ts";
import { loadStdioSdk } from "./load-server-sdk.ts";
import { createSdkServer } from "./sdk-server.ts";

export interface ServeMcpStdioOptions {
  /** Default: standard input and output of this process, to which nothing else may write then. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
  /** Of one message; a larger one ends the connection. Default 10 MiB. */
  readonly maxMessageBytes?: number | undefined;
}

export interface McpStdioConnection extends AsyncDisposable {
  /** Resolves when the client is gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The quotes around exact integers make a message longer, by a third at most. */
const QUOTED_GROWTH = 2;

/**
 * Serves one client over standard input and output, as whoever starts a server as a program expects it. When the client closes its end, calls at
 * work are cancelled.
 * @throws McpError that says what to install where the SDK is missing
 */
export async function serveMcpStdio(server: McpServer, options: ServeMcpStdioOptions = {}): Promise<McpStdioConnection> {
  checkOptionNames("serveMcpStdio", options, { input: true, output: true, maxMessageBytes: true });
  checkCount("maxMessageBytes", options.maxMessageBytes);
  const core = serverCore(server);
  const [{ serveStdio, StdioServerTransport }] = await Promise.all([loadStdioSdk(), core.load()]);
  const { input = process.stdin, output = process.stdout, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
  const lines = exactLines(maxMessageBytes);
  const transport = new StdioServerTransport(lines, output, { maxBufferSize: QUOTED_GROWTH * maxMessageBytes });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const handle = serveStdio((context) => createSdkServer(core, { ...context, tells: true }), {
    transport,
    onerror: (error) => core.onError(error),
  });
  // Set by `serveStdio`, for itself.
  const onClose = transport.onclose;
  const stopReading = connect(input, lines);
  transport.onclose = () => {
    stopReading();
    onClose?.();
    resolve();
  };
  const forget = core.onClose(() => close());
  const close = async (): Promise<void> => {
    forget();
    await handle.close();
    resolve();
  };
  return { closed, close, [Symbol.asyncDispose]: close };
}

/** Passes an input on until the returned function is called. An input without another reader is paused then, so that it keeps no process alive. */
function connect(input: Readable, lines: Duplex): () => void {
  const end = (): void => void lines.end();
  const fail = (error: Error): void => void lines.destroy(error);
  input.on("error", fail).on("close", end);
  if (input.readableEnded || input.destroyed) lines.end();
  else input.pipe(lines);
  return () => {
    input.unpipe(lines).off("error", fail).off("close", end);
    if (input.listenerCount("data") === 0) input.pause();
    lines.destroy();
  };
}
