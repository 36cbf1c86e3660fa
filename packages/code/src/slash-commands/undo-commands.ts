import type { UndoChoice } from "../history/plan-undo.ts";
import type { ProjectHistory } from "../history/project-history.ts";
import { shownIn } from "../history/compare-trees.ts";
import { changeLines } from "../render/change-lines.ts";
import { printableLine } from "../text/printable.ts";
import { undoLines } from "../render/undo-lines.ts";
import type { Prompt, SlashCommand, SlashOutput } from "./slash-command.ts";
import { BUSY } from "./switch-commands.ts";

export interface UndoCommandsOptions {
  history(): ProjectHistory;
  /** The session of the conversation; `undefined` before its first message. */
  session(): string | undefined;
  /** Receives the files that an undo or redo changed, for the agent. */
  onFilesChanged(paths: readonly string[], action: "undo" | "redo"): void;
}

const USAGE = "Use /undo (the changes since your last message), /undo and a number of messages, or /undo call (the last call alone)";
const NO_CHANGES = "No file was changed in this session.";

/** The commands that undo, redo and show the changes of files in a session. */
export function undoCommands({ history, session, onFilesChanged }: UndoCommandsOptions): readonly SlashCommand[] {
  const act = async (action: "undo" | "redo", argument: string, { style, run }: Prompt): Promise<SlashOutput> => {
    const id = session();
    if (run !== undefined) return [style.yellow(BUSY)];
    const wanted = action === "redo" ? undefined : readUndo(argument);
    if (action === "undo" && wanted === undefined) return [style.yellow(`"${printableLine(argument)}" is not understood. ${USAGE}.`)];
    if (id === undefined) return [NO_CHANGES];
    const project = history();
    const result = wanted === undefined ? await project.redo(id) : await project.undo(id, wanted.choice, wanted);
    const { root } = project.store;
    if (result.done.length > 0)
      onFilesChanged(
        result.done.map(({ path }) => shownIn(root, path)),
        action,
      );
    return undoLines(result, { style, root, action });
  };
  return [
    {
      name: "undo",
      argumentHint: "[n|call]",
      group: "files",
      description: "undo the changes of files since your last message, the last n messages, or the last call",
      execute: (argument, prompt) => act("undo", argument, prompt),
    },
    { name: "redo", description: "revert the last undo", group: "files", execute: (_argument, prompt) => act("redo", "", prompt) },
    {
      name: "diff",
      argumentHint: "[n|call]",
      group: "files",
      description: "the changes of files in this session, since the last n messages, or of the last call",
      async execute(argument, { style, columns, reading }) {
        const id = session();
        const wanted = argument === "" ? undefined : readUndo(argument);
        if (argument !== "" && wanted === undefined)
          return [
            style.yellow(`"${printableLine(argument)}" is not understood: use /diff, /diff and a number of messages, or /diff call.`),
          ];
        if (id === undefined) return [NO_CHANGES];
        const project = history();
        const { changes } = await project.changes(id, wanted?.choice);
        const { root } = project.store;
        return changeLines(changes, { style, columns, ...reading, root, bytesOf: (state) => project.store.bytesOf(state) });
      },
    },
  ];
}

/** Reads `""`, `2`, `call`, `call 2`, and `unclear` behind each of them. */
function readUndo(argument: string): { readonly choice: UndoChoice; readonly takesUnclear: boolean } | undefined {
  const found = /^(?<call>calls?\b)?\s*(?<count>\d{1,6})?\s*(?<calls>calls?\b)?\s*(?<unclear>unclear)?$/i.exec(argument.trim())?.groups;
  if (found === undefined) return undefined;
  const count = found["count"] === undefined ? 1 : Number(found["count"]);
  if (count < 1 || (found["call"] !== undefined && found["calls"] !== undefined)) return undefined;
  const isCalls = (found["call"] ?? found["calls"]) !== undefined;
  return { choice: isCalls ? { calls: count } : { messages: count }, takesUnclear: found["unclear"] !== undefined };
}
