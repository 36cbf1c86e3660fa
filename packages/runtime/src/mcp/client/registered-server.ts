import type { Executor, McpServerStatus } from "@keelson/protocol";
import type { ServerAuthorization } from "./authorization/server-authorization.ts";
import type { ManagedServer } from "./managed-server.ts";

export interface RegisteredServerOptions {
  readonly server: ManagedServer;
  readonly authorization?: ServerAuthorization | undefined;
  /** Of a program: makes it anew, for a run whose programs run elsewhere. */
  readonly inside?: ((exec: Executor, isEnabled: boolean) => ManagedServer) | undefined;
}

/** A server under its name: the one that all share, and those of runs that start its program in their environments. */
export interface RegisteredServer {
  /** The one that all share. */
  readonly server: ManagedServer;
  /** Of one over HTTP that has no token in its configuration. */
  readonly authorization: ServerAuthorization | undefined;
  /** For a run whose programs run elsewhere. Whoever made it disposes of it. `undefined` where the server is no program. */
  readonly inside: ((exec: Executor) => ManagedServer) | undefined;
  /** Does something with the shared one and those of runs. */
  each(work: (server: ManagedServer) => Promise<void>): Promise<void>;
  /** Of all of them: the calls together, and the state of one that is connected, where there is one. */
  status(): McpServerStatus;
}

export function registeredServer({ server, authorization, inside }: RegisteredServerOptions): RegisteredServer {
  const ofRuns = new Set<ManagedServer>();
  const ended = { callsSucceeded: 0, callsFailed: 0 };
  const makeInside = (exec: Executor, make: NonNullable<RegisteredServerOptions["inside"]>): ManagedServer => {
    const made = make(exec, server.isEnabled);
    ofRuns.add(made);
    made.onEnd(() => {
      ofRuns.delete(made);
      const { callsSucceeded, callsFailed } = made.status();
      ended.callsSucceeded += callsSucceeded;
      ended.callsFailed += callsFailed;
    });
    return made;
  };
  return {
    server,
    authorization,
    inside: inside && ((exec) => makeInside(exec, inside)),
    async each(work) {
      await Promise.all([server, ...ofRuns].map(work));
    },
    status() {
      const all = [server, ...ofRuns].map((one) => one.status());
      const shown = all.find(({ state }) => state === "connected") ?? (all.at(-1) as McpServerStatus);
      const sum = (kind: keyof typeof ended): number => all.reduce((total, one) => total + one[kind], ended[kind]);
      return { ...shown, enabled: server.isEnabled, callsSucceeded: sum("callsSucceeded"), callsFailed: sum("callsFailed") };
    },
  };
}
