import { McpError } from "@keelson/protocol";
import { expandVariables } from "./expand-variables.ts";

/** The address of a server over HTTP. @throws McpError where it is none, or names a variable that is not set */
export function readUrl(name: string, text: string, variables: { readonly [name: string]: string | undefined }): URL {
  const url = expandVariables(text, variables, `The url of the server "${name}"`);
  const read = URL.parse(url);
  if (read?.protocol === "http:" || read?.protocol === "https:") return read;
  throw new McpError({ kind: "other", message: `The url of the server "${name}" must begin with http:// or https://, not ${url}.` });
}
