import { editorOf, openEditor } from "../editor/open-editor.ts";
import { printableLine } from "../text/printable.ts";

export interface EditFileOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** Gives the terminal to a program until it ends. */
  outside(program: () => Promise<void>): Promise<void>;
}

/** Opens a file in the person's editor, and waits until they leave it. @returns lines to show. @throws Error if the editor fails */
export async function editFile(path: string, { environment, outside }: EditFileOptions): Promise<readonly string[]> {
  const file = printableLine(path);
  const editor = editorOf(environment);
  if (editor === undefined) return [`No editor is set: set VISUAL or EDITOR, as in EDITOR=nano. The file is ${file}`];
  await outside(() => openEditor(editor, path, { environment, otherwise: `The file is ${file}` }));
  return [`edited ${file}`];
}
