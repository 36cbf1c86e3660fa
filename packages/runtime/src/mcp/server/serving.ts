import type { Server, ServerContext } from "@modelcontextprotocol/server";
import type { ServerSdk } from "./load-server-sdk.ts";
import type { RequestOrigin } from "./open-request.ts";
import type { Rounds } from "./rounds.ts";
import type { ServerCore } from "./server-core.ts";

/** What the handlers of one server of the SDK have in common. */
export interface Serving {
  readonly core: ServerCore;
  readonly sdk: ServerSdk;
  readonly rounds: Rounds;
  readonly server: Server;
  /** Addresses that this client watches; of the handshake revisions. */
  readonly watched: Set<string>;
  origin(context: ServerContext): RequestOrigin;
  invalid(message: string, data?: unknown): Error;
  page<Item>(items: readonly Item[], nameOf: (item: Item) => string, cursor: string | undefined): { items: Item[]; nextCursor?: string };
}
