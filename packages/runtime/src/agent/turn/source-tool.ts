import type { Tool } from "@keelson/protocol";
import type { OfferedTool } from "../../session/offered-tool.ts";
import { bindApproval } from "../../tools/bind-approval.ts";

/** A tool of a source as calls of a turn have it. */
export interface SourceTool extends Tool {
  readonly liveOf: {
    readonly source: string;
    /** What the model was told of. Where the tool is of another version by now, its call may not fit. */
    readonly recordedVersion: string;
    /** Why a person is to look at it before it runs, where it is not the tool that was known. */
    readonly changed: string | undefined;
  };
}

/** Judged by what was recorded, where it is the same version; else by what it is now. What it does is the live tool's either way. */
export function sourceTool(
  { source, offered }: { readonly source: string; readonly offered: OfferedTool },
  live: Tool,
  { changed, beforeCall }: { readonly changed: string | undefined; readonly beforeCall: () => Promise<void> },
): SourceTool {
  const { name, description, inputSchema, outputSchema, effect, concurrency, risk, version, aliases, timeoutMs, maxOutputBytes, category } =
    live.version === offered.version ? offered : live;
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    effect,
    concurrency,
    risk,
    version,
    aliases,
    ...(timeoutMs !== undefined && { timeoutMs }),
    maxOutputBytes,
    ...(category !== undefined && { category }),
    liveOf: { source, recordedVersion: offered.version, changed },
    parse: live.parse.bind(live),
    async execute(input, call) {
      await beforeCall();
      return live.execute(input, call);
    },
    ...(live.permissionText && { permissionText: live.permissionText.bind(live) }),
    ...(live.effectsOf && { effectsOf: live.effectsOf.bind(live) }),
    ...(live.needsApproval && { needsApproval: bindApproval(live, live.needsApproval) }),
    ...(live.untrusted && { untrusted: live.untrusted.bind(live) }),
    ...(live.reconcile && { reconcile: live.reconcile.bind(live) }),
  };
}

export function isSourceTool(tool: Tool): tool is SourceTool {
  return "liveOf" in tool;
}

/** Whether the tool is of another version than the one that the model was told of. */
export function isOtherVersion(tool: Tool): boolean {
  return isSourceTool(tool) && tool.version !== tool.liveOf.recordedVersion;
}
