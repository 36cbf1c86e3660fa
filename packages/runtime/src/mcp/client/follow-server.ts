import type { McpToolDescriptor } from "@keelson/protocol";
import { describeThrown } from "../../tools/describe-thrown.ts";
import type { ManagedServer } from "./managed-server.ts";

/** A server whose tools are listed whenever it was connected or says that they changed. */
export interface FollowedServer {
  readonly server: ManagedServer;
  /** What it offers, as far as that is known. */
  readonly tools: readonly McpToolDescriptor[];
  /** Why that is not known. */
  readonly problem: string | undefined;
  /** It is known what it offers, or that it does not come for now. */
  readonly isSettled: boolean;
  /** Starts it, where it is not there. Resolves when it is settled. */
  start(): Promise<void>;
  /** @returns ends it */
  onChange(listener: () => void): () => void;
  stop(): void;
}

/** Follows a server from now on, without starting it. */
export function followServer(server: ManagedServer): FollowedServer {
  const listeners = new Set<() => void>();
  let tools: readonly McpToolDescriptor[] = [];
  let problem: string | undefined;
  let isSettled = false;
  let isStopped = false;
  let listing: Promise<void> | undefined;
  let again = false;

  const changed = (): void => {
    if (isStopped) return;
    for (const listener of [...listeners]) listener();
  };
  const settle = (): void => {
    if (isSettled) return;
    isSettled = true;
    changed();
  };
  const list = async (): Promise<void> => {
    do {
      again = false;
      try {
        tools = server.isEnabled ? await server.transport.listTools() : [];
        problem = undefined;
      } catch (error) {
        problem = describeThrown(error);
      }
      isSettled = true;
      changed();
    } while (again && !isStopped);
  };
  const look = (): Promise<void> => {
    again = true;
    return (listing ??= list().finally(() => (listing = undefined)));
  };
  const stopFollowing = server.onChange(() => void look());

  return {
    server,
    get tools() {
      return tools;
    },
    get problem() {
      return problem;
    },
    get isSettled() {
      return isSettled;
    },
    async start() {
      const isKnown = isSettled;
      // One that is connected is listed again: not all of them say when their tools change.
      await server.start();
      if (!isKnown) await listing;
      settle();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop() {
      isStopped = true;
      stopFollowing();
    },
  };
}
