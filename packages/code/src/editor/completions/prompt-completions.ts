import { createDiskVfs } from "keelson/environment";
import type { SlashCommandTable } from "../../slash-commands/slash-command-table.ts";
import { createCommandSuggestions } from "./command-suggestions.ts";
import { type CompletionSource, firstCompletion } from "./completion-source.ts";
import { createFileSuggestions } from "./file-suggestions.ts";
import { createProjectFiles } from "./project-files.ts";

export interface PromptCompletionsOptions {
  readonly commands: Pick<SlashCommandTable, "commands" | "find">;
  /** The folder of the session that is open, absolute. */
  cwd(): string;
  /** Folders beside it that the agent may use, absolute. */
  folders(): readonly string[];
  /** The home folder of the user. Default: that of the system. */
  readonly home?: string | undefined;
  /** Unix ms. */
  now(): number;
}

/** Completes commands and files of a conversation, whose session may be replaced by one of another folder. */
export function createPromptCompletions({ commands, cwd, folders, home, now }: PromptCompletionsOptions): CompletionSource {
  let opened: { readonly cwd: string; readonly files: CompletionSource } | undefined;

  function filesOf(folder: string): CompletionSource {
    if (opened?.cwd === folder) return opened.files;
    const project = createProjectFiles({ files: createDiskVfs({ root: folder }), cwd: folder, now });
    const files = createFileSuggestions({ cwd: folder, project, folders, ...(home !== undefined && { home }) });
    opened = { cwd: folder, files };
    return files;
  }

  return firstCompletion([createCommandSuggestions(commands), { complete: (place, options) => filesOf(cwd()).complete(place, options) }]);
}
