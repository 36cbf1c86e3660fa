import { McpError, type OnElicitation } from "@keelson/protocol";
import type { Client, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { plainJson } from "../../json/index.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { answerElicitation, answerSampling, type Answerer } from "./answer-server.ts";
import { knownParts } from "./known-parts.ts";
import type { ClientSdk } from "./load-sdk.ts";
import type { McpNotice } from "./mcp-transport.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { McpRoot } from "./mcp-root.ts";

export interface ConnectClientOptions {
  readonly sdk: ClientSdk;
  readonly name: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Fires when nobody wants the connection any more. */
  readonly signal: AbortSignal;
  /** A transport that was not started. Called once more where a server ends when it is asked something it does not know. */
  readonly open: () => Promise<Transport>;
  readonly answering: {
    readonly calls: OpenCalls;
    readonly onElicitation: OnElicitation | undefined;
    readonly roots: () => readonly McpRoot[];
    /** Called with the reason when a question of the server was refused. */
    readonly refused: (reason: string) => void;
  };
  readonly tell: (notice: McpNotice) => void;
  readonly onClose: (client: Client) => void;
  readonly onError: (error: Error) => void;
}

// A program of an old revision may not answer what it does not know. Others do: they only may be slow, for which there is our own timer.
const MAX_PROBE_MS = 10_000;
const NEVER_MS = 2 ** 31 - 1;

/** Connects within the time: by the newest revision that both sides speak, stateless or by a handshake. Where that is given up, nothing is left of it. */
export async function connectClient(options: ConnectClientOptions): Promise<Client> {
  const { sdk, name, clock, timeoutMs, signal, open } = options;
  let transport: Transport | undefined;
  let isOver = false;
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => {});
  const stop = async (error: McpError): Promise<void> => {
    isOver = true;
    await transport?.close().catch(() => {});
    reject(error);
  };
  const late = `The server "${name}" did not let itself be connected to within ${timeoutMs} ms (\`connectTimeoutMs\`).`;
  const disarm = clock.after(timeoutMs, () => void stop(new McpError({ kind: "timeout", server: name, timeoutMs, message: late })));
  const giveUp = (): void =>
    void stop(new McpError({ kind: "not-connected", server: name, message: `The server "${name}" was disconnected.` }));
  signal.addEventListener("abort", giveUp, { once: true });

  const connect = async (isOld: boolean): Promise<Client> => {
    const client = createClient(options);
    const opened = await open();
    if (isOver) return stopped;
    transport = opened;
    let isClosed = false;
    opened.onclose = () => void (isClosed = true);
    const probe = { timeoutMs: "pid" in opened ? Math.min(MAX_PROBE_MS, timeoutMs / 2) : NEVER_MS };
    client.setVersionNegotiation(isOld ? undefined : { mode: "auto", probe });
    try {
      await client.connect(knownParts(opened), { timeout: timeoutMs });
    } catch (error) {
      await opened.close().catch(() => {});
      const isEra = error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.EraNegotiationFailed;
      // Some end at the first request that is not a handshake.
      if (!isOld && !isOver && isClosed && isEra) return connect(true);
      throw error;
    }
    if (isClosed) throw new McpError({ kind: "transport", server: name, message: `The server "${name}" closed the connection at once.` });
    client.onclose = () => options.onClose(client);
    return client;
  };
  try {
    if (signal.aborted) giveUp();
    return await Promise.race([connect(false), stopped]);
  } catch (error) {
    // Why it was given up is what matters, not what came of that.
    if (isOver) return await stopped;
    throw error;
  } finally {
    disarm();
    signal.removeEventListener("abort", giveUp);
  }
}

function createClient({ sdk, name, answering, tell, onError }: ConnectClientOptions): Client {
  const { calls, onElicitation, roots, refused } = answering;
  const client = new sdk.Client(
    { name: "keelson", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => tell({ type: "tools-changed" }) },
        prompts: { autoRefresh: false, debounceMs: 0, onChanged: () => tell({ type: "prompts-changed" }) },
        resources: { autoRefresh: false, debounceMs: 0, onChanged: () => tell({ type: "resources-changed" }) },
      },
    },
  );
  /** While the server waits for somebody here, its call takes no time. */
  const answer = <T>(work: (answerer: Answerer) => Promise<T>): Promise<T> => {
    const call = calls.asking();
    const answerer = { server: name, onElicitation, call: call?.options };
    const answered = call === undefined ? work(answerer) : call.control.hold(() => work(answerer));
    answered.catch((error: unknown) => refused(describeThrown(error)));
    return answered;
  };
  client.setRequestHandler("elicitation/create", ({ params }) => answer((answerer) => answerElicitation(params, answerer)));
  client.setRequestHandler("sampling/createMessage", ({ params }) => answer((answerer) => answerSampling(params, answerer)));
  client.setRequestHandler("roots/list", async () => ({ roots: roots().map((root) => ({ ...root })) }));
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) =>
    tell({ type: "log", level, ...(logger !== undefined && { logger }), data: plainJson(data ?? null) }),
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => tell({ type: "resource-updated", uri: params.uri }));
  client.onerror = onError;
  return client;
}
