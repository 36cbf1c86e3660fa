import type { RequestOptions } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { keepListening } from "./keep-listening.ts";
import type { McpNotice } from "./mcp-transport.ts";
import type { Connected } from "./send-request.ts";

/** The resources that somebody wants to hear of, whatever becomes of connections. */
export interface Subscriptions {
  /** @returns ends it */
  begin(uri: string, connected: Connected, sending: RequestOptions): Promise<() => Promise<void>>;
  /** Begins all of them again on a new connection. */
  restore(connected: Connected): Promise<void>;
}

export function createSubscriptions(clock: Clock, tell: (notice: McpNotice) => void): Subscriptions {
  const wanted = new Set<{ readonly uri: string; end: () => Promise<void> }>();

  const subscribe = async (uri: string, { client }: Connected, sending: RequestOptions): Promise<() => Promise<void>> => {
    if (client.getProtocolEra() !== "modern") {
      await client.subscribeResource({ uri }, sending);
      return async () => void (await client.unsubscribeResource({ uri }).catch(() => {}));
    }
    const filter = { resourceSubscriptions: [uri] };
    return keepListening(await client.listen(filter, sending), {
      clock,
      open: () => client.listen(filter),
      isWanted: () => client.transport !== undefined,
      onGap: () => tell({ type: "resource-updated", uri }),
    });
  };

  return {
    async begin(uri, connected, sending) {
      const subscription = { uri, end: await subscribe(uri, connected, sending) };
      wanted.add(subscription);
      return async () => {
        if (wanted.delete(subscription)) await subscription.end();
      };
    },
    async restore(connected) {
      for (const subscription of [...wanted]) {
        const { uri } = subscription;
        try {
          const end = await subscribe(uri, connected, {});
          if (wanted.has(subscription)) subscription.end = end;
          else await end();
        } catch {
          // There is no such resource any more, which whoever reads it is told.
        }
        // It may have changed while nobody heard of that.
        tell({ type: "resource-updated", uri });
      }
    },
  };
}
