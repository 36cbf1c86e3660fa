import {
  type McpConnectionState,
  McpError,
  type McpLogLevel,
  type McpServerSettings,
  type McpToolDescriptor,
  type OnElicitation,
} from "@keelson/protocol";
import type { Client, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { callTool } from "./call-tool.ts";
import { connectClient } from "./connect-client.ts";
import { endSession } from "./end-session.ts";
import { keepListening } from "./keep-listening.ts";
import { listLoosely } from "./list-loosely.ts";
import type { ClientSdk } from "./load-sdk.ts";
import type { McpRoot } from "./mcp-root.ts";
import type { McpNotice, McpTransport } from "./mcp-transport.ts";
import { createOpenCalls, type OpenCalls } from "./open-calls.ts";
import { readDescriptors } from "./read-descriptors.ts";
import { requestWithin } from "./request-within.ts";
import { resourceRequests } from "./resource-requests.ts";
import type { Connected, SendRequest } from "./send-request.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { toMcpError } from "./to-mcp-error.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const TRANSPORT_METHODS: MethodOptions<McpTransport> = {
  listTools: [0, { signal: true }],
  callTool: [2, { signal: true, meta: true, owner: true, onProgress: true, ask: true, infer: true }],
  ping: [0, { signal: true }],
  listResources: [0, { signal: true }],
  listResourceTemplates: [0, { signal: true }],
  readResource: [1, { signal: true }],
  subscribe: [1, { signal: true }],
  listPrompts: [0, { signal: true }],
  getPrompt: [2, { signal: true }],
  complete: [2, { signal: true }],
};

export interface SdkTransportOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly load: () => Promise<ClientSdk>;
  /** A transport of the SDK that was not started, for each connection. @param onStreamEnd to be called when an answer in pieces is over */
  readonly open: (sdk: ClientSdk, onStreamEnd: (isResumable: boolean) => void) => Promise<Transport>;
  readonly clock: Clock;
  readonly onElicitation?: OnElicitation | undefined;
  readonly roots: () => readonly McpRoot[];
  /** From which level on the server is to tell what it logs. */
  readonly logLevel?: McpLogLevel | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_TOTAL_MS = 3_600_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
/** Questions of the server that were refused and are listed among its problems. */
const MAX_REFUSALS = 10;
// The SDK's own timers are out of the way: ours hold.
const NEVER_MS = 2 ** 31 - 1;

/** A connection to a server by the official SDK. */
export function createSdkTransport(options: SdkTransportOptions): McpTransport {
  const { name, settings, load, open, clock, onElicitation, roots, logLevel } = options;
  const listeners = new Set<(notice: McpNotice) => void>();
  const calls: OpenCalls = createOpenCalls();
  const tell = (notice: McpNotice): void => {
    for (const listener of [...listeners]) listener(notice);
  };
  const subscriptions = createSubscriptions(clock, tell);
  let state: McpConnectionState = "disconnected";
  let connecting: Promise<Connected> | undefined;
  let connected: Connected | undefined;
  let hasResources = false;
  let problem: string | undefined;
  let toolProblems: readonly string[] = [];
  /** The tools as they were listed last on this connection; `undefined` before that. */
  let descriptors: ReadonlyMap<string, McpToolDescriptor> | undefined;
  let refusals: readonly string[] = [];

  const lost = (client: Client, why: string): void => {
    if (connected?.client !== client) return;
    connected = undefined;
    state = "disconnected";
    problem = why;
    tell({ type: "closed", problem: why });
  };

  const attempt = async (signal: AbortSignal): Promise<Connected> => {
    let transport: EndingTransport | undefined;
    const sdk = await load().catch((error: McpError) => {
      problem = error.message;
      throw error;
    });
    try {
      const client = await connectClient({
        sdk,
        name,
        clock,
        signal,
        timeoutMs: settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
        open: async () => (transport = await open(sdk, streamEnded)),
        answering: {
          calls,
          onElicitation,
          roots,
          refused(reason) {
            if (!refusals.includes(reason)) refusals = [...refusals, reason].slice(-MAX_REFUSALS);
          },
        },
        tell,
        onClose: (closed) => lost(closed, describeEnding(transport, "the connection was closed")),
        onError(error) {
          // What can't be told to a request in another way.
          if (/`maxMessageBytes`|Maximum reconnection attempts/.test(describeThrown(error)))
            calls.own()?.control.fail(toMcpError(sdk, name, "an answer", error));
        },
      });
      problem = undefined;
      // One that refuses this, or never answers, logs as it likes. In the stateless revision each request says it.
      if (logLevel !== undefined && client.getProtocolEra() !== "modern" && client.getServerCapabilities()?.logging !== undefined)
        void client.setLoggingLevel(logLevel).catch(() => {});
      return { sdk, client };
    } catch (error) {
      const failure = toMcpError(sdk, name, "connecting", error);
      const ending = describeEnding(transport, "");
      problem = `${failure.message}${ending === "" ? "" : ` (${ending})`}`;
      throw new McpError({ ...failure.failure, message: problem }, { cause: failure.cause });
    }
  };

  // A stateless server tells of changes in an answer that has no end, unless something ends it.
  const followChanges = ({ client }: Connected): void => {
    const listening = client.autoOpenedSubscription;
    if (listening === undefined) return;
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = listening.honoredFilter;
    keepListening(listening, {
      clock,
      open: () => client.listen(listening.honoredFilter),
      isWanted: () => connected?.client === client,
      onGap() {
        if (toolsListChanged) tell({ type: "tools-changed" });
        if (promptsListChanged) tell({ type: "prompts-changed" });
        if (resourcesListChanged) tell({ type: "resources-changed" });
      },
    });
  };

  // An answer in pieces that ended without the answer: nobody else would say so.
  const streamEnded = (isResumable: boolean): void => {
    const call = calls.own();
    if (call === undefined || isResumable) return;
    setImmediate(() =>
      call.control.fail(
        new McpError({ kind: "transport", server: name, message: `The server "${name}" ended its answer before it was complete.` }),
      ),
    );
  };

  let giveUp = new AbortController();
  const connect = (nextState: McpConnectionState): Promise<Connected> => {
    if (connected !== undefined) return Promise.resolve(connected);
    if (connecting !== undefined) return connecting;
    state = nextState;
    const { signal } = (giveUp = new AbortController());
    // Others may wait for it, too: it is part of nobody's call.
    connecting = calls.outside(async () => {
      try {
        const made = await attempt(signal);
        connected = made;
        descriptors = undefined;
        state = "connected";
        hasResources = made.client.getServerCapabilities()?.resources !== undefined;
        followChanges(made);
        void subscriptions.restore(made);
        return made;
      } catch (error) {
        state = "disconnected";
        throw error;
      } finally {
        connecting = undefined;
      }
    });
    return connecting;
  };

  const disconnect = async (): Promise<void> => {
    giveUp.abort();
    await connecting?.catch(() => {});
    const before = connected;
    connected = undefined;
    state = "disconnected";
    if (before === undefined) return;
    await endSession(before, clock);
    await before.client.close().catch(() => {});
  };

  const request: SendRequest = async (doing, { signal }, work) => {
    const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const maxTotalMs = settings.maxTotalMs ?? Math.max(timeoutMs, DEFAULT_MAX_TOTAL_MS);
    const bounds = { server: name, doing, clock, timeoutMs, maxTotalMs, signal };
    for (let attempts = 1; ; attempts++) {
      const { sdk, client } = await connect("connecting");
      try {
        return await requestWithin(bounds, (control) => work({ sdk, client }, { signal: control.signal, timeout: NEVER_MS }, control));
      } catch (error) {
        const isForgotten = error instanceof sdk.SdkHttpError && error.data.status === 404;
        if (isForgotten) {
          lost(client, "the server does not know the session any more");
          await client.close().catch(() => {});
        }
        // It has done nothing, so that it can be asked again in a new session.
        if (!isForgotten || attempts > 1 || signal?.aborted === true) throw toMcpError(sdk, name, doing, error, problem);
      }
    }
  };

  const listTools: McpTransport["listTools"] = async (given = {}) => {
    const listed = await request("listing its tools", given, async ({ sdk, client }, sending) => {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      try {
        return (await client.listTools({}, { ...sending, cacheMode: "refresh" })).tools;
      } catch (error) {
        if (!(error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.InvalidResult)) throw error;
        // One tool that is not as it should be takes no other with it.
        return listLoosely(client, sending);
      }
    });
    const read = await readDescriptors(listed);
    toolProblems = read.problems;
    descriptors = new Map(read.tools.map((tool) => [tool.name, tool]));
    return read.tools;
  };

  const transport: McpTransport = {
    connect: async () => void (await connect("connecting")),
    async reconnect() {
      await disconnect();
      await connect("reconnecting");
    },
    disconnect,
    status: () => ({
      state,
      ...(connected !== undefined && versionOf(connected.client)),
      hasResources,
      problems: [...(problem === undefined ? [] : [problem]), ...toolProblems, ...refusals],
    }),
    listTools,
    async callTool(tool, input, given = {}) {
      const find = async (): Promise<McpToolDescriptor | undefined> => {
        if (descriptors === undefined) await calls.outside(() => listTools({ signal: given.signal }));
        return descriptors?.get(tool);
      };
      return request(`calling "${tool}"`, given, (made, sending, control) =>
        calls.during({ options: given, control }, () =>
          callTool(
            { ...made, name, onElicitation, roots, logLevel, descriptor: descriptors?.get(tool), find, sending, control },
            tool,
            input,
            given,
          ),
        ),
      );
    },
    async ping(given = {}) {
      await request("answering at all", given, ({ client }, sending) =>
        client.getProtocolEra() === "modern" ? client.discover(sending) : client.ping(sending),
      );
    },
    ...resourceRequests(request, subscriptions, (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    }),
  };
  return checkMethodOptions("transport", transport, TRANSPORT_METHODS);
}

/** A program says how it ended. */
type EndingTransport = Transport & { readonly ending?: string; readonly lastWords?: string };

function describeEnding(transport: EndingTransport | undefined, otherwise: string): string {
  const { ending = otherwise, lastWords = "" } = transport ?? {};
  return lastWords === "" ? ending : `${ending}${ending === "" ? "it" : ", and"} wrote: ${lastWords}`;
}

function versionOf(client: Client): { readonly protocolVersion?: string } {
  const protocolVersion = client.getNegotiatedProtocolVersion();
  return protocolVersion === undefined ? {} : { protocolVersion };
}
