import { readFile } from "node:fs/promises";
import { AgentError } from "@keelson/protocol";
import { notUnderstood, type Policy, readPolicy } from "./read-policy.ts";

/**
 * Reads a policy from a file of JSON.
 * @throws AgentError of kind `invalid-option` that names the file, and the member or the line that is wrong
 */
export async function loadPolicy(path: string): Promise<Policy> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EISDIR"
          ? "it is a folder"
          : error instanceof Error
            ? error.message
            : String(error);
    throw new AgentError({ kind: "invalid-option", option: path, message: `The policy ${path} can't be read: ${why}.` }, { cause: error });
  }
  let value: unknown;
  try {
    // Editors on Windows begin files with a mark.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw notUnderstood(path, `it is no JSON (${error instanceof Error ? error.message : String(error)})`, error);
  }
  return readPolicy(value, path);
}
