import type { ServeRestateOptions } from "@keelson/restate";

/** What goes wrong, but for connections that tests cut, and without the advice about identity keys that a server for everybody needs. */
export const errorsOnly: NonNullable<ServeRestateOptions["logger"]> = ({ level }, message) => {
  if (level === "error" && !String(message).startsWith("Got abort error")) console.error(message);
};
