import { type JsonObject, McpError, type McpServerSettings, type McpServerStatus, type Tool } from "@keelson/protocol";
import type { Clock } from "../../platform/clock.ts";
import type { McpCallOptions, McpToolResult, McpTransport } from "./mcp-transport.ts";
import { paced } from "./paced.ts";

export interface ManagedServerOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  /** Default: as `settings` say. */
  readonly isEnabled?: boolean | undefined;
  readonly transport: McpTransport;
  /** The tools of a server in this process that is made of tools. */
  readonly tools?: readonly Tool[] | undefined;
  /** Before the first attempt to connect again; each after that waits twice as long, up to a minute. */
  readonly reconnectDelayMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** A server whose connection is kept up while it is enabled and was started or used. */
export interface ManagedServer extends AsyncDisposable {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly isEnabled: boolean;
  /** The tools of a server in this process that is made of tools; `undefined` for any other. */
  readonly tools: readonly Tool[] | undefined;
  /** As far as that is known: it was connected. */
  readonly hasResources: boolean;
  /** @throws McpError where it is disabled or was shut down */
  readonly transport: McpTransport;
  status(): McpServerStatus;
  /** Connects, where it is enabled. Where that fails it is tried again later. */
  start(): Promise<void>;
  stop(): Promise<void>;
  enable(): Promise<void>;
  disable(): Promise<void>;
  /** Connects again where the server does not answer. */
  check(): Promise<void>;
  callTool(tool: string, input: JsonObject, options?: McpCallOptions): Promise<McpToolResult>;
  /** Called when it was connected, and when what it offers changed. @returns ends it */
  onChange(listener: () => void): () => void;
  /** Called once, when it was disposed of. */
  onEnd(listener: () => void): void;
}

const MAX_DELAY_MS = 60_000;
const CHANGE_PAUSE_MS = 1000;

export function manageServer(options: ManagedServerOptions): ManagedServer {
  const { name, settings, transport, reconnectDelayMs, clock, random } = options;
  const listeners = new Set<() => void>();
  const endListeners = new Set<() => void>();
  let isEnabled = options.isEnabled ?? settings.enabled ?? true;
  let isStarted = false;
  let isShutDown = false;
  let attempts = 0;
  let trying: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let callsSucceeded = 0;
  let callsFailed = 0;

  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const isWanted = (): boolean => isStarted && isEnabled && !isShutDown;
  const forgetRetry = (): void => {
    cancelRetry?.();
    cancelRetry = undefined;
  };
  const retryLater = (): void => {
    if (!isWanted() || cancelRetry !== undefined || trying !== undefined) return;
    const longest = Math.min(MAX_DELAY_MS, reconnectDelayMs * 2 ** Math.min(attempts++, 30));
    // Many that lost the same server do not come back at once.
    cancelRetry = clock.after(
      longest * (0.5 + random() / 2),
      () => {
        cancelRetry = undefined;
        void connect();
      },
      { keepAlive: false },
    );
  };
  // Those who ask while it is being connected wait for the same attempt.
  const connect = (): Promise<void> => (trying ??= tryToConnect());
  const tryToConnect = async (): Promise<void> => {
    forgetRetry();
    let isConnected = false;
    try {
      await transport.connect();
      isConnected = true;
      attempts = 0;
    } catch {
      // The status says why.
    } finally {
      trying = undefined;
    }
    if (isConnected) tell();
    else retryLater();
  };
  const stop = async (): Promise<void> => {
    isStarted = false;
    forgetRetry();
    await transport.disconnect();
  };
  // A server may say it without end, and each time its tools are listed.
  const toolsChanged = paced(tell, CHANGE_PAUSE_MS, clock);
  const stopListening = transport.onNotice((notice) => {
    if (notice.type === "closed") retryLater();
    if (notice.type === "tools-changed") toolsChanged();
  });
  const usable = (): McpTransport => {
    if (isEnabled && !isShutDown) {
      isStarted = true;
      return transport;
    }
    const why = isShutDown ? "was shut down" : "is disabled: enable it first";
    throw new McpError({ kind: "not-connected", server: name, message: `The server "${name}" ${why}.` });
  };

  return {
    name,
    settings,
    tools: options.tools,
    get isEnabled() {
      return isEnabled;
    },
    get hasResources() {
      return isEnabled && transport.status().hasResources === true;
    },
    get transport() {
      return usable();
    },
    status() {
      const { state, protocolVersion, problems } = transport.status();
      const isReconnecting = (cancelRetry !== undefined || (trying !== undefined && attempts > 0)) && state !== "connected";
      return {
        name,
        state: isShutDown ? "shutdown" : isReconnecting ? "reconnecting" : state,
        callsSucceeded,
        callsFailed,
        enabled: isEnabled,
        ...(problems.length > 0 && { problems }),
        ...(protocolVersion !== undefined && { protocolVersion }),
      };
    },
    async start() {
      if (!isEnabled || isShutDown) return;
      isStarted = true;
      await connect();
    },
    stop,
    async enable() {
      isEnabled = true;
      isStarted = true;
      await connect();
    },
    async disable() {
      isEnabled = false;
      await stop();
      tell();
    },
    async check() {
      if (!isWanted()) return;
      if (transport.status().state === "connected") {
        try {
          await transport.ping();
          return;
        } catch (error) {
          // It answers, if only that it does not know the question.
          if (McpError.is(error, "protocol") || McpError.is(error, "unauthorized")) return;
          await transport.disconnect();
        }
      }
      await connect();
    },
    async callTool(tool, input, given) {
      const wasConnected = transport.status().state === "connected";
      try {
        const result = await usable().callTool(tool, input, given);
        if (result.isError) callsFailed++;
        else callsSucceeded++;
        if (!wasConnected) {
          attempts = 0;
          forgetRetry();
        }
        return result;
      } catch (error) {
        callsFailed++;
        throw error;
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onEnd: (listener) => void endListeners.add(listener),
    async [Symbol.asyncDispose]() {
      isShutDown = true;
      await stop();
      stopListening();
      for (const listener of endListeners) listener();
      endListeners.clear();
    },
  };
}
