import { createAgent, createRunner, defineTool, type SingleRunner } from "keelson";
import type { Overlay } from "keelson/environment";
import type { SqliteEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";

/** A runner of an agent that edits an overlay: with `write` through its files, with `bash` by commands. */
export function overlayRunner(overlay: Overlay, log: SqliteEventLog, turns: readonly ScriptedTurn[]): SingleRunner<string> {
  const executor = overlay.executor({});
  const write = defineTool({
    name: "write",
    description: "Writes a file.",
    input: { type: "object", properties: { path: { type: "string" }, text: { type: "string" } }, required: ["path", "text"] },
    async execute({ path, text }: { readonly path: string; readonly text: string }) {
      await overlay.files.write(path, text);
      return "written";
    },
  });
  const bash = defineTool({
    name: "bash",
    description: "Runs a command.",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    async execute({ command }: { readonly command: string }, { signal }) {
      const { exitCode, stdout, stderr } = await executor.execute({ command, signal });
      return `${exitCode}: ${stdout}${stderr}`;
    },
  });
  const rules = ["write", "bash"].map((pattern) => ({ pattern, behavior: "allow" as const }));
  return createRunner({
    agent: createAgent({ name: "editor", model: scriptedModel(turns), tools: [write, bash], permissions: { rules } }),
    log,
  });
}

export const writing = (path: string, text: string): ScriptedTurn => ({ toolCalls: [{ name: "write", input: { path, text } }] });
export const running = (command: string): ScriptedTurn => ({ toolCalls: [{ name: "bash", input: { command } }] });
