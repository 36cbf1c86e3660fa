import { isAbsolute, resolve, sep } from "node:path";
import { checkOptionNames } from "../../json/option-names.ts";
import { readPrivateFile } from "../../platform/private-file.ts";
import { secretFailed } from "./secret-failure.ts";
import type { SecretSource } from "./secret-source.ts";

export interface FileSecretsOptions {
  /** Where paths begin that are not absolute. Default: such paths are refused. */
  readonly folder?: string | undefined;
  /** Folders in which others may read, though not change, the files. Default: `/run/secrets` and `/var/run/secrets`, where containers are given theirs. */
  readonly sharedFolders?: readonly string[] | undefined;
}

const CONTAINER_FOLDERS = ["/run/secrets", "/var/run/secrets"];

/** `file:/path`: what stands in a file that its owner alone may read, without the line break at its end; read at each use. */
export function createFileSecrets(options: FileSecretsOptions = {}): SecretSource {
  checkOptionNames("createFileSecrets", options, { folder: true, sharedFolders: true });
  const { folder, sharedFolders = CONTAINER_FOLDERS } = options;
  return {
    scheme: "file",
    async read(name, { maxBytes }) {
      const reference = `file:${name}`;
      if (!isAbsolute(name) && folder === undefined)
        throw secretFailed(reference, "is no absolute path. Give the whole path, or the source a folder.");
      const path = resolve(folder ?? sep, name);
      const mayBeRead = sharedFolders.some((shared) => path.startsWith(resolve(shared) + sep));
      const bytes = await readPrivateFile(path, { maxBytes, mayBeRead, refuse: (problem) => secretFailed(reference, problem) });
      if (bytes === undefined) return undefined;
      return { value: textOf(bytes, reference), ttlMs: 0 };
    },
  };
}

function textOf(bytes: Uint8Array, reference: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw secretFailed(reference, "is no UTF-8 text. Keep bytes as base64.");
  }
}
