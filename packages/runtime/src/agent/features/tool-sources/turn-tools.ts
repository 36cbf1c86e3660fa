import { NAMED_SERVERS } from "./named-servers.ts";
import type { Tool, ToolSchema } from "@keelson/protocol";
import type { PlannedRequest } from "../../../context/xray/xray-conversation.ts";
import type { OfferedTool, ToolOffers } from "../../../session/offered-tool.ts";
import type { SessionState } from "../../../session/session-state.ts";
import { createToolRegistry, type ToolSet } from "../../../tools/tool-registry.ts";
import type { Agent } from "../../definition/agent.ts";
import { DEFAULT_DEFER } from "../../definition/tool-sources/defer-tools.ts";
import { SEARCH_TOOL, searchTool } from "../../definition/tool-sources/search-tool.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";
import { recordedTool } from "./recorded-tool.ts";
import { takenNames } from "./taken-names.ts";

/** What holds for a turn: the agent's own tools, and those that its sources were recorded to offer. */
export interface TurnTools {
  /** What may be called. */
  readonly tools: ToolSet;
  /** What the model is told of. */
  readonly schemas: readonly ToolSchema[];
  /** What it finds with the tool for that: there is one where these are not empty. */
  readonly listed: readonly ToolSchema[];
  /** Those of the latter that are not among `schemas`. */
  readonly deferred: readonly ToolSchema[];
}

interface Made extends TurnTools {
  readonly offers: ToolOffers | undefined;
  readonly loaded: readonly string[] | undefined;
}

const MADE = new PartKey<{ last?: Made }>("tools of the turn");
const NONE: readonly ToolSchema[] = [];

/** The same for as long as nothing of it changes, so that requests may be cached by it. */
export function turnToolsOf(loop: Loop): TurnTools {
  const { parts, agent, authority } = loop;
  let made = parts.get(MADE);
  if (made === undefined) parts.set(MADE, (made = {}));
  const session = sessionOf(loop);
  const offers = session.offers?.get(agent.name);
  const loaded = session.loadedTools?.get(agent.name);
  if (made.last === undefined || made.last.offers !== offers || made.last.loaded !== loaded)
    made.last = { ...turnTools(agent, session, authority.allowedTools), offers, loaded };
  return made.last;
}

/** @param allowedTools names of the tools that the run may use. Default: all */
export function turnTools(agent: Agent<unknown>, session: SessionState, allowedTools: readonly string[] | undefined): TurnTools {
  const isAllowed = ({ name }: Pick<Tool, "name">): boolean => allowedTools === undefined || allowedTools.includes(name);
  const added = offeredTools(agent, session.offers?.get(agent.name));
  const found = added.filter(isAllowed);
  if (added.length > 0 && isDeferred(agent, found)) {
    const loaded = new Set(session.loadedTools?.get(agent.name));
    const search = searchTool(found);
    const listed = schemasOf(found);
    const told = [...[...agent.tools].filter(isAllowed), ...found.filter(({ name }) => loaded.has(name)), search];
    return {
      tools: createToolRegistry([...agent.tools, ...added, search]).snapshot(),
      schemas: createToolRegistry(told).snapshot().schemas(),
      listed,
      deferred: listed.filter(({ name }) => !loaded.has(name)),
    };
  }
  const tools = added.length === 0 ? agent.tools : createToolRegistry([...agent.tools, ...added]).snapshot();
  const schemas = tools.schemas();
  return { tools, schemas: allowedTools === undefined ? schemas : schemas.filter(isAllowed), listed: NONE, deferred: NONE };
}

/** What requests would have if no tool were told by name alone; nothing where none is. */
export function deferralOf({ schemas, listed, deferred }: TurnTools): PlannedRequest["deferral"] {
  if (deferred.length === 0) return undefined;
  const others = schemas.filter(({ name }) => name !== SEARCH_TOOL && !listed.some((tool) => tool.name === name));
  return { whole: [...others, ...listed], deferred: deferred.length };
}

/** Of the sources that the agent still has, in ascending order of names. */
function offeredTools(agent: Agent<unknown>, offers: ToolOffers | undefined): readonly Tool[] {
  if (offers === undefined || offers.size === 0) return [];
  const taken = takenNames(agent);
  const added: Tool[] = [];
  for (const { source, tool } of offersOf(agent, offers)) if (taken.take(tool) === undefined) added.push(recordedTool(source, tool));
  return [...createToolRegistry(added).snapshot()];
}

function* offersOf(agent: Agent<unknown>, offers: ToolOffers): Generator<{ readonly source: string; readonly tool: OfferedTool }> {
  const sources = new Set([...(agent.options.toolSources?.map(({ name }) => name) ?? []), NAMED_SERVERS]);
  for (const [source, offer] of offers) if (sources.has(source)) for (const tool of offer.values()) yield { source, tool };
}

/** A strategy with states names its tools: there are as many as its author wanted. */
function isDeferred({ options }: Agent<unknown>, found: readonly Tool[]): boolean {
  const { deferTools = DEFAULT_DEFER, strategy } = options;
  if (deferTools === false || strategy?.machine !== undefined) return false;
  const { aboveTools = DEFAULT_DEFER.aboveTools, aboveBytes = DEFAULT_DEFER.aboveBytes } = deferTools;
  return found.length > aboveTools || Buffer.byteLength(JSON.stringify(schemasOf(found))) > aboveBytes;
}

function schemasOf(tools: readonly Tool[]): readonly ToolSchema[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}
