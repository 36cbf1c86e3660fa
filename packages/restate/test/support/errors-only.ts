import type { ServeRestateOptions } from "@keelson/restate";

/** What goes wrong, without the advice about identity keys that a server for everybody needs. */
export const errorsOnly: NonNullable<ServeRestateOptions["logger"]> = ({ level }, message) => {
  if (level === "error") console.error(message);
};
