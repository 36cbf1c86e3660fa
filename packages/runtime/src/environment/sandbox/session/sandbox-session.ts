import { lstatSync, mkdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { ExecuteRequest, HostVerdict } from "@keelson/protocol";
import { cannotRun } from "../cannot-run.ts";
import { createFilteringProxy, type FilteringProxyOptions, type NetworkDecision } from "../network/filtering-proxy.ts";
import { isWithin } from "../policy-path.ts";
import type { NetworkPolicyConfig } from "../sandbox-policy.ts";
import { type HeldNamespaces, holdNamespaces } from "./held-namespaces.ts";
import { type Connector, createConnector, listenForProxy, relayPort } from "./session-network.ts";

/**
 * The parts of a sandbox that outlive its commands: the loopback network, `/tmp` and `/var/tmp`. They end with this process, or when disposed.
 * Commands of one session can disturb each other. A session belongs to one executor.
 */
export interface SandboxSession extends AsyncDisposable {
  /** The reason why nothing outlives a command, once the first one was started; `undefined` if it does. */
  readonly unavailable: string | undefined;
  /**
   * Makes a port of the session's network reachable under the same number on the loopback interface of this machine, until the session ends.
   * @throws EnvironmentError if the port is used here, or nothing of this session can outlive a command
   */
  publish(port: number): Promise<void>;
}

/** A command of a session. */
export interface SessionCommand extends Disposable {
  /** Connections that were refused while it ran, because no policy and no rule opens the host. */
  readonly refused: ReadonlySet<string>;
}

/** A session as its executor knows it. */
export interface OwnSession extends SandboxSession {
  /** Binds the session to an executor. @throws TypeError if it has another one */
  bind(executor: object): void;
  /** Returns the namespaces; `undefined` if there can be none. */
  hold(bubblewrap: string, temporaryBytes: number, writable: readonly string[]): Promise<HeldNamespaces | undefined>;
  /** Starts the proxy of the network, once. */
  serveNetwork(held: HeldNamespaces, network: NetworkPolicyConfig, options: FilteringProxyOptions): Promise<void>;
  follow(request: Pick<ExecuteRequest, "judgeHost">): SessionCommand;
}

/** Makes what commands of an executor share: `createSandboxExecutor(policy, { workspace, session })`. Nothing is started before the first command. */
export function createSandboxSession(): SandboxSession {
  let owner: object | undefined;
  let holding: Promise<HeldNamespaces | undefined> | undefined;
  let held: HeldNamespaces | undefined;
  let serving: Promise<() => void> | undefined;
  let unavailable: string | undefined;
  let connector: Connector | undefined;
  const published = new Map<number, Promise<() => void>>();
  const running = new Set<{ readonly request: Pick<ExecuteRequest, "judgeHost">; readonly refused: Set<string> }>();

  const judge = (host: string, port: number): HostVerdict => {
    const verdicts = [...running].map(({ request }) => request.judgeHost?.(host, port) ?? "unlisted");
    return verdicts.includes("denied") ? "denied" : verdicts.includes("open") ? "open" : "unlisted";
  };
  const note = ({ host, port, isUnlisted }: NetworkDecision): void => {
    if (isUnlisted === true) for (const { refused } of running) refused.add(`${host}:${port}`);
  };

  const session: OwnSession = {
    get unavailable() {
      return unavailable;
    },
    bind(executor) {
      if (owner !== undefined && owner !== executor) throw new TypeError("A session of sandboxes belongs to one executor: make another.");
      owner = executor;
    },
    hold(bubblewrap, temporaryBytes, writable) {
      return (holding ??= holdNamespaces(bubblewrap, temporaryBytes, writable).then(
        (made) => (held = made),
        (error: unknown) => {
          unavailable = error instanceof Error ? error.message : String(error);
          return undefined;
        },
      ));
    },
    async serveNetwork({ enterNetwork }, network, options) {
      const onDecision = (decision: NetworkDecision): void => {
        note(decision);
        options.onDecision?.(decision);
      };
      serving ??= (async () => {
        const proxy = createFilteringProxy(network, { ...options, judge, onDecision });
        const stop = await listenForProxy(enterNetwork, proxy);
        return () => (stop(), proxy.close());
      })();
      await serving.catch((error: unknown) => {
        // The next command tries again.
        serving = undefined;
        throw error;
      });
    },
    follow(request) {
      const command = { request, refused: new Set<string>() };
      running.add(command);
      return { refused: command.refused, [Symbol.dispose]: () => void running.delete(command) };
    },
    async publish(port) {
      const { enterNetwork } = (await holding) ?? {};
      if (enterNetwork === undefined) throw cannotRun(unavailable ?? "no command of this session was started yet");
      connector ??= createConnector(enterNetwork);
      const relay = published.get(port) ?? relayPort(port, connector);
      published.set(port, relay);
      await relay.catch((error: unknown) => {
        published.delete(port);
        throw error;
      });
    },
    async [Symbol.asyncDispose]() {
      for (const relay of published.values()) (await relay.catch(() => undefined))?.();
      published.clear();
      connector?.close();
      (await serving?.catch(() => undefined))?.();
      await holding;
      held?.[Symbol.dispose]();
    },
  };
  return session;
}

/** Returns the session of an executor's options. @throws TypeError if `createSandboxSession` did not make it */
export function ownSession(session: SandboxSession | undefined): OwnSession | undefined {
  if (session === undefined || isOwn(session)) return session;
  throw new TypeError("`session` is no session of sandboxes: make one with createSandboxSession().");
}

function isOwn(session: SandboxSession): session is OwnSession {
  return "hold" in session && "follow" in session;
}

const LASTING: readonly (readonly [folder: string, name: string])[] = [
  ["/tmp", "tmp"],
  ["/var/tmp", "var-tmp"],
];

/**
 * The arguments of bubblewrap that show the lasting folders. A command may write there, so that no mount must be made over a link of its own: a
 * folder at the top that holds mounts is made here, and is a mount of each command itself, which nothing can rename.
 * @param mounted paths at which something is mounted afterwards
 * @throws EnvironmentError of kind `provision-failed` if a command put something else there
 */
export function lastingFolders(
  { folder, seen }: Pick<HeldNamespaces, "folder" | "seen">,
  mounted: readonly string[],
  bytes: number,
): string[] {
  return LASTING.flatMap(([path, name]) => {
    const below = mounted.filter((at) => at !== path && isWithin(at, path));
    const tops = [...new Set(below.map((at) => relative(path, at).split(sep)[0] ?? ""))];
    return [
      "--bind",
      join(folder, name),
      path,
      ...tops.flatMap((top) => {
        const at = join(path, top);
        const isItself = below.includes(at);
        requireMountPoint(join(seen, name, top), at, isItself);
        return isItself ? [] : ["--perms", "1777", "--size", String(bytes), "--tmpfs", at];
      }),
    ];
  });
}

function requireMountPoint(at: string, shown: string, isItself: boolean): void {
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found === undefined) {
    // A mount itself may be of a file: bubblewrap makes what it needs, where nothing is.
    if (!isItself) mkdirSync(at);
  } else if (!found.isDirectory() && !(isItself && found.isFile()))
    throw cannotRun(`a command of this session put something else at ${shown}, where a folder of the policy is shown. End the session`);
}
