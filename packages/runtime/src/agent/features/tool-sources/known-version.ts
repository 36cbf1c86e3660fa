import type { Tool, ToolPins } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import type { ArrivedCall, ReadyCall } from "../../turn/pending-call.ts";
import { isSourceTool } from "../../turn/source-tool.ts";

/** What the store of pins said of a tool when a call of it was looked at. */
type Pinned = { readonly version?: string; readonly failed?: string };

/**
 * Why a person is to look at a tool before it runs: its description or schema is not what was last used or allowed in this session, or allowed in an earlier
 * one, or what the model was told of.
 */
export async function whyChanged(
  loop: Loop,
  call: ArrivedCall,
  live: Tool,
  { told, pins }: { readonly told: string; readonly pins: ToolPins | undefined },
): Promise<string | undefined> {
  const { name, version } = live;
  // Of the beginning of the turn, so that a replay asks what was asked.
  const known = sessionOf(loop).toolVersions?.get(name);
  const pinned: Pinned = known !== undefined || pins === undefined ? {} : await readPin(loop, call, name, pins);
  if (pinned.failed !== undefined)
    return `Whether ${name} is still the tool that was allowed before can't be known: ${pinned.failed}. Look at its description and its arguments.`;
  if ((known ?? pinned.version ?? told) === version) return undefined;
  return `The description or the schema of ${name} changed since it was last ${known === undefined ? "allowed" : "used or allowed"}: look at what it says now.`;
}

function readPin({ execution }: Loop, { key }: ArrivedCall, name: string, pins: ToolPins): Promise<Pinned> {
  return execution.decide(`${key}/pin`, async (): Promise<Pinned> => {
    try {
      const version = await pins.read(name);
      return version === undefined ? {} : { version };
    } catch (error) {
      return { failed: describeThrown(error) };
    }
  });
}

/** Keeps which version a person allowed. Again after a crash, which changes nothing. */
export async function pinAllowed(loop: Loop, { part }: ArrivedCall, { name, version }: Tool, pins: ToolPins | undefined): Promise<void> {
  if (pins === undefined || !wasAllowed(loop, part.id)) return;
  try {
    await pins.write(name, version);
  } catch (error) {
    const status = `That ${name} was allowed could not be kept, so that it is asked about again: ${describeThrown(error)}`;
    loop.execution.emit({ type: "status", status, level: "warn" });
  }
}

function wasAllowed(loop: Loop, callId: string): boolean {
  const answers = [...runOf(loop).questions.values()].filter((question) => question.callId === callId && question.type === "approval");
  return answers.some(({ decision }) => decision?.type.startsWith("allow") === true);
}

/** Puts on record in which version a tool of a source runs, in the append of what else is to be known before that. */
export function noteVersion(loop: Loop, { key, tool }: ReadyCall): void {
  if (!isSourceTool(tool)) return;
  const { name, version } = tool;
  const known = runOf(loop).newVersions?.get(name) ?? sessionOf(loop).toolVersions?.get(name);
  if (known !== version) loop.execution.put(`${key}/version`, "tool-version", { tool: name, version });
}
