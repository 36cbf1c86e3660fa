import { inspect } from "node:util";
import { McpError, type McpFailure, type McpOAuthSettings } from "@keelson/protocol";
import {
  createMcpManager,
  loopbackAuthorization,
  type McpAuthorize,
  type McpLifecycleManager,
  type McpManagerOptions,
  type McpTokenStore,
} from "keelson/mcp";
import { vi } from "vitest";
import { type AuthorizationServer, serveAuthorization } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";

export interface OAuthServers extends AsyncDisposable {
  readonly authorization: AuthorizationServer;
  readonly notes: ProtectedServer;
}

export async function serveBoth(): Promise<OAuthServers> {
  const authorization = await serveAuthorization();
  const notes = await serveProtected(authorization);
  return {
    authorization,
    notes,
    async [Symbol.asyncDispose]() {
      await notes[Symbol.asyncDispose]();
      await authorization[Symbol.asyncDispose]();
    },
  };
}

/** A person whose browser goes where it is sent. */
export const agreeing: McpAuthorize = loopbackAuthorization({ open: (address) => void fetch(address).catch(() => {}) });

export function manage({ notes }: OAuthServers, more: McpManagerOptions = {}, oauth?: McpOAuthSettings): McpLifecycleManager {
  return createMcpManager({
    servers: { notes: { type: "http", url: notes.url, ...(oauth && { oauth }) } },
    authorize: agreeing,
    ...more,
  });
}

/** A store that shows what is in it. */
export function openStore(): { readonly kept: Map<string, string>; readonly store: McpTokenStore } {
  const kept = new Map<string, string>();
  const store = {
    read: async (name: string) => kept.get(name),
    write: async (name: string, value: string) => void kept.set(name, value),
    remove: async (name: string) => void kept.delete(name),
  };
  return { kept, store };
}

const said: unknown[] = [];

/** From here on, what is printed is kept in place of shown. */
export function keepWhatIsPrinted(): void {
  said.length = 0;
  for (const method of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, method).mockImplementation((...words) => void said.push(words));
}

/** What it fails with. Nothing of it, nor of what was printed, is a secret. */
export async function failureOf({ authorization }: OAuthServers, work: Promise<unknown>): Promise<McpFailure> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!McpError.is(error)) throw new Error("expected an McpError", { cause: error });
  const told = inspect([error, said], { depth: Infinity, showHidden: true }) + JSON.stringify(error);
  const shown = authorization.secrets.filter((secret) => told.includes(secret));
  if (shown.length > 0) throw new Error(`it tells ${shown.join(", ")}: ${told}`);
  return error.failure;
}

export const add = { a: 1, b: 2 };

export function tokenRequests({ authorization }: OAuthServers, grant: string): readonly string[] {
  return authorization.asked.filter((asked) => asked === `POST /token ${grant}`);
}
