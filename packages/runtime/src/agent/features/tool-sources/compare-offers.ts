import type { Tool } from "@keelson/protocol";
import type { OfferedTool, ToolOffers } from "../../../session/offered-tool.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { Agent } from "../../definition/agent.ts";
import { isSameOffer, offeredTool } from "./offered-tool.ts";
import { takenNames } from "./taken-names.ts";

/** A source as it is now. */
export interface LiveSource {
  readonly name: string;
  readonly tools: readonly Tool[];
  mayCome(name: string): boolean;
}

/** What is to be recorded of one source. */
export interface OfferChange {
  readonly source: string;
  readonly tools: readonly OfferedTool[];
  readonly removed: readonly string[];
}

export interface ComparedOffers {
  /** Only of sources of which something changed. */
  readonly changes: readonly OfferChange[];
  /** Which tools the run does not get, and why, a sentence each. */
  readonly leftOut: readonly string[];
}

/** What changed since it was recorded. Tools that were there before keep their names before those that come. */
export function compareOffers(agent: Agent<unknown>, recorded: ToolOffers | undefined, live: readonly LiveSource[]): ComparedOffers {
  const taken = takenNames(agent);
  const leftOut: string[] = [];
  const changes = new Map<string, { tools: OfferedTool[]; removed: string[] }>();
  const changeOf = (source: string): { tools: OfferedTool[]; removed: string[] } => {
    let change = changes.get(source);
    if (change === undefined) changes.set(source, (change = { tools: [], removed: [] }));
    return change;
  };
  const takes = (source: string, tool: OfferedTool): boolean => {
    const why = taken.take(tool);
    if (why !== undefined) leftOut.push(`The tool "${tool.name}" of the source "${source}" is left out: ${why}.`);
    return why === undefined;
  };
  const now = new Map(live.map((source) => [source.name, { source, tools: usableTools(source, leftOut) }]));

  for (const [name, offer] of recorded ?? [])
    for (const before of offer.values()) {
      const found = now.get(name);
      const offered = found?.tools.get(before.name) ?? (found?.source.mayCome(before.name) === true ? before : undefined);
      if (offered === undefined || !takes(name, offered)) changeOf(name).removed.push(before.name);
      else if (!isSameOffer(before, offered)) changeOf(name).tools.push(offered);
    }
  for (const [name, { tools }] of now)
    for (const tool of tools.values())
      if (recorded?.get(name)?.has(tool.name) !== true && takes(name, tool)) changeOf(name).tools.push(tool);

  return { changes: [...changes].map(([source, change]) => ({ source, ...change })), leftOut };
}

/** Made once for each tool: what a source offers is looked at before every turn. */
const looked = new WeakMap<Tool, OfferedTool>();

function usableTools({ name, tools }: LiveSource, leftOut: string[]): ReadonlyMap<string, OfferedTool> {
  const usable = new Map<string, OfferedTool>();
  for (const tool of tools) {
    try {
      let offered = looked.get(tool);
      if (offered === undefined) looked.set(tool, (offered = offeredTool(tool)));
      if (usable.has(offered.name))
        leftOut.push(`The source "${name}" offers two tools of the name "${offered.name}": the second is left out.`);
      else usable.set(offered.name, offered);
    } catch (error) {
      leftOut.push(`A tool of the source "${name}" is left out: ${describeThrown(error)}`);
    }
  }
  return usable;
}
