import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ExternalEditorOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** Default: the folder of the system. */
  readonly temporary?: string;
}

/**
 * Edits a text in the editor of the person (`$VISUAL`, else `$EDITOR`), which gets the terminal. Nothing else may read or write the terminal meanwhile.
 * @throws Error that says why the text is not changed
 */
export async function editExternally(text: string, { environment, temporary = tmpdir() }: ExternalEditorOptions): Promise<string> {
  const editor = editorOf(environment);
  if (editor === undefined) throw new Error("No editor is set. Set VISUAL or EDITOR, as in EDITOR=vim.");
  const folder = await mkdtemp(join(temporary, "keelson-message-"));
  try {
    const file = join(folder, "message.md");
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    await openEditor(editor, file, environment);
    const edited = (await readFile(file, "utf8")).replace(/\r\n/g, "\n");
    // Editors end a file with a newline.
    return text.endsWith("\n") ? edited : edited.replace(/\n$/, "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the command of the person's editor, which may have arguments. */
export function editorOf(environment: ExternalEditorOptions["environment"]): string | undefined {
  return [environment["VISUAL"], environment["EDITOR"]].find((command) => command !== undefined && command.trim() !== "");
}

/** Opens a file in an editor, and waits for its end. @throws Error if it fails */
export async function openEditor(editor: string, file: string, environment: ExternalEditorOptions["environment"]): Promise<void> {
  const isWindows = process.platform === "win32";
  // A shell splits the command into words, as git does; the file is an argument of its own.
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true, env: environment })
    : spawn("/bin/sh", ["-c", `${editor} "$1"`, "keelson", file], { stdio: "inherit", env: environment });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => resolve(exitCode ?? signal ?? "unknown"));
  });
  if (code !== 0) throw new Error(`The editor "${editor}" ended with ${code}. The text is as it was.`);
}
