import { type Vfs, VfsError } from "@keelson/protocol";

const OPERATIONS = ["ls", "stat", "read", "readPart", "write", "edit", "grep", "glob", "upload", "download", "rm", "cp", "mv"] as const;

/** Replaces the operations of `files` by ones that reject with `timeout` if the time limit of their signal (`AbortSignal.timeout`) ended them. */
export function withTimeoutErrors<F extends Vfs>(files: F): F {
  const operations = OPERATIONS.filter((name) => files[name] !== undefined).map((name) => {
    const operation = (files[name] as NonNullable<Vfs[typeof name]>).bind(files) as (...given: readonly unknown[]) => Promise<unknown>;
    const bounded = async (...given: readonly unknown[]): Promise<unknown> => {
      try {
        return await operation(...given);
      } catch (error) {
        throw isTimeout(error) ? timeout(name, pathOf(name, given), error) : error;
      }
    };
    return [name, bounded] as const;
  });
  return Object.assign(files, Object.fromEntries(operations));
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function timeout(operation: string, path: string, cause: unknown): VfsError {
  const message = `${operation} of ${path} took longer than its time limit. Give it more time, or name less.`;
  return new VfsError({ kind: "timeout", path, message }, { cause });
}

/** Returns the path that an operation was called with. Searches name theirs in their options, after the pattern. */
function pathOf(operation: string, given: readonly unknown[]): string {
  if (operation !== "grep" && operation !== "glob") return String(given[0]);
  return (given[1] as { readonly path?: string } | undefined)?.path ?? ".";
}
