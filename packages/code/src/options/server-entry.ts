import type { JsonObject } from "@keelson/protocol";
import { UsageError } from "./usage-error.ts";

/** What Commander reads of the options of `keelson mcp add`. */
export interface ServerEntryOptions {
  readonly transport?: "stdio" | "http" | "sse";
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly clientId?: string;
  readonly required?: true;
}

/** A server as it stands in a file. @throws UsageError where target and options do not fit together */
export function serverEntry(target: readonly string[], options: ServerEntryOptions): JsonObject {
  const [first = "", ...rest] = target;
  const { env = [], header = [], clientId, required } = options;
  const transport = options.transport ?? (/^https?:\/\//i.test(first) ? "http" : "stdio");
  const more = required === true ? { required } : {};
  if (transport === "stdio") {
    if (clientId !== undefined) throw new UsageError("--client-id is for servers with a URL", "Nobody logs in to a program.");
    if (header.length > 0) throw new UsageError("--header is for servers with a URL", "Give a program its values with --env.");
    return {
      command: first,
      ...(rest.length > 0 && { args: rest }),
      ...(env.length > 0 && { env: Object.fromEntries(env.map(variableOf)) }),
      ...more,
    };
  }
  if (env.length > 0) throw new UsageError("--env is for servers that are programs", "Give a server with a URL its values with --header.");
  if (rest.length > 0) throw new UsageError(`a server with a URL takes no arguments: ${rest.join(" ")}`, "Options go before the name.");
  if (!/^(?:https?:\/\/|\$\{)/i.test(first))
    throw new UsageError(`${JSON.stringify(first)} is no URL of a server`, "It must begin with http:// or https://.");
  return {
    type: transport,
    url: first,
    ...(header.length > 0 && { headers: Object.fromEntries(header.map(headerOf)) }),
    ...(clientId !== undefined && { oauth: { clientId } }),
    ...more,
  };
}

function variableOf(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--env ${JSON.stringify(text)} is no variable`, "Write NAME=value, as in --env 'TOKEN=${SOME_TOKEN}'.");
  return [name, value];
}

function headerOf(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--header ${JSON.stringify(text)} is no header`, "Write Name: value, as in --header 'x-team: ours'.");
  return [name, value];
}
