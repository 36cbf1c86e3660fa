import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editorOf, openEditor } from "./open-editor.ts";

export interface ExternalEditorOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** Default: the folder of the system. */
  readonly temporary?: string;
}

/**
 * Edits a text in the editor of the person, which gets the terminal. Nothing else may read or write the terminal meanwhile.
 * @throws Error that says why the text is not changed
 */
export async function editExternally(text: string, { environment, temporary = tmpdir() }: ExternalEditorOptions): Promise<string> {
  const editor = editorOf(environment);
  if (editor === undefined) throw new Error("No editor is set. Set VISUAL or EDITOR, as in EDITOR=vim.");
  const folder = await mkdtemp(join(temporary, "keelson-message-"));
  try {
    const file = join(folder, "message.md");
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    await openEditor(editor, file, { environment, otherwise: "The text is as it was." });
    const edited = (await readFile(file, "utf8")).replace(/\r\n/g, "\n");
    // Editors end a file with a newline.
    return text.endsWith("\n") ? edited : edited.replace(/\n$/, "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
