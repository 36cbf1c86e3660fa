import { digestOf, shortHash } from "../../json/index.ts";

/** What every vendor takes as the name of a tool has so many characters. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
/** Leaves room for the name of a tool, so that a rule about all tools of a server holds for each. */
const MAX_SERVER_LENGTH = 32;
const SERVER_HASH_LENGTH = 12;
/** Single underscores inside, so that two in a row end it; and no end that looks like the hash of another name. */
const PLAIN_SERVER = /^(?!(?:.*_)?[0-9a-f]{12}$)[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*$/;

/** A tool of a server by the names that these gave. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/**
 * Names for tools of servers: `mcp__server__tool` in characters and in a length that every vendor takes. All tools of a server begin alike, and those of
 * no two servers do, by which permission rules may go: the name of a server that had to be changed ends with a hash of it. So does that of a tool that had to
 * be changed and is another's, too: it has the same name whatever else is offered in whatever order.
 * @returns in the order of `tools`
 */
export function toolNames(tools: readonly ServerTool[]): readonly string[] {
  const plain = tools.map(plainName);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map((tool, index) => {
    const name = plain[index] as string;
    const isExact = cleaned(tool.tool) === tool.tool;
    return (counts.get(name) === 1 || isExact) && name.length <= MAX_LENGTH ? name : hashed(name, tool);
  });
}

/** What the names of all tools of a server begin with. */
export function namesBegin(server: string): string {
  if (PLAIN_SERVER.test(server) && server.length <= MAX_SERVER_LENGTH) return `mcp__${server}__`;
  const readable = cleaned(server)
    .replaceAll(/_+/g, "_")
    .slice(0, MAX_SERVER_LENGTH - SERVER_HASH_LENGTH - 1)
    .replaceAll(/^_|_$/g, "");
  return `mcp__${readable}${readable === "" ? "" : "_"}${digestOf(server).slice(-SERVER_HASH_LENGTH)}__`;
}

function plainName({ server, tool }: ServerTool): string {
  return `${namesBegin(server)}${cleaned(tool)}`;
}

function cleaned(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

function hashed(name: string, { server, tool }: ServerTool): string {
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${shortHash(JSON.stringify([server, tool]), HASH_LENGTH)}`;
}
