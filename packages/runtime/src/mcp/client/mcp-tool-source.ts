import type { OpenToolSource, Tool, ToolPins, ToolSource, ToolSourcePlace } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { Clock } from "../../platform/clock.ts";
import type { BackgroundCalls } from "./background-calls.ts";
import { type FollowedServer, followServer } from "./follow-server.ts";
import type { ManagedServer } from "./managed-server.ts";
import { mcpTool } from "./mcp-tool.ts";
import type { RegisteredServer } from "./registered-server.ts";
import { resourceTools } from "./resource-tools.ts";
import { namesBegin, toolNames } from "./tool-names.ts";

export interface McpToolSourceOptions {
  /** Unique among the sources of an agent. Default "mcp". */
  readonly name?: string | undefined;
  /** Only the servers of these names. Default: all, later ones included. */
  readonly servers?: readonly string[] | undefined;
  /** Offers `mcp__server__list_resources` and `mcp__server__read_resource` of each server that has resources. Default false. */
  readonly resources?: boolean | undefined;
  /** How long, in ms, the first turn waits for a server that does not say so itself. Default 0. */
  readonly startupWaitMs?: number | undefined;
  /** Where it is kept which versions of the tools people allowed, beyond a session. Default: nowhere. */
  readonly pins?: ToolPins | undefined;
}

const REQUIRED_WAIT_MS = 10_000;

/** What all sources of a manager share. */
export interface ToolSourceServices {
  readonly registered: ReadonlyMap<string, RegisteredServer>;
  /** Called with each server that is registered later. */
  readonly onRegister: Set<(server: RegisteredServer) => void>;
  readonly clock: Clock;
  readonly background: BackgroundCalls;
}

/** What the servers offer, for runs. A server that is not there yet delays nobody: its tools appear between turns. */
export function mcpToolSource(services: ToolSourceServices, options: McpToolSourceOptions = {}): ToolSource {
  checkOptionNames("toolSource", options, { name: true, servers: true, resources: true, startupWaitMs: true, pins: true });
  const isMeant = (name: string): boolean => options.servers?.includes(name) !== false;
  const all = services.registered;
  // Runs share servers, and so what is known of them: a later run has their tools from its first turn on.
  const shared = new Map<ManagedServer, FollowedServer>();
  const followShared = (server: ManagedServer): FollowedServer => {
    let followed = shared.get(server);
    if (followed === undefined) shared.set(server, (followed = followServer(server)));
    return followed;
  };
  for (const { server } of all.values()) if (isMeant(server.name)) followShared(server);
  return {
    name: options.name ?? "mcp",
    ...(options.pins && { pins: options.pins }),
    get startupWaitMs() {
      return Math.max(0, ...[...all.values()].map(({ server }) => (isMeant(server.name) ? waitOf(server, options) : 0)));
    },
    open: (place: ToolSourcePlace) => openSource({ ...services, place, options, followShared }),
  };
}

/** What one server offers to one run. */
interface Offer {
  readonly followed: FollowedServer;
  readonly waitMs: number;
  /** Nobody else uses it. */
  readonly isOwn: boolean;
}

interface OpenSourceOptions extends ToolSourceServices {
  readonly place: ToolSourcePlace;
  readonly options: McpToolSourceOptions;
  followShared(server: ManagedServer): FollowedServer;
}

function openSource({ registered, onRegister, place, clock, background, options, followShared }: OpenSourceOptions): OpenToolSource {
  const exec = place.environment?.exec;
  const offers: Offer[] = [];
  const listeners = new Set<() => void>();
  const stopFollowing: (() => void)[] = [];
  let offered: readonly Tool[] | undefined;
  const changed = (): void => {
    offered = undefined;
    for (const listener of [...listeners]) listener();
  };
  // One that is disabled is followed, too: it may be enabled while the run works.
  const add = ({ server, inside }: RegisteredServer): Offer => {
    const isOwn = exec !== undefined && inside !== undefined;
    const followed = isOwn ? followServer(inside(exec)) : followShared(server);
    const offer = { followed, waitMs: waitOf(server, options), isOwn };
    offers.push(offer);
    stopFollowing.push(followed.onChange(changed));
    return offer;
  };
  const isMeant = (name: string): boolean => options.servers?.includes(name) !== false;
  for (const server of registered.values()) if (isMeant(server.server.name)) add(server);
  const startupWaitMs = Math.max(0, ...offers.map(({ waitMs }) => waitMs));
  const addLater = (server: RegisteredServer): void => {
    if (isMeant(server.server.name)) void add(server).followed.start();
  };
  onRegister.add(addLater);
  const close = async (): Promise<void> => {
    onRegister.delete(addLater);
    for (const stop of stopFollowing) stop();
    const own = offers.filter(({ isOwn }) => isOwn).map(({ followed }) => followed);
    for (const followed of own) followed.stop();
    await Promise.all(own.map(({ server }) => server[Symbol.asyncDispose]()));
  };
  place.signal.addEventListener("abort", () => void close(), { once: true });

  return {
    tools: () => (offered ??= toolsOf(offers, background, options.resources === true)),
    // The run waits no longer than for the one that is worth most.
    ready: Promise.all(
      offers.map(({ followed, waitMs }) => {
        const started = followed.start();
        return waitMs === startupWaitMs && waitMs > 0 ? started : within(clock, started, waitMs);
      }),
    ).then(() => {}),
    ...(startupWaitMs > 0 && { startupWaitMs }),
    mayCome: (name) => offers.some(({ followed }) => !followed.isSettled && name.startsWith(namesBegin(followed.server.name))),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    problems: () => [
      ...missingServers(options.servers ?? [], registered),
      ...offers.filter(({ followed }) => followed.server.isEnabled).flatMap(problemsOf),
    ],
    [Symbol.asyncDispose]: close,
  };
}

/** Resolves when it is done, or so many ms later. */
function within(clock: Clock, done: Promise<void>, ms: number): Promise<void> {
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    void done.then(() => {
      cancel();
      resolve();
    });
  });
}

function waitOf(
  { isEnabled, settings: { required, startupWaitMs } }: ManagedServer,
  { startupWaitMs: usual = 0 }: McpToolSourceOptions,
): number {
  if (!isEnabled) return 0;
  return startupWaitMs ?? Math.max(usual, required === true ? REQUIRED_WAIT_MS : 0);
}

function toolsOf(offers: readonly Offer[], background: BackgroundCalls, withResources: boolean): readonly Tool[] {
  const all = offers.flatMap(({ followed: { server, tools } }) => [
    ...tools.map((descriptor) => ({
      server,
      tool: descriptor.name,
      make: (name: string) => mcpTool(server, descriptor, name, background),
    })),
    ...(withResources && server.hasResources ? resourceTools(server).filter(({ tool }) => !tools.some(({ name }) => name === tool)) : []),
  ]);
  const names = toolNames(all.map(({ server, tool }) => ({ server: server.name, tool })));
  const inBackground = offers.some(({ followed: { server } }) => server.isEnabled && server.settings.backgroundAfterMs !== undefined);
  return [...all.map(({ make }, index) => make(names[index] as string)), ...(inBackground ? [background.resultTool] : [])];
}

function missingServers(names: readonly string[], registered: ToolSourceServices["registered"]): readonly string[] {
  return names
    .filter((name) => !registered.has(name))
    .map((name) => `There is no server "${name}" in the manager; there are: ${[...registered.keys()].join(", ") || "none"}.`);
}

function problemsOf({ followed, waitMs }: Offer): readonly string[] {
  const { server, problem, isSettled } = followed;
  const { problems = [], state } = server.status();
  const told = problems.length > 0 || problem === undefined ? problems : [problem];
  const isThere = state === "connected";
  const missing =
    server.settings.required === true && !isThere
      ? [`The server "${server.name}" is required, and is not there.`]
      : waitMs > 0 && !isSettled
        ? [`The server "${server.name}" is not there yet: its tools come when it is.`]
        : [];
  return [...missing, ...told.map((text) => (text.includes(`"${server.name}"`) ? text : `The server "${server.name}": ${text}`))];
}
