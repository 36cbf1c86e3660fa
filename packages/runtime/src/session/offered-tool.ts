import type { JsonObject, RiskLevel, ToolConcurrency, ToolEffect } from "@keelson/protocol";

/** What the log keeps of a tool that a source offered: all that requests and verdicts are made of, but for what it does. */
export type OfferedTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly effect: ToolEffect;
  readonly concurrency: ToolConcurrency;
  readonly risk: RiskLevel;
  readonly version: string;
  readonly aliases: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes: number;
  readonly category?: "edit" | "shell";
  /** `decides` if a function of the tool decides which calls need an approval. Absent if none does. */
  readonly needsApproval?: "always" | "decides";
};

/** Tools by name, of one source. */
export type SourceOffer = ReadonlyMap<string, OfferedTool>;

/** What the sources of one agent offer, by their names, in the order in which they first offered something. */
export type ToolOffers = ReadonlyMap<string, SourceOffer>;

/** The offers after one of them changed. */
export function withOffer(
  offers: ToolOffers | undefined,
  source: string,
  { tools = [], removed = [] }: { readonly tools?: readonly OfferedTool[]; readonly removed?: readonly string[] },
): ToolOffers {
  const offer = new Map(offers?.get(source));
  for (const name of removed) offer.delete(name);
  for (const tool of tools) offer.set(tool.name, tool);
  const changed = new Map(offers);
  if (offer.size > 0) changed.set(source, offer);
  else changed.delete(source);
  return changed;
}
