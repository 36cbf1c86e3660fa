import { shortHash } from "../../json/index.ts";

/** What every vendor takes as the name of a tool has so many characters. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** A tool of a server by the names that these gave. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/**
 * Names for tools of servers: `mcp__server__tool` in characters and in a length that every vendor takes. A name that had to be changed and is another's,
 * too, ends with a hash of what it was made of, so that a tool has the same name whatever else is offered in whatever order. No server can name a tool
 * so that it begins as those of another do, by which permission rules may go.
 * @returns in the order of `tools`
 */
export function toolNames(tools: readonly ServerTool[]): readonly string[] {
  const plain = tools.map(plainName);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map((tool, index) => {
    const name = plain[index] as string;
    const isExact = name === `mcp__${tool.server}__${tool.tool}`;
    return (counts.get(name) === 1 || isExact) && name.length <= MAX_LENGTH ? name : hashed(name, tool);
  });
}

/** Whether a tool of this name is one of this server. May be wrong where servers have names that begin alike. */
export function isNamedOf(name: string, server: string): boolean {
  return name.startsWith(plainName({ server, tool: "" }).slice(0, MAX_LENGTH - HASH_LENGTH - 1));
}

function plainName({ server, tool }: ServerTool): string {
  const [of, what] = [server, tool].map((name) => name.replaceAll(/[^a-zA-Z0-9_-]/g, "_"));
  // Two in a row end the name of the server.
  return `mcp__${of?.replaceAll(/_{2,}/g, "_")}__${what}`;
}

function hashed(name: string, { server, tool }: ServerTool): string {
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${shortHash(JSON.stringify([server, tool]), HASH_LENGTH)}`;
}
