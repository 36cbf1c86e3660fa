import { AsyncLocalStorage } from "node:async_hooks";
import type { McpCallOptions } from "./mcp-transport.ts";
import type { RequestControl } from "./request-within.ts";

/** A call that the server has not answered. */
export interface OpenCall {
  readonly options: McpCallOptions;
  readonly control: RequestControl;
}

/** The calls that are open on one connection, by which is told who is meant when the server asks something. */
export interface OpenCalls {
  during<T>(call: OpenCall, work: () => Promise<T>): Promise<T>;
  /** The call in whose requests this code runs. */
  own(): OpenCall | undefined;
  /** The call that the server asks in; `undefined` where there is none, or where it could be somebody else's. */
  asking(): OpenCall | undefined;
  /** Runs it as part of no call. */
  outside<T>(work: () => T): T;
}

export function createOpenCalls(): OpenCalls {
  const open = new Set<OpenCall>();
  // A request over HTTP has an answer of its own, in which the server asks: what reads that runs within the call.
  const current = new AsyncLocalStorage<OpenCall>();
  const own = (): OpenCall | undefined => {
    const call = current.getStore();
    return call !== undefined && open.has(call) ? call : undefined;
  };
  return {
    async during(call, work) {
      open.add(call);
      try {
        return await current.run(call, work);
      } finally {
        open.delete(call);
      }
    },
    own,
    asking() {
      const calls = [...open];
      const isOfOne = calls.every(({ options }) => options.owner === calls[0]?.options.owner);
      return own() ?? (isOfOne ? calls.at(-1) : undefined);
    },
    outside: (work) => current.exit(work),
  };
}
