import { EnvironmentError, LogError } from "@keelson/protocol";

/** What somebody is told whose record or blob does not open: the key is missing, or it is not what was sealed. */
export function unopened(what: string, of: { readonly log: string; readonly seq?: number }): (error: unknown) => never {
  return (cause) => {
    if (!EnvironmentError.is(cause)) throw cause;
    throw new LogError(
      {
        kind: "corrupt",
        ...of,
        message: `${what} can't be opened. ${(cause as EnvironmentError).message} What is stored was left as it is.`,
      },
      { cause },
    );
  };
}
