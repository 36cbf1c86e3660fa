import { AgentError, type McpServerConfig, type McpServerSettings } from "@keelson/protocol";
import { checkServerConfig } from "./client/check-server-config.ts";
import { parseJsonc } from "../json/index.ts";
import { readEntryOfOthers } from "./entry-of-others.ts";
import { MCP_LOG_LEVELS } from "./log-levels.ts";

/** What is wrong in a file of servers. */
export interface McpConfigProblem {
  readonly file: string;
  /** Absent: it is about the file. */
  readonly server?: string;
  /** A sentence that names file and server. */
  readonly message: string;
  /** The server, or the whole file, is not used. Otherwise only what the message is about is passed over. */
  readonly isLeftOut: boolean;
}

export interface McpConfigFile {
  /** Those that can be used, by name. `${NAME}` in their texts is left as it stands: a manager puts in the variable. */
  readonly servers: { readonly [name: string]: McpServerConfig };
  readonly problems: readonly McpConfigProblem[];
}

type Fields = { readonly [name: string]: unknown };
type Kind = "stdio" | "http" | "sse";

/** Words for the transport, without hyphens and in small letters. */
const KINDS: { readonly [name: string]: Kind } = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  streamable: "http",
  streamablehttp: "http",
  httpstream: "http",
  remote: "http",
  sse: "sse",
};

/** Reads a value of one field. `undefined`: it is none, and `wants` says what would be. */
interface Reader {
  readonly wants: string;
  read(value: unknown): unknown;
}

const TEXT: Reader = { wants: "a text", read: (value) => (typeof value === "string" && value !== "" ? value : undefined) };
const TEXTS: Reader = {
  wants: "a list of texts",
  read: (value) => (Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined),
};
const TEXT_BY_NAME: Reader = {
  wants: "an object of texts",
  read: (value) => (isFields(value) && Object.values(value).every((one) => typeof one === "string") ? value : undefined),
};
const OAUTH: Reader = {
  wants: "an object of texts",
  read: (value) =>
    isFields(value) && Object.values(value).every((one) => typeof one === "string" || TEXT_BY_NAME.read(one) !== undefined)
      ? value
      : undefined,
};
const YES_OR_NO: Reader = { wants: "true or false", read: (value) => (typeof value === "boolean" ? value : undefined) };
const OVER_ZERO: Reader = { wants: "a number over 0", read: (value) => (isNumber(value) && value > 0 ? value : undefined) };
const FROM_ZERO: Reader = { wants: "a number from 0", read: (value) => (isNumber(value) && value >= 0 ? value : undefined) };

const SETTINGS: { readonly [Name in keyof Required<McpServerSettings>]: Reader } = {
  enabled: YES_OR_NO,
  required: YES_OR_NO,
  startupWaitMs: FROM_ZERO,
  connectTimeoutMs: OVER_ZERO,
  timeoutMs: OVER_ZERO,
  maxTotalMs: OVER_ZERO,
  backgroundAfterMs: OVER_ZERO,
  maxMessageBytes: OVER_ZERO,
  logLevel: {
    wants: `one of ${MCP_LOG_LEVELS.join(", ")}`,
    read: (value) => (MCP_LOG_LEVELS.some((level) => level === value) ? value : undefined),
  },
  trustAnnotations: YES_OR_NO,
};
const PROGRAM: { readonly [name: string]: Reader } = { command: TEXT, args: TEXTS, env: TEXT_BY_NAME, cwd: TEXT, sandbox: YES_OR_NO };
const ADDRESS: { readonly [name: string]: Reader } = { url: TEXT, authToken: TEXT, headers: TEXT_BY_NAME, oauth: OAUTH };

/**
 * Reads the text of a file such as `.mcp.json`: `{ "mcpServers": { name: { command, args, env } | { type, url, headers } } }`, beside which
 * each server may have the settings of `McpServerSettings`. Comments, closing commas and the spellings of other programs are read as well:
 * `servers`, `httpUrl`, `serverUrl`, `${env:NAME}`. What is wrong with one server is told, and costs no other.
 * @param file what it is called in problems
 */
export function parseMcpConfig(text: string, file: string): McpConfigFile {
  const problems: McpConfigProblem[] = [];
  const ofFile = (message: string, isLeftOut: boolean): void => void problems.push({ file, message: `${file} ${message}`, isLeftOut });
  let config: unknown;
  try {
    config = parseJsonc(text);
  } catch (error) {
    ofFile(`is no JSON: ${error instanceof Error ? error.message : String(error)}`, true);
    return { servers: {}, problems };
  }
  const listed = isFields(config) ? entriesOf(config) : undefined;
  if (!isFields(config) || listed === undefined) {
    ofFile('has no object "mcpServers" (or "servers"), in which each server has its name.', true);
    return { servers: {}, problems };
  }
  for (const name of Object.keys(config))
    if (!LISTS.includes(name) && name !== "$schema" && name !== "inputs")
      ofFile(`has the field "${name}", which is not known and was passed over.`, false);
  const servers = listed.flatMap(([name, entry], index) => {
    const tell = (message: string, isLeftOut: boolean): void =>
      void problems.push({ file, server: name, message: `${file}: the server "${name}" ${message}`, isLeftOut });
    if (listed.findIndex(([other]) => other === name) < index)
      return (tell('stands in "mcpServers" and in "servers": that in "servers" is not used.', true), []);
    const server = readServer(name, entry, tell);
    return server === undefined ? [] : [[name, server] as const];
  });
  return { servers: Object.fromEntries(servers), problems };
}

/** The fields that a file lists its servers in, in the order in which they count. */
const LISTS: readonly string[] = ["mcpServers", "servers"];

/** The entries of all lists. @returns `undefined` if there is no list, or one is no object */
function entriesOf(config: Fields): readonly (readonly [string, unknown])[] | undefined {
  const lists = LISTS.filter((name) => config[name] !== undefined).map((name) => config[name]);
  return lists.length > 0 && lists.every(isFields) ? lists.flatMap((list) => Object.entries(list)) : undefined;
}

function readServer(name: string, given: unknown, tell: (message: string, isLeftOut: boolean) => void): McpServerConfig | undefined {
  const leaveOut = (message: string): undefined => void tell(message, true);
  if (name === "") return leaveOut("needs a name.");
  if (!isFields(given)) return leaveOut("must be an object.");
  const { fields: entry, problems } = readEntryOfOthers(given);
  for (const { message, isLeftOut } of problems) tell(message, isLeftOut);
  const kind = kindOf(entry);
  if (kind === undefined)
    return leaveOut(
      entry["type"] === undefined
        ? 'needs a "command" to start, or a "url".'
        : `has the "type" ${JSON.stringify(entry["type"])}: it must be stdio, http or sse.`,
    );
  const readers: { readonly [name: string]: Reader } = { ...SETTINGS, ...(kind === "stdio" ? PROGRAM : ADDRESS) };
  const needed = kind === "stdio" ? "command" : "url";
  if (entry[needed] === undefined) return leaveOut(`needs a "${needed}", as it is of type ${kind}.`);
  const fields = new Map<string, unknown>([["type", kind]]);
  let isWhole = problems.every(({ isLeftOut }) => !isLeftOut);
  for (const [field, value] of Object.entries(entry)) {
    if (field === "type") continue;
    // Others write it so; who turned a server off does not want it started.
    const known = field === "disabled" ? YES_OR_NO : Object.hasOwn(readers, field) ? readers[field] : undefined;
    const read = known?.read(value);
    if (known === undefined) tell(`has the field "${field}", which is not known and was passed over.`, false);
    else if (read === undefined) {
      tell(`has a "${field}" that is not ${known.wants}.`, true);
      isWhole = false;
    } else if (field !== "disabled") fields.set(field, read);
    else if (entry["enabled"] === undefined) fields.set("enabled", read !== true);
  }
  if (!isWhole) return undefined;
  // Each field was read by its reader.
  const config: unknown = Object.fromEntries(fields);
  try {
    checkServerConfig(name, config as McpServerConfig);
    return config as McpServerConfig;
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return leaveOut(`can't be used: ${error.message}`);
  }
}

function kindOf({ type, command, url }: Fields): Kind | undefined {
  if (type === undefined) return command !== undefined ? "stdio" : url !== undefined ? "http" : undefined;
  const word = typeof type === "string" ? type.toLowerCase().replaceAll(/[-_ ]/g, "") : "";
  return Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
